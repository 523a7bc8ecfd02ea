import express from 'express'
import { createBearerGuard, memoryStore } from '../../lib/index'
import { recordEvents } from '../support/events'
import { application } from '../support/flows/application'
import { photoBook } from '../support/flows/clients'
import { authorizationRequest, Flow } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import { codeOf } from '../support/flows/redirection'
import { tokensOf } from '../support/flows/tokens'
import { warningsOf } from '../support/rooms/warnings'

describe('A listener that fails', () => {
  const failures: readonly (readonly [string, () => unknown])[] = [
    [
      'throws',
      () => {
        throw new Error('log')
      },
    ],
    ['rejects', async () => Promise.reject(new Error('log'))],
  ]
  test.each(failures)('changes no response and stops no other listener, when it %s', async (_how, fail) => {
    // It warns, and the tests' output is not for that.
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue(undefined)
    const { oauth, flow } = application()
    for (const name of ['approved', 'issued', 'revoked', 'refused'] as const) oauth.events.on(name, fail)
    const recorded = recordEvents(oauth.events)
    const { accessToken } = await flow.tokens(photoBook)
    expect((await flow.photos('garbage')).status).toBe(401)
    expect((await flow.photos(accessToken)).status).toBe(200)
    expect((await flow.revoke(photoBook, accessToken)).status).toBe(200)
    await oauth.revoke('A'.repeat(22))
    expect(recorded.map(({ event }) => event)).toEqual(['approved', 'issued', 'refused', 'revoked'])
    warn.mockRestore()
  })

  test('causes one warning for each event', () => {
    const program = `
      const oauth = createAuthorizationServer(options)
      oauth.events.on('refused', async () => { throw new Error('disk is full') })
      await serve(express().use(oauth.router()), async (url) => {
        for (let i = 0; i < 2; i++) await fetch(url + '/authorize?client_id=x')
      })
    `
    expect(warningsOf(program)).toEqual([
      {
        name: 'AuthorizationServerWarning',
        code: 'EAS_EVENT_LISTENER',
        message: expect.stringMatching(/^A listener of the event 'refused' failed: Error: disk is full/),
      },
    ])
  })
})

test('a listener cannot change the event of the next one', async () => {
  const { oauth, flow } = application()
  oauth.events.on('refused', (event) => void Reflect.set(event, 'clientId', 'nobody'))
  const recorded = recordEvents(oauth.events)
  await flow.ask('client_id=photo-book&redirect_uri=x')
  expect(recorded).toMatchObject([{ clientId: 'photo-book' }])
})

test('without listeners, a success has no request id', async () => {
  const { flow } = setStage()
  const page = await flow.ask(authorizationRequest(photoBook), 'alice')
  const approval = await flow.decide(page, 'approve', 'alice')
  const answer = await flow.redeem(photoBook, codeOf(approval))
  for (const { headers } of [page, approval, answer]) expect(headers).not.toHaveProperty('x-request-id')
})

test('a listener of one event puts a request id on its responses, and on no other', async () => {
  const { oauth, flow } = application()
  oauth.events.on('issued', () => undefined)
  const response = await flow.redeem(photoBook, await flow.approve(photoBook))
  expect(response.get('X-Request-Id')).toMatch(/^[0-9a-f]{16}$/)
  const refreshed = await flow.refresh(photoBook, tokensOf(response).refreshToken)
  expect(refreshed.headers).not.toHaveProperty('x-request-id')
})

test('a guard by itself emits its refusals, with the time of its clock', async () => {
  const shared = memoryStore()
  const server = setStage({ store: shared })
  const guard = createBearerGuard({
    issuer: 'http://localhost',
    store: shared,
    clock: () => server.clock.read() + 5,
  })
  const recorded = recordEvents(guard.events)
  const photos = new Flow(express().get('/photos', guard('photos:read')))
  const { accessToken } = await server.flow.tokens(photoBook, { scope: 'photos:print' })
  const answer = await photos.photos(accessToken)
  expect(recorded).toMatchObject([
    {
      event: 'refused',
      time: server.clock.read() + 5,
      endpoint: 'protected resource',
      reason: 'token_scope_insufficient',
      clientId: 'photo-book',
      subject: 'alice',
      requestId: answer.get('X-Request-Id'),
    },
  ])
})
