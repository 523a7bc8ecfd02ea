import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { type AuthorizationServer, type BearerGuardOptions, createAuthorizationServer } from '../../lib/index'
import { createBearerGuard, type StandaloneGuardOptions } from '../../lib/paths/guards'
import { canonicalOptions } from '../support/flows/application'
import { nightlyReport, photoBook } from '../support/flows/clients'
import { Flow } from '../support/flows/flow'
import { describeOnStores, type SetStage, type Stage } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'

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
    test.each([
      ['with a scope', optional, 'photos:read'],
      ['for any token', optionalForAny, 'reports:write'],
    ])('%s lets a request without a token pass, without an owner, by another scheme too', async (...row) => {
      const { response, present } = await call(stage, row[1], row[2])
      expect(response.body).toEqual({ clientId: 'nightly-report' })
      for (const none of [undefined, 'Basic YTpi'])
        expect((await present(none)).body).toEqual({ clientId: null })
    })

    test.each([
      ['a bad token', `Bearer at_${'A'.repeat(65)}`, 401],
      ['garbage', 'Bearer x', 401],
      ['a scheme without a token', 'Bearer', 400],
    ])('still refuses %s [token-16]', async (_, Authorization, status) => {
      const { present } = await call(stage, optional, 'photos:read')
      expect((await present(Authorization)).status).toBe(status)
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

test('A guard that is mounted uncalled admits nothing, and says what to do [token-15]', async () => {
  const oauth = createAuthorizationServer(canonicalOptions)
  const errors: unknown[] = []
  const keep: ErrorRequestHandler = (error, _request, response, _next) => {
    errors.push(error)
    response.sendStatus(500)
  }
  const app = express().get('/photos', Reflect.get(oauth, 'bearerGuard')).use(keep)
  expect((await new Flow(app).photos('x')).status).toBe(500)
  expect(String(errors)).toBe(
    "ConfigurationError: The authorization server is mounted wrongly:\n  - oauth.bearerGuard is a function that makes the middleware: call it, and mount oauth.bearerGuard('photos:read').",
  )
})

describeOnStores('What breaks at a guarded route', (stage) => {
  test('is handed on to the host if the route throws: the guard has nothing to report', async () => {
    const thrown: unknown[] = []
    const keep: ErrorRequestHandler = (error, _request, response, _next) => {
      thrown.push(error)
      response.sendStatus(500)
    }
    const set = stage(
      {},
      {
        mount: (app, oauth) => {
          app.use(oauth.router())
          app.get('/photos', oauth.bearerGuard(), () => {
            throw new TypeError('of the route')
          })
          app.use(keep)
        },
      },
    )
    const asked = { grant_type: 'client_credentials', scope: 'photos:read' }
    const { accessToken } = tokensOf(await set.flow.request(nightlyReport, asked))
    expect((await set.flow.photos(accessToken)).status).toBe(500)
    expect(thrown).toEqual([expect.any(TypeError)])
    expect(set.failures).toEqual([])
  })

  test('a record that is none, or of a later version, is a failure of the store with its cause', async () => {
    const set = stage()
    const asked = { grant_type: 'client_credentials', scope: 'photos:read' }
    const { accessToken } = tokensOf(await set.flow.request(nightlyReport, asked))
    set.store.read = async () => ({ value: '{}', version: 'A'.repeat(22) })
    expect((await set.flow.photos(accessToken)).status).toBe(503)
    expect(set.failures.map(({ code, cause }) => [code, cause])).toEqual([
      ['temporarily_unavailable', expect.any(Error)],
    ])
  })
})

/** A resource server that shares nothing with the authorization server but the store. */
function resourceServer({ store, clock }: Stage, bend: Partial<StandaloneGuardOptions> = {}) {
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

  test.each(['fails', 'hangs'] as const)('answers 503 when the store %s [store-3]', async (trouble) => {
    const set = stage()
    const { accessToken } = await set.flow.tokens(photoBook)
    const { flow, reasons } = resourceServer(set, { storeDeadline: 0.05 })
    set.store.begin(trouble, 'read')
    const response = await flow.photos(accessToken)
    expect(response.status).toBe(503)
    expect(response.get('Retry-After')).toBe('1')
    expect(reasons).toEqual(['store_unavailable'])
  })
})
