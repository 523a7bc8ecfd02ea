import express, { type Express, type RequestHandler } from 'express'
import { Passport } from 'passport'
import request, { type Response } from 'supertest'
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type CorsOption,
  type Endpoint,
  memoryStore,
} from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import { mountAll, type Mount } from '../support/flows/application'
import { nightlyReport, photoBook } from '../support/flows/clients'
import { authorizationRequest, basic, formOf } from '../support/flows/flow'
import { setStage } from '../support/flows/stage'
import type { Stage } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'
import { guardedPhotos } from '../support/jwt-guard/guarded-photos'

const wall = 'https://wall.example'
const other = 'https://other.example'
const metadata = '/.well-known/oauth-authorization-server'
const clientId = nightlyReport.registration.client_id
const { client_id: publicId } = photoBook.registration

type CorsHeaders = Readonly<Record<string, string>>

/** The headers of CORS, and `Vary`. */
const corsOf = ({ headers }: Response): CorsHeaders =>
  Object.fromEntries(Object.entries<string>(headers).filter(([name]) => /^access-control-|^vary$/.test(name)))

interface Asked {
  readonly method?: 'GET' | 'POST' | 'OPTIONS' | 'DELETE'
  readonly path?: string
  /** Empty for a request without the header. */
  readonly origin?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** What a browser sends for a script of another origin. */
async function ask(app: Express, asked: Asked): Promise<Response> {
  const { method = 'POST', path = '/token', origin = wall, headers = {}, body } = asked
  const form = body === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' }
  const call = { GET: 'get', POST: 'post', OPTIONS: 'options', DELETE: 'delete' } as const
  const sent = request(app)[call[method]](path)
  return sent.set({ ...(origin === '' ? {} : { Origin: origin }), ...form, ...headers }).send(body)
}

const preflight = (app: Express, path: string, origin = wall, wanted = 'POST'): Promise<Response> =>
  ask(app, {
    method: 'OPTIONS',
    path,
    origin,
    headers: {
      'Access-Control-Request-Method': wanted,
      'Access-Control-Request-Headers': 'authorization,mcp-protocol-version',
    },
  })

const exposed = 'WWW-Authenticate, Retry-After, X-Request-Id'
const readable = { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed }
const leave = (methods: string) => ({
  'access-control-allow-origin': '*',
  'access-control-allow-methods': methods,
  'access-control-allow-headers': 'Authorization, Content-Type, *',
  'access-control-max-age': '7200',
})
const every = 'GET, HEAD, POST, PUT, PATCH, DELETE, *'

const endpointOfHost = (name: string, cors?: boolean): Endpoint => ({
  name,
  path: `/${name}`,
  method: 'GET',
  clientAuthentication: 'none',
  ...(cors === undefined ? {} : { cors }),
  handle: async () => ({ members: { name } }),
})
const endpoints = [endpointOfHost('shared', true), endpointOfHost('usual')]

const grant = formOf({ grant_type: 'client_credentials', scope: 'photos:read' })
const secret = { Authorization: basic(clientId, nightlyReport.secret) }

// What scripts of other origins may call, with a request that succeeds.
const shared: readonly [string, string, Asked][] = [
  ['metadata', 'GET, HEAD', { method: 'GET', path: metadata }],
  ['the token endpoint', 'POST', { body: grant, headers: secret }],
  ['the revocation endpoint', 'POST', { path: '/revoke', body: `token=x&client_id=${publicId}` }],
  ['an endpoint of the host with cors', 'GET, HEAD', { method: 'GET', path: '/shared' }],
]

// What they may not call.
const closed: readonly [string, Asked][] = [
  ['the introspection endpoint', { path: '/introspect', body: 'token=x', headers: secret }],
  [
    'the authorization endpoint',
    {
      method: 'GET',
      path: `/authorize?${formOf(authorizationRequest(photoBook))}`,
      headers: { 'X-Owner': 'alice' },
    },
  ],
  ['an endpoint of the host', { method: 'GET', path: '/usual' }],
  ['a guarded route', { method: 'GET', path: '/photos' }],
]
const open = shared.map(([name, , asked]): readonly [string, Asked] => [name, asked])

describe('By default, scripts of every origin', () => {
  test.each(shared)(
    'may call %s, without the cookies of an owner [edge-6]',
    async (_name, methods, asked) => {
      const { app } = setStage({ plugins: [{ name: 'host-endpoints', endpoints }] })
      const { path = '/token' } = asked
      const allowed = await preflight(app, path)
      expect([allowed.status, allowed.text, corsOf(allowed)]).toEqual([204, '', leave(methods)])
      const answer = await ask(app, asked)
      expect([answer.status, corsOf(answer)]).toEqual([200, readable])
    },
  )

  test.each(closed)('may not call %s [edge-6]', async (_name, asked) => {
    const { app } = setStage({ plugins: [{ name: 'host-endpoints', endpoints }] })
    const refused = await preflight(app, asked.path ?? '')
    expect(refused.status).not.toBe(204)
    for (const answer of [refused, await ask(app, asked)])
      expect(Object.keys(corsOf(answer)).filter((name) => name !== 'vary')).toEqual([])
  })

  const long = 'x'.repeat(65 * 1024)
  test.each<[string, Partial<AuthorizationServerOptions>, Asked, number, string]>([
    ['a faulty request', {}, { body: `client_id=${publicId}` }, 400, 'x-request-id'],
    [
      'a wrong secret',
      {},
      { body: grant, headers: { Authorization: basic(clientId, 'guess') } },
      401,
      'www-authenticate',
    ],
    ['another method', {}, { method: 'GET' }, 405, 'allow'],
    ['a body that is too large', {}, { body: `grant_type=${long}` }, 400, 'x-request-id'],
    [
      'a client over its share',
      { limits: { issuing: { client: { attempts: 1 } } } },
      { body: grant, headers: secret },
      429,
      'retry-after',
    ],
    ['maintenance', { maintenance: () => true }, { path: '/revoke', body: 'token=x' }, 503, 'retry-after'],
  ])('may read the refusal of %s', async (_what, options, asked, status, header) => {
    const { app } = setStage(options)
    const first = await ask(app, asked)
    const answer = status === 429 ? await ask(app, asked) : first
    expect([answer.status, corsOf(answer)]).toEqual([status, readable])
    expect(answer.headers).toHaveProperty(header)
  })
})

describe('The option cors', () => {
  test('false leaves every endpoint without any header of CORS', async () => {
    const { app } = setStage({ plugins: [{ name: 'host-endpoints', endpoints }], cors: false })
    for (const [name, asked] of [...open, ...closed])
      for (const answer of [await preflight(app, asked.path ?? '/token'), await ask(app, asked)])
        expect([
          name,
          answer.status === 204,
          Object.keys(corsOf(answer)).filter((one) => one !== 'vary'),
        ]).toEqual([name, false, []])
  })

  test.each(shared)('with origins opens %s to them alone', async (_name, methods, asked) => {
    const { app } = setStage({ plugins: [{ name: 'host-endpoints', endpoints }], cors: { origins: [wall] } })
    const { path = '/token' } = asked
    const vary = { vary: 'Origin' }
    const own = { ...vary, 'access-control-allow-origin': wall }
    expect(corsOf(await preflight(app, path))).toEqual({ ...leave(methods), ...own })
    expect(corsOf(await ask(app, asked))).toEqual({ ...readable, ...own })
    for (const origin of [other, `${wall}, ${other}`, 'null', '__proto__', '']) {
      const answer = await ask(app, { ...asked, origin })
      expect([answer.status, corsOf(answer)]).toEqual([200, vary])
    }
    const refused = await preflight(app, path, other)
    expect([refused.status, corsOf(refused)]).toEqual([204, vary])
  })
})

describe('The metadata of a resource', () => {
  const api = 'https://api.example/mcp'
  const resources = { [api]: { scopes: ['photos:read', 'photos:print'] } }
  const path = '/.well-known/oauth-protected-resource/mcp'
  const ofServer = (cors?: CorsOption) => {
    const mount: Mount = (app, oauth) => app.use(oauth.protectedResource(api))
    return setStage({ resources, ...(cors === undefined ? {} : { cors }) }, { mount }).app
  }
  const ofGuard = (cors?: CorsOption) => {
    const named = { issuer: 'http://localhost', store: memoryStore(), resources }
    const guard = createBearerGuard({ ...named, ...(cors === undefined ? {} : { cors }) })
    return express().use(guard.protectedResource(api))
  }
  const ofJwtGuard = (cors?: CorsOption) => {
    const { app, guard } = guardedPhotos({}, { resources, ...(cors === undefined ? {} : { cors }) })
    return app.use(guard.protectedResource())
  }

  test.each([
    ['the server', ofServer],
    ['a guard in another process', ofGuard],
    ['a guard for JWTs', ofJwtGuard],
  ])('follows the option cors of %s', async (_whose, appWith) => {
    const asked: Asked = { method: 'GET', path }
    const allowed = await preflight(appWith(), path, wall, 'GET')
    expect([allowed.status, corsOf(allowed)]).toEqual([204, leave('GET, HEAD')])
    expect(corsOf(await ask(appWith(), asked))).toEqual(readable)
    expect(corsOf(await ask(appWith({ origins: [other] }), asked))).toEqual({ vary: 'Origin' })
    const closedTo = await ask(appWith(false), asked)
    expect([closedTo.status, corsOf(closedTo)]).toEqual([200, {}])
    expect((await preflight(appWith(false), path)).status).toBe(405)
  })
})

describe('A preflight', () => {
  test('counts for no limit, asks no store, reads no body, is no event, and is answered during maintenance', async () => {
    const limit = { attempts: 1, seconds: 60 }
    let isClosed = true
    const { app, store, failures } = setStage({
      limits: { networks: { clients: limit, authorization: limit } },
      maintenance: () => isClosed,
    })
    for (let round = 0; round < 3; round++) expect((await preflight(app, '/token')).status).toBe(204)
    const headers = { 'Access-Control-Request-Method': 'POST' }
    const long = { method: 'OPTIONS', headers, body: 'x'.repeat(65 * 1024) } as const
    expect((await ask(app, long)).status).toBe(204)
    expect([store.calls, failures]).toEqual([{ read: 0, write: 0, remove: 0, add: 0, list: 0 }, []])
    isClosed = false
    expect((await ask(app, { body: grant })).status).toBe(401)
  })

  test('needs both headers: any other OPTIONS is refused as before', async () => {
    const { app } = setStage()
    const wanted = { 'Access-Control-Request-Method': 'POST' }
    for (const asked of [{ origin: '', headers: wanted }, { origin: wall }]) {
      const { status, headers } = await ask(app, { method: 'OPTIONS', ...asked })
      expect([status, headers['allow']]).toEqual([405, 'POST'])
    }
  })
})

test('A request without an origin gets no header of CORS, but the metadata, because caches keep them', async () => {
  const { app } = setStage()
  expect(corsOf(await ask(app, { body: grant, headers: secret, origin: '' }))).toEqual({})
  expect(corsOf(await ask(app, { method: 'GET', path: metadata, origin: '' }))).toEqual({
    'access-control-allow-origin': '*',
  })
})

/** A host that sets headers of its own before the suite. */
const behind =
  (headers: Record<string, string>): Mount =>
  (app, oauth) => {
    app.use((_request, response, next) => next(void response.set(headers)))
    app.use('/photos', oauth.bearerGuard('photos:read', { cors: true }))
    mountAll(app, oauth)
  }

describe('The headers of a host', () => {
  const kept = {
    'access-control-allow-origin': other,
    'access-control-expose-headers': `X-Total, ${exposed}`,
    vary: 'Accept-Encoding, Origin',
  }
  const mount = behind({
    'Access-Control-Allow-Origin': other,
    'Access-Control-Expose-Headers': 'X-Total',
    Vary: 'Accept-Encoding, Origin',
  })

  test('stay as they are at every endpoint, at guarded routes, and at the metadata without an origin', async () => {
    const { app } = setStage({ plugins: [{ name: 'host-endpoints', endpoints }] }, { mount })
    for (const [, asked] of [...open, ['a guarded route', { method: 'GET', path: '/photos' }]] as const) {
      expect(corsOf(await ask(app, asked))).toEqual(kept)
      expect(corsOf(await preflight(app, asked.path ?? '/token'))).toMatchObject({
        'access-control-allow-origin': other,
        vary: kept.vary,
      })
    }
    expect(corsOf(await ask(app, { method: 'GET', path: metadata, origin: '' }))).toEqual(kept)
  })

  test.each<[string, Record<string, string>, CorsHeaders]>([
    [
      'exposed headers, each once',
      { 'Access-Control-Expose-Headers': 'X-Total, retry-after' },
      { 'access-control-expose-headers': 'X-Total, retry-after, WWW-Authenticate, X-Request-Id' },
    ],
    [
      'Vary, with what is missing',
      { Vary: 'Accept, Accept-Encoding' },
      { vary: 'Accept, Accept-Encoding, Origin' },
    ],
    ['Vary that says it all', { Vary: '*' }, { vary: '*' }],
  ])('stay: %s', async (_what, headers, expected) => {
    const { app } = setStage({ cors: { origins: [wall] } }, { mount: behind(headers) })
    const usual = { ...readable, 'access-control-allow-origin': wall, vary: 'Origin' }
    expect(corsOf(await ask(app, {}))).toEqual({ ...usual, ...expected })
  })

  test('that answer a preflight stay, and those that refuse an origin refuse it', async () => {
    const answer = {
      'access-control-allow-origin': wall,
      'access-control-allow-headers': 'X-One',
      'access-control-allow-methods': 'PUT',
      'access-control-max-age': '5',
    }
    expect(corsOf(await preflight(setStage({}, { mount: behind(answer) }).app, '/token'))).toEqual(answer)
    const refusal = { vary: 'accept, ORIGIN' }
    const { app } = setStage({}, { mount: behind(refusal) })
    expect([corsOf(await preflight(app, '/token')), corsOf(await ask(app, {}))]).toEqual([refusal, refusal])
  })
})

const withPassport: Mount = (app, oauth) => {
  const passport = new Passport()
  for (const strategy of oauth.strategies) passport.use(strategy)
  const methods = oauth.strategies.map(({ name }) => name)
  const authenticated = passport.authenticate(methods, { session: false, failWithError: true })
  app.all('/token', authenticated, oauth.token())
  app.all('/introspect', authenticated, oauth.introspection())
}

describe('An endpoint that is mounted alone', () => {
  const pair = (oauth: AuthorizationServer) => [oauth.clientAuthentication(), oauth.token()]
  test.each<[string, Mount]>([
    ['app.all', (app, oauth) => app.all('/token', ...pair(oauth))],
    [
      'app.post and app.options',
      (app, oauth) => app.post('/token', ...pair(oauth)).options('/token', oauth.token()),
    ],
    ['oauth.endpoint()', (app, oauth) => app.all('/token', oauth.endpoint('token'))],
    ['Passport of the host', withPassport],
  ])('answers scripts of other origins by %s', async (_how, mount) => {
    const { app } = setStage({}, { mount })
    const allowed = await preflight(app, '/token')
    expect([allowed.status, corsOf(allowed)]).toEqual([204, leave('POST')])
    const good = await ask(app, { body: grant, headers: secret })
    expect([good.status, corsOf(good)]).toEqual([200, readable])
    const refused = await ask(app, { body: grant })
    expect([refused.status, corsOf(refused)]).toEqual([401, readable])
  })

  test.each(['/oauth', ''])(
    'answers them below the path of the issuer, which is at "%s" here',
    async (at) => {
      const mount: Mount = (app, oauth) => app.all(`${at}/token`, ...pair(oauth))
      const { app } = setStage({ issuer: 'http://localhost/oauth' }, { mount })
      expect((await preflight(app, `${at}/token`)).status).toBe(204)
      expect(corsOf(await ask(app, { path: `${at}/token`, body: grant }))).toEqual(readable)
    },
  )

  test.each<[string, Mount]>([
    ['app.all', (app, oauth) => app.all('/introspect', oauth.clientAuthentication(), oauth.introspection())],
    ['oauth.endpoint()', (app, oauth) => app.all('/introspect', oauth.endpoint('introspection'))],
    ['Passport of the host', withPassport],
  ])('stays closed to them by %s, if it is closed to them', async (_how, mount) => {
    const { app } = setStage({}, { mount })
    for (const answer of [await preflight(app, '/introspect'), await ask(app, { path: '/introspect' })]) {
      expect(answer.status).not.toBe(204)
      expect(corsOf(answer)).toEqual({})
    }
  })

  test('lets no request through to a route of the host that client authentication stands before', async () => {
    const reached = jest.fn()
    const { app } = setStage(
      {},
      { mount: (host, oauth) => host.all('/own', oauth.clientAuthentication(), reached) },
    )
    const answer = await preflight(app, '/own')
    expect([answer.status, corsOf(answer), reached.mock.calls]).toEqual([405, {}, []])
  })
})

describe('A guard with cors', () => {
  const reached = jest.fn()
  const show: RequestHandler = (incoming, response) => {
    reached(incoming.method)
    response.json(incoming.oauth ?? {})
  }
  beforeEach(() => reached.mockClear())

  const guarded = (oauth: AuthorizationServer, options = {}) =>
    oauth.bearerGuard('photos:read', { cors: true, ...options })
  const byUse: Mount = (app, oauth) => {
    app.use(oauth.router())
    app.use('/photos', guarded(oauth))
    app.all('/photos', show)
  }
  const tokenOf = async ({ flow }: Stage) =>
    tokensOf(await flow.request(nightlyReport, { grant_type: 'client_credentials', scope: 'photos:read' }))
      .accessToken

  test.each<[string, Mount]>([
    ['app.use', byUse],
    [
      'app.get and app.options',
      (app, oauth) =>
        app.use(oauth.router()).get('/photos', guarded(oauth), show).options('/photos', guarded(oauth)),
    ],
    [
      'the option guards of the server',
      (app, oauth) => app.use(oauth.router()).all('/photos', oauth.bearerGuard('photos:read'), show),
    ],
  ])('answers a preflight itself, mounted by %s', async (how, mount) => {
    const guards = how.includes('guards') ? { guards: { cors: true } } : {}
    const set = setStage(guards, { mount })
    const allowed = await preflight(set.app, '/photos', wall, 'PUT')
    expect([allowed.status, corsOf(allowed)]).toEqual([204, leave(every)])
    expect(reached).not.toHaveBeenCalled()
    const headers = { Authorization: `Bearer ${await tokenOf(set)}` }
    const answer = await ask(set.app, { method: 'GET', path: '/photos', headers })
    expect([answer.status, corsOf(answer)]).toEqual([200, readable])
  })

  test('is not asked by app.get alone: Express answers OPTIONS there, and allows no origin', async () => {
    const { app } = setStage({}, { mount: (host, oauth) => host.get('/photos', guarded(oauth), show) })
    const answer = await preflight(app, '/photos')
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
    expect(reached).not.toHaveBeenCalled()
  })

  test('answers a preflight itself even with a good token, and takes any other OPTIONS for a request that needs one [token-34]', async () => {
    const set = setStage({}, { mount: byUse })
    const wanted = { 'Access-Control-Request-Method': 'GET' }
    const withToken = { Authorization: `Bearer ${await tokenOf(set)}`, ...wanted }
    const statuses: number[] = []
    for (const asked of [{ headers: withToken }, { origin: '', headers: wanted }, { origin: wall }])
      statuses.push((await ask(set.app, { method: 'OPTIONS', path: '/photos', ...asked })).status)
    expect(statuses).toEqual([204, 401, 401])
    expect(reached).not.toHaveBeenCalled()
  })

  test('answers a preflight itself where a token is optional', async () => {
    const mount: Mount = (app, oauth) => app.all('/photos', guarded(oauth, { optional: true }), show)
    const { app } = setStage({}, { mount })
    expect((await preflight(app, '/photos')).status).toBe(204)
    expect(reached).not.toHaveBeenCalled()
    expect((await ask(app, { method: 'GET', path: '/photos' })).status).toBe(200)
  })

  test('lets scripts read every refusal', async () => {
    const set = setStage({}, { mount: byUse })
    const scope = 'reports:write'
    const { accessToken } = tokensOf(
      await set.flow.request(nightlyReport, { grant_type: 'client_credentials', scope }),
    )
    const answered: unknown[] = []
    const call = async (authorization?: string) => {
      const headers = authorization === undefined ? {} : { Authorization: authorization }
      const answer = await ask(set.app, { method: 'GET', path: '/photos', headers })
      expect(corsOf(answer)).toEqual(readable)
      answered.push([answer.status, answer.get('WWW-Authenticate') !== undefined])
    }
    for (const authorization of [undefined, 'Bearer', 'Bearer x', `Bearer ${accessToken}`])
      await call(authorization)
    set.store.begin('fails', 'read')
    await call(`Bearer ${accessToken}`)
    expect(answered).toEqual([
      [401, true],
      [400, true],
      [401, true],
      [403, true],
      [503, false],
    ])
  })

  test('with origins allows them alone, says Vary on every response, and false keeps it shut', async () => {
    const mount: Mount = (app, oauth) => {
      app.use('/photos', guarded(oauth, { cors: { origins: [wall] } }))
      app.use('/shut', guarded(oauth, { cors: false }))
    }
    const { app } = setStage({ guards: { cors: true } }, { mount })
    const asked: Asked = { method: 'GET', path: '/photos' }
    const own = { ...readable, 'access-control-allow-origin': wall, vary: 'Origin' }
    expect(corsOf(await ask(app, asked))).toEqual(own)
    for (const origin of [other, ''])
      expect(corsOf(await ask(app, { ...asked, origin }))).toEqual({ vary: 'Origin' })
    expect(corsOf(await preflight(app, '/photos', other))).toEqual({ vary: 'Origin' })
    const shut = await preflight(app, '/shut')
    expect([shut.status, corsOf(shut)]).toEqual([401, {}])
  })

  test('is made without an authorization server, and for JWTs, too', async () => {
    const store = memoryStore()
    const guard = createBearerGuard({ issuer: 'http://localhost', store, guards: { cors: true } })
    const jwts = guardedPhotos({}, { guards: { cors: true } })
    for (const app of [
      express().all('/photos', guard('photos:read'), show),
      jwts.app.all('/by-all', jwts.guard('photos:read'), show),
    ]) {
      const path = app === jwts.app ? '/by-all' : '/photos'
      const allowed = await preflight(app, path)
      expect([allowed.status, allowed.get('Access-Control-Allow-Origin')]).toEqual([204, '*'])
      const refused = await ask(app, { method: 'GET', path })
      expect([refused.status, refused.get('Access-Control-Allow-Origin')]).toEqual([401, '*'])
    }
    expect(reached).not.toHaveBeenCalled()
  })
})
