import express, { type Express, type RequestHandler } from 'express'
import request from 'supertest'
import { type BearerGuard, createAuthorizationServer, type Extension, memoryStore } from '../../lib/index'
import { createBearerGuard, type StandaloneGuardOptions } from '../../lib/paths/guards'
import { openIdConnect } from '../../lib/paths/openid-connect'
import { hub } from '../support/assertions/jwt'
import { canonicalOptions } from '../support/flows/application'
import { bent, everyClient, nightlyReport, photoBook } from '../support/flows/clients'
import { Flow } from '../support/flows/flow'
import { tokensOf } from '../support/flows/tokens'
import { accessClaims, accessJwt, photoServer } from '../support/jwt-guard/access-tokens'
import { hubKeys } from '../support/jwt-guard/guarded-photos'

/** An extension that adds a member to `req.oauth`. */
const tenant: Extension = { name: 'tenant', describe: () => ({ tenant: 'acme' }) }

const options = { ...canonicalOptions, plugins: [tenant] }

type Guarding = Pick<StandaloneGuardOptions, 'guards' | 'implies'>

/** Each way to a guard, with tokens of these scopes for alice. */
const kinds: readonly [
  string,
  (guarding: Guarding) => { readonly guard: BearerGuard; readonly token: (scope: string) => Promise<string> },
][] = [
  [
    'a guard of the server',
    (guarding) => {
      const oauth = createAuthorizationServer({ ...options, ...guarding })
      return { guard: oauth.bearerGuard, token: tokenOf(express().use(oauth.router())) }
    },
  ],
  [
    'a guard in another process',
    (guarding) => {
      const store = memoryStore()
      const oauth = createAuthorizationServer({ ...options, store })
      const guard = createBearerGuard({ issuer: options.issuer, store, plugins: [tenant], ...guarding })
      return { guard, token: tokenOf(express().use(oauth.router())) }
    },
  ],
  [
    'a guard for JWTs',
    (guarding) => ({
      guard: createBearerGuard({
        issuer: hub.issuer,
        jwt: { audience: photoServer, jwks: hubKeys },
        ...guarding,
      }),
      token: async (scope) => accessJwt(accessClaims(Math.floor(Date.now() / 1000), { scope })),
    }),
  ],
]

function tokenOf(app: Express): (scope: string) => Promise<string> {
  return async (scope) => (await new Flow(app).tokens(photoBook, { scope })).accessToken
}

const answer: RequestHandler = (req, res) => {
  res.json({ oauth: req.oauth ?? 'none', auth: req.auth ?? 'none' })
}

async function ask(guard: RequestHandler, token?: string, path = '/') {
  const test = request(express().get(path, guard, answer)).get(path)
  const response = await (token === undefined ? test : test.auth(token, { type: 'bearer' }))
  return { status: response.status, challenge: response.get('WWW-Authenticate'), body: response.body }
}

describe.each(kinds)('%s', (_kind, start) => {
  test('admits a token whose scope implies the scope of the route, and the grant stays what it is', async () => {
    const { guard, token } = start({ implies: { 'photos:print': ['photos:read'] } })
    const printing = await token('photos:print')
    const { status, body } = await ask(guard('photos:read'), printing)
    expect(status).toBe(200)
    expect(body.oauth.scope).toEqual(['photos:print'])
    expect((await ask(guard('photos:read photos:print'), printing)).status).toBe(200)
    expect((await ask(guard('photos:read reports:write', { match: 'any' }), printing)).status).toBe(200)
    expect((await ask(guard('photos:read reports:write'), printing)).status).toBe(403)
  })

  test('admits nothing by an implication in the other direction, or without the option', async () => {
    const { guard, token } = start({ implies: { 'photos:print': ['photos:read'] } })
    expect((await ask(guard('photos:print'), await token('photos:read'))).status).toBe(403)
    const plain = start({})
    expect((await ask(plain.guard('photos:read'), await plain.token('photos:print'))).status).toBe(403)
  })

  test('challenges with every scope of the route, whatever the token has', async () => {
    const { guard, token } = start({ implies: { 'photos:print': ['photos:read'] } })
    const both = 'scope="photos:read photos:print"'
    const reading = await token('photos:read')
    expect((await ask(guard('photos:read photos:print'), reading)).challenge).toContain(both)
    expect((await ask(guard('photos:read photos:print'))).challenge).toContain(both)
    expect((await ask(guard('photos:read photos:print', { match: 'any' }))).challenge).toContain(both)
    expect((await ask(guard('photos:read photos:print', { match: 'any' }), 'x')).challenge).toContain(both)
  })

  test('takes realm and attributes from the option guards, and from its own options first', async () => {
    const { guard } = start({ guards: { realm: 'city', attributes: { one: '1', two: '2' } } })
    expect((await ask(guard())).challenge).toBe('Bearer realm="city", one="1", two="2"')
    expect((await ask(guard({ realm: 'photos', attributes: { two: '3' } }))).challenge).toBe(
      'Bearer realm="photos", one="1", two="3"',
    )
  })

  test('sets req.auth for the SDK if it is asked to, and never otherwise', async () => {
    const { guard, token } = start({ implies: { 'photos:print': ['photos:read'] } })
    const accessToken = await token('photos:print')
    const { body } = await ask(guard({ authInfo: true }), accessToken)
    expect(body.auth).toMatchObject({
      token: accessToken,
      clientId: 'photo-book',
      scopes: ['photos:print', 'photos:read'],
      expiresAt: body.oauth.expiresAt,
      extra: { subject: 'alice' },
    })
    const { clientId: _client, scope: _scope, expiresAt: _end, tokenType: _type, ...others } = body.oauth
    expect(body.auth.extra).toEqual(others)
    expect((await ask(guard(), accessToken)).body.auth).toBe('none')
    const always = start({ guards: { authInfo: true } })
    const other = await always.token('photos:read')
    expect((await ask(always.guard(), other)).body.auth).toMatchObject({ token: other })
    expect((await ask(always.guard({ authInfo: false }), other)).body.auth).toBe('none')
  })

  test('lets no request change what the next request with its token sees', async () => {
    const { guard, token } = start({ guards: { authInfo: true } })
    const spoil: RequestHandler = (req, _res, next) => {
      req.auth?.scopes.push('reports:write')
      if (req.auth?.extra !== undefined) req.auth.extra['subject'] = 'mallory'
      next()
    }
    const accessToken = await token('photos:read')
    const first = request(express().get('/', guard(), spoil, answer)).get('/')
    const { body } = await first.auth(accessToken, { type: 'bearer' })
    expect(body.oauth).toMatchObject({ scope: ['photos:read'], subject: 'alice' })
    const { auth } = (await ask(guard(), accessToken)).body
    expect(auth).toMatchObject({ scopes: ['photos:read'], extra: { subject: 'alice' } })
  })

  test.each([
    [{ realm: '"' }, 'realm'],
    [{ attributes: { scope: 'a' } }, 'attributes.scope'],
    [{ authInfo: 'yes' }, 'authInfo'],
    [{ realms: 'a' }, 'realms'],
  ])('does not start with %j [token-14]', (wrong, path) => {
    const { guard } = start({})
    const javascript: { make(options: unknown): unknown } = { make: guard }
    expect(() => javascript.make(wrong)).toThrow(`A bearer guard cannot work:\n  - ${path} `)
  })
})

test.each(kinds.slice(0, 2))('%s shows in req.auth what extensions add', async (_kind, start) => {
  const { guard, token } = start({})
  const { body } = await ask(guard({ authInfo: true }), await token('photos:read'))
  expect(body.auth.extra).toMatchObject({ tenant: 'acme', subject: 'alice' })
})

test('a client gets no scope that its own scopes only imply', async () => {
  const implies = { 'photos:print': ['photos:read'] }
  const printing = bent(nightlyReport, { client_id: 'printing', scope: 'photos:print' })
  const clients = [...everyClient, printing].map(({ registration }) => registration)
  const oauth = createAuthorizationServer({ ...options, clients, implies })
  const flow = new Flow(express().use(oauth.router()))
  const grant_type = 'client_credentials'
  const refused = await flow.request(printing, { grant_type, scope: 'photos:read' })
  expect(refused.body).toMatchObject({ error: 'invalid_scope' })
  const tokens = tokensOf(await flow.request(printing, { grant_type, scope: 'photos:print' }))
  expect(tokens).toMatchObject({ scope: 'photos:print' })
})

describe('a member that is there and undefined, as an environment variable that is not set, is a mistake', () => {
  const unset = process.env['NO_SUCH_VARIABLE']
  const { issuer } = options
  const own = { issuer, store: memoryStore() }
  const oauth = createAuthorizationServer(options)
  const cure =
    'is undefined, perhaps because an environment variable is not set: give it a value, or leave it out.'

  const jwt = { audience: photoServer, jwks: hubKeys }
  const client = { client_id: 'a', client_secret: 'b' }
  const asking = { issuer, introspection: { client, audience: unset } }

  test.each<[string, string, Function, readonly unknown[]]>([
    ['a guard of the server', 'acr', oauth.bearerGuard, ['photos:read', { acr: unset }]],
    ['the scope of a guard', 'scope', oauth.bearerGuard, [unset]],
    ['a guard in another process', 'resources', createBearerGuard, [{ ...own, resources: unset }]],
    [
      'a guard for JWTs',
      'jwt.algorithms',
      createBearerGuard,
      [{ issuer, jwt: { ...jwt, algorithms: unset } }],
    ],
    ['one by introspection', 'introspection.audience', createBearerGuard, [asking]],
    [
      'the option guards',
      'guards.cors',
      createAuthorizationServer,
      [{ ...options, guards: { cors: unset } }],
    ],
    [
      'registration, which would be open to all',
      'dynamicRegistration.initialAccessToken',
      createAuthorizationServer,
      [{ ...options, dynamicRegistration: { initialAccessToken: unset } }],
    ],
    ['pairwise subjects', 'pairwise', openIdConnect, [{ keys: hubKeys, pairwise: unset }]],
  ])('%s: %s', (_what, path, make, given) => {
    expect(() => Reflect.apply(make, undefined, given)).toThrow(`  - ${path} ${cure}`)
  })

  test('the scope null is a mistake, and does not mean every token', () => {
    expect(() => Reflect.apply(oauth.bearerGuard, undefined, [null])).toThrow(
      '  - scope must be scope tokens',
    )
  })

  test('a guard may be made without any member, and its options may be undefined', () => {
    for (const make of [() => oauth.bearerGuard(), () => oauth.bearerGuard('photos:read', undefined)])
      expect(make).not.toThrow()
  })
})
