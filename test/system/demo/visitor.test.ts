import express from 'express'
import type { SessionData } from 'express-session'
import { listen, type Listener } from '../../../demo/listen'
import { Visitor } from '../../../demo/visitor'

const tokens = { accessToken: 'old', refreshToken: 'refresh', scope: 'photos:read', expiresAt: 0 }

// Both servers: one that takes the access token "new" only, and one that answers a refresh as the test wants it.
let servers: Listener
let refreshed: { status: number; body: Record<string, unknown> }
const revoked: string[] = []
beforeEach(async () => {
  servers = await listen(0)
  const { app } = servers
  app.post('/token', (_request, response) => {
    response.status(refreshed.status).json(refreshed.body)
  })
  app.post('/revoke', express.urlencoded(), (request, response) => {
    revoked.push(request.body.token)
    response.json({})
  })
  app.get('/photos', (request, response) => {
    response.sendStatus(request.headers.authorization === 'Bearer new' ? 200 : 401)
  })
})
afterEach(() => servers.close())

function visit(): { visitor: Visitor; session: Partial<SessionData> } {
  const session: Partial<SessionData> = { tokens }
  const registration = async () => ({
    client_id: 'photo-book',
    client_secret: 's',
    redirect_uri: '',
    authorizationServer: servers.url,
  })
  const introduction = { registration, introduce: async () => [] }
  return { visitor: new Visitor(session, introduction, servers.url), session }
}

test('an access token that is not taken any more is renewed, unseen by the visitor', async () => {
  refreshed = { status: 200, body: { access_token: 'new', scope: 'photos:read', expires_in: 60 } }
  const { visitor, session } = visit()
  expect((await visitor.fetch('/photos'))?.status).toBe(200)
  expect(session.tokens?.accessToken).toBe('new')
})

test('a connection that the other side has ended is removed and reported', async () => {
  refreshed = { status: 400, body: { error: 'invalid_grant' } }
  const { visitor, session } = visit()
  expect(await visitor.fetch('/photos')).toBeUndefined()
  expect(session).toMatchObject({ notice: 'invalid_grant' })
  expect(session.tokens).toBeUndefined()
})

test('an answer that comes again while there is a connection is not looked at, and costs nothing', async () => {
  const { visitor, session } = visit()
  await visitor.arrive(new URLSearchParams({ code: 'old', state: 'old' }))
  expect(session).toEqual({ tokens, notice: 'connected_already' })
})

test('a visitor who leaves while the other side is unreachable learns that the tokens were not revoked', async () => {
  const { visitor } = visit()
  await servers.close()
  expect(await visitor.disconnect()).toBe('not_revoked')
  servers = await listen(0)
})

test('a temporary failure costs no connection', async () => {
  refreshed = { status: 400, body: { error: 'temporarily_unavailable' } }
  const { visitor, session } = visit()
  await visitor.refresh()
  expect(session).toMatchObject({ notice: 'temporarily_unavailable', tokens })
})

test('a visitor who disconnects gives the tokens back', async () => {
  await visit().visitor.disconnect()
  expect(revoked).toEqual(['refresh'])
})
