import express from 'express'
import { createBearerGuard, type RemoteGuardOptions } from '../../lib/index'
import { nightlyReport, photoBook } from '../support/flows/clients'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { Flow } from '../support/flows/flow'
import { tokensOf } from '../support/flows/tokens'

/** A resource server that shares nothing with the authorization server but the store. */
function resourceServer({ store, clock }: Stage, bend: Partial<RemoteGuardOptions> = {}) {
  const guard = createBearerGuard({ issuer: 'http://localhost', store, clock: clock.read, ...bend })
  const reasons: string[] = []
  guard.events.on('refused', ({ reason }) => reasons.push(reason))
  guard.events.on('failure', ({ reason }) => reasons.push(reason))
  const app = express()
  app.get('/photos', guard('photos:read'), (request, response) => {
    response.json(request.oauth)
  })
  app.get('/reports', guard('reports:write reports:read', { match: 'any' }), (_request, response) => {
    response.end()
  })
  return { flow: new Flow(app), reasons }
}

describeOnStores('A guard in another application', (stage) => {
  test('lets in what the authorization server issued, until it expires', async () => {
    const set = stage()
    const { flow } = resourceServer(set)
    const { accessToken } = await set.flow.tokens(photoBook)
    const answer = await flow.photos(accessToken)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual((await set.flow.photos(accessToken)).body)
    set.clock.advance(3600)
    expect((await flow.photos(accessToken)).status).toBe(401)
  })

  test('sees a refresh, a replay and a revocation at once [token-11]', async () => {
    const set = stage()
    const { flow, reasons } = resourceServer(set)
    const code = await set.flow.approve(photoBook)
    const first = tokensOf(await set.flow.redeem(photoBook, code))
    const second = tokensOf(await set.flow.refresh(photoBook, first.refreshToken))
    expect((await flow.photos(second.accessToken)).status).toBe(200)
    await set.flow.redeem(photoBook, code)
    expect((await flow.photos(second.accessToken)).status).toBe(401)
    expect(reasons).toEqual(['token_invalid'])

    const third = await set.flow.tokens(photoBook)
    const { authorizationId } = (await flow.photos(third.accessToken)).body
    await set.oauth.revoke(authorizationId)
    expect((await flow.photos(third.accessToken)).status).toBe(401)
  })

  test('asks for scopes that the authorization server need not know', async () => {
    const set = stage()
    const { flow } = resourceServer(set)
    const grant = { grant_type: 'client_credentials', scope: 'reports:write' }
    const { accessToken } = tokensOf(await set.flow.request(nightlyReport, grant))
    const headers = { Authorization: `Bearer ${accessToken}` }
    expect((await flow.open('/reports', undefined, headers)).status).toBe(200)
    expect((await flow.photos(accessToken)).status).toBe(403)
  })

  test.each(['fails', 'hangs'] as const)('answers 503 when the store %s', async (trouble) => {
    const set = stage()
    const { accessToken } = await set.flow.tokens(photoBook)
    const { flow, reasons } = resourceServer(set, { storeDeadline: 0.05 })
    set.store.begin(trouble, 'find')
    const response = await flow.photos(accessToken)
    expect(response.status).toBe(503)
    expect(response.get('Retry-After')).toBe('1')
    expect(reasons).toEqual(['store_unavailable'])
  })

  test('costs one read of the store and no write', async () => {
    const set = stage()
    const { flow } = resourceServer(set)
    const { accessToken } = await set.flow.tokens(photoBook)
    const { find, save } = { ...set.store.calls }
    await flow.photos(accessToken)
    expect(set.store.calls).toEqual({ find: find + 1, save, remove: 0 })
  })
})
