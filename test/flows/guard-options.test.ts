import type { RequestHandler } from 'express'
import { createAuthorizationServer, type AuthorizationServer, type BearerGuardOptions } from '../../lib/index'
import { canonicalOptions } from '../support/flows/application'
import { nightlyReport } from '../support/flows/clients'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
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
  test.each<[string | undefined, BearerGuardOptions, string, number]>([
    [undefined, {}, 'photos:read', 200],
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
    test('lets a request without a token pass, as nobody’s', async () => {
      const { response, present } = await call(stage, optional, 'photos:read')
      expect(response.body).toEqual({ clientId: 'nightly-report' })
      expect((await present()).body).toEqual({ clientId: null })
    })

    test('need ask for no scope', async () => {
      const { response, present } = await call(stage, optionalForAny, 'reports:write')
      expect(response.body).toEqual({ clientId: 'nightly-report' })
      expect((await present()).body).toEqual({ clientId: null })
    })

    test('lets a request with another scheme pass: it shows no token', async () => {
      const { present } = await call(stage, optional, 'photos:read')
      expect((await present('Basic YTpi')).status).toBe(200)
    })

    test.each([
      ['a bad token', `Bearer at_${'A'.repeat(64)}`, 401],
      ['garbage', 'Bearer x', 401],
      ['a scheme without a token', 'Bearer', 400],
    ])('refuses %s all the same', async (_, Authorization, status) => {
      const { present } = await call(stage, optional, 'photos:read')
      expect((await present(Authorization)).status).toBe(status)
    })

    test('refuses a good token of too little scope all the same', async () => {
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
