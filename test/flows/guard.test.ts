import express, { type RequestHandler } from 'express'
import {
  type AuthorizationServer,
  type BearerGuardOptions,
  createAuthorizationServer,
  createBearerGuard,
  type RemoteGuardOptions,
} from '../../lib/index'
import { canonicalOptions } from '../support/flows/application'
import { nightlyReport, photoBook } from '../support/flows/clients'
import { consentFormOf } from '../support/flows/consent-form'
import { authorizationRequest, Flow } from '../support/flows/flow'
import { rawRequest } from '../support/flows/raw-request'
import { describeOnStores, type SetStage, type Stage } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'

const bad = 'The access token is unknown, expired or revoked.'
const malformed = 'The request does not carry one access token in one Authorization header.'
const tooLittle = 'The access token does not have the scope that this resource needs.'

const tokenFor = async ({ flow }: Stage, scope: string): Promise<string> =>
  tokensOf(await flow.request(nightlyReport, { grant_type: 'client_credentials', scope })).accessToken

describeOnStores('A guarded route', (stage) => {
  test.each(['Bearer', 'bearer', 'BEARER'])('accepts the token with the scheme %s', async (scheme) => {
    const set = stage()
    const headers = { Authorization: `${scheme} ${await tokenFor(set, 'photos:read')}` }
    expect((await set.flow.open('/photos', undefined, headers)).status).toBe(200)
  })

  test.each([
    ['no Authorization header', {}],
    ['one of another scheme', { Authorization: 'Basic YTpi' }],
    ['an empty one', { Authorization: '' }],
    ['a scheme like Bearer', { Authorization: 'BearerX abc' }],
  ])('answers %s with a challenge without an error', async (_, headers: Record<string, string>) => {
    const { flow, failures } = stage()
    const response = await flow.open('/photos', undefined, headers)
    expect(response.status).toBe(401)
    expect(response.get('WWW-Authenticate')).toBe('Bearer realm="oauth", scope="photos:read"')
    expect(response.body).toEqual({})
    expect(failures).toEqual([])
  })

  test.each(['Bearer', 'Bearer a b', 'Bearer a, Bearer b'])(
    'answers %p with invalid_request',
    async (Authorization) => {
      const { flow, store } = stage()
      const response = await flow.open('/photos', undefined, { Authorization })
      expect(response.status).toBe(400)
      expect(response.get('WWW-Authenticate')).toBe(
        `Bearer realm="oauth", scope="photos:read", error="invalid_request", error_description="${malformed}"`,
      )
      expect(response.body).toEqual({ error: 'invalid_request', error_description: malformed })
      expect(store.calls.find).toBe(0)
    },
  )

  test('answers two Authorization headers with invalid_request, even if both are valid [token-5]', async () => {
    const set = stage()
    const good = `Bearer ${await tokenFor(set, 'photos:read')}`
    const response = await rawRequest(set.app, {
      method: 'GET',
      path: '/photos',
      headers: ['Authorization', good, 'Authorization', good],
    })
    expect(response.status).toBe(400)
    expect(response.headers['www-authenticate']).toContain('error="invalid_request"')
  })

  test('answers every other credential with invalid_token', async () => {
    const { flow, failures } = stage()
    const { accessToken, refreshToken } = await flow.tokens(photoBook)
    const page = await flow.ask(authorizationRequest(photoBook), 'alice')
    const handle = String(consentFormOf(page, '/authorize').fields['authorization_request'])
    const code = await flow.approve(photoBook)
    const flipped = accessToken.slice(0, -1) + (accessToken.endsWith('A') ? 'B' : 'A')
    const asAccessToken = [refreshToken, code, handle].map((text) => `at_${text.slice(3)}`)
    const forged = ['x', `at_${'A'.repeat(64)}`, flipped, refreshToken, code, handle, ...asAccessToken]
    for (const token of forged) {
      const response = await flow.photos(token)
      expect(response.status).toBe(401)
      expect(response.get('WWW-Authenticate')).toBe(
        `Bearer realm="oauth", scope="photos:read", error="invalid_token", error_description="${bad}"`,
      )
      expect(response.body).toEqual({ error: 'invalid_token', error_description: bad })
      expect(failures.at(-1)).toMatchObject({
        endpoint: 'protected resource',
        code: 'invalid_token',
        requestId: response.get('X-Request-Id'),
      })
    }
  })

  test('refuses insufficient scope, and names the scope that is needed [token-8]', async () => {
    const set = stage()
    const response = await set.flow.photos(await tokenFor(set, 'reports:write'))
    expect(response.status).toBe(403)
    expect(response.get('WWW-Authenticate')).toBe(
      `Bearer realm="oauth", scope="photos:read", error="insufficient_scope", error_description="${tooLittle}"`,
    )
    expect(response.body).toEqual({ error: 'insufficient_scope', error_description: tooLittle })
  })

  test('takes no token from the query or the body [token-4]', async () => {
    const set = stage()
    const token = await tokenFor(set, 'photos:read')
    expect((await set.flow.open(`/photos?access_token=${token}`)).status).toBe(401)
  })

  test('sends no-store with a refusal [token-17]', async () => {
    expect((await stage().flow.open('/photos')).headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    })
  })
})

const both = 'photos:read reports:write'

const optional = (oauth: AuthorizationServer) => oauth.bearerGuard('photos:read', { optional: true })
const optionalForAny = (oauth: AuthorizationServer) => oauth.bearerGuard({ optional: true })

/** A route behind this guard, called with a token of this scope. */
async function call(
  stage: SetStage,
  guard: (oauth: AuthorizationServer) => RequestHandler,
  tokenScope: string,
) {
  const { flow } = stage(
    {},
    {
      mount: (app, oauth) => {
        app.use(oauth.router())
        app.get('/guarded', guard(oauth), (request, response) => {
          response.json({ clientId: request.oauth?.clientId ?? null })
        })
      },
    },
  )
  const grant = { grant_type: 'client_credentials', scope: tokenScope }
  const { accessToken } = tokensOf(await flow.request(nightlyReport, grant))
  const present = (Authorization?: string) =>
    flow.open('/guarded', undefined, Authorization === undefined ? {} : { Authorization })
  return { response: await present(`Bearer ${accessToken}`), present }
}

describeOnStores('A guard', (stage) => {
  test.each<[string, BearerGuardOptions, string, number]>([
    ['', {}, 'photos:read', 200],
    ['', { match: 'any' }, 'photos:read', 200],
    ['photos:read', {}, both, 200],
    [both, {}, both, 200],
    ['reports:write photos:read', { match: 'all' }, both, 200],
    [both, {}, 'photos:read', 403],
    [both, { match: 'all' }, 'reports:write', 403],
    [both, { match: 'any' }, 'photos:read', 200],
    [both, { match: 'any' }, 'reports:write', 200],
    ['photos:print', { match: 'any' }, both, 403],
  ])('for %p with %j gives a token of %p the status %d', async (scope, options, tokenScope, status) => {
    const { response } = await call(stage, (oauth) => oauth.bearerGuard(scope, options), tokenScope)
    expect(response.status).toBe(status)
    const challenge = response.get('WWW-Authenticate') ?? ''
    expect(challenge.includes(`scope="${scope}"`)).toBe(status === 403)
  })

  test('for any token names no scope', async () => {
    const { present } = await call(stage, (oauth) => oauth.bearerGuard(), both)
    expect((await present()).get('WWW-Authenticate')).toBe('Bearer realm="oauth"')
  })

  describe('that is optional', () => {
    test('lets a request without a token pass, without an owner', async () => {
      const { response, present } = await call(stage, optional, 'photos:read')
      expect(response.body).toEqual({ clientId: 'nightly-report' })
      expect((await present()).body).toEqual({ clientId: null })
    })

    test('may name no scope', async () => {
      const { response, present } = await call(stage, optionalForAny, 'reports:write')
      expect(response.body).toEqual({ clientId: 'nightly-report' })
      expect((await present()).body).toEqual({ clientId: null })
    })

    test('accepts a request with another scheme: it has no token', async () => {
      const { present } = await call(stage, optional, 'photos:read')
      expect((await present('Basic YTpi')).status).toBe(200)
    })

    test.each([
      ['a bad token', `Bearer at_${'A'.repeat(64)}`, 401],
      ['garbage', 'Bearer x', 401],
      ['a scheme without a token', 'Bearer', 400],
    ])('still refuses %s', async (_, Authorization, status) => {
      const { present } = await call(stage, optional, 'photos:read')
      expect((await present(Authorization)).status).toBe(status)
    })

    test('refuses a valid token with insufficient scope', async () => {
      const { response } = await call(stage, optional, 'reports:write')
      expect(response.status).toBe(403)
    })
  })
})

test.each([' ', 'photos:read  photos:print', 'photos:read\n', 'unheard-of', '"'])(
  'A guard for %j cannot be made',
  (scope) => {
    const oauth = createAuthorizationServer(canonicalOptions)
    expect(() => oauth.bearerGuard(scope)).toThrow('A bearer guard cannot work')
  },
)

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
  test('accepts tokens of the authorization server until they expire', async () => {
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

  test('may require scopes that the authorization server does not know', async () => {
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
