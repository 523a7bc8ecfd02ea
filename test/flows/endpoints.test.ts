import express from 'express'
import { Passport } from 'passport'
import request from 'supertest'
import { type Endpoint, OAuthError, temporarilyUnavailable } from 'express-authorization-server'
import { readOnly } from '../../docs/examples/read-only'
import { whoami } from '../../docs/examples/whoami'
import { type Mount, canonicalOptions, mountAll } from '../support/flows/application'
import { photoPrint, nightlyReport } from '../support/flows/clients'
import { basic, Flow } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { describeOnStores } from '../support/flows/stores-of-run'
import { setStage } from '../support/flows/stage'
import { tokensOf } from '../support/flows/tokens'
import { createAuthorizationServer } from '../../lib/index'
import { tokenExchange } from '../../lib/paths/grants'

const asPrinter = { Authorization: basic('photo-print', photoPrint.secret) }
const withWrongSecret = { Authorization: basic('photo-print', 'wrong') }

/** Tells what an endpoint sees. */
const seen = (bend: { body?: 'json'; clientAuthentication?: 'confidential' }): Endpoint => ({
  name: 'seen',
  path: '/seen',
  clientAuthentication: 'optional',
  handle: async ({ client, parameters, json, method, address }) => ({
    members: {
      client: client?.client_id ?? null,
      word: parameters.get('word') ?? null,
      json,
      method,
      address,
    },
  }),
  ...bend,
})

describeOnStores("An endpoint of the host's own", (stage) => {
  test('GET /whoami answers an authenticated client, and the metadata names it', async () => {
    const { flow } = stage({ plugins: [{ name: 'host-endpoints', endpoints: [whoami] }] })
    const response = await flow.open('/whoami', undefined, asPrinter)
    expect(response.status).toBe(200)
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
    expect(response.body).toEqual({
      client_id: 'photo-print',
      grant_types: ['authorization_code', 'refresh_token'],
      scope: 'photos:read photos:print',
    })
    expect((await flow.open('/.well-known/oauth-authorization-server')).body).toMatchObject({
      whoami_endpoint: 'http://localhost/whoami',
      // A GET has no form, so no method that reads one.
      whoami_endpoint_auth_methods_supported: ['client_secret_basic', 'none'],
    })
  })

  test('serves several methods on one path, and stays out of the metadata if it is not listed', async () => {
    const notes: Endpoint = {
      name: 'notes',
      path: '/notes',
      method: ['GET', 'PUT', 'DELETE'],
      body: 'json',
      listed: false,
      clientAuthentication: 'none',
      handle: async ({ method, parameters, json }) => ({
        members: { method, word: parameters.get('word') ?? null, json },
        status: method === 'DELETE' ? 204 : 200,
      }),
    }
    const { flow, app } = stage({ plugins: [{ name: 'host-endpoints', endpoints: [notes] }] })
    const read = await request(app).get('/notes?word=x')
    expect(read.body).toEqual({ method: 'GET', word: 'x' })
    const written = await request(app).put('/notes?word=x').send({ a: 1 })
    expect(written.body).toEqual({ method: 'PUT', word: 'x', json: { a: 1 } })
    const deleted = await request(app).delete('/notes')
    expect([deleted.status, deleted.text, deleted.get('Cache-Control')]).toEqual([204, '', 'no-store'])
    const refused = await request(app).post('/notes').send({})
    expect([refused.status, refused.get('Allow')]).toEqual([405, 'GET, HEAD, PUT, DELETE'])
    const { body } = await flow.open('/.well-known/oauth-authorization-server')
    expect(body).not.toHaveProperty('notes_endpoint')
  })

  test('optional authentication refuses a wrong credential, and accepts a request without one', async () => {
    const { flow } = stage({ plugins: [{ name: 'host-endpoints', endpoints: [seen({})] }] })
    const ask = (headers: Record<string, string>, fields = {}) =>
      flow.submit('/seen', { word: 'x', ...fields }, undefined, headers)
    expect((await ask({})).body).toMatchObject({ client: null, word: 'x', method: 'POST' })
    expect((await ask(asPrinter)).body).toMatchObject({ client: 'photo-print' })
    expect((await ask({}, { client_id: 'photo-book' })).body).toMatchObject({ client: 'photo-book' })
    expect(outcomeOf(await ask(withWrongSecret))).toBe('401 invalid_client')
    expect(outcomeOf(await ask({}, { client_id: 'nobody' }))).toBe('401 invalid_client')
    expect(outcomeOf(await ask({ Authorization: 'Bearer x' }))).toBe('401 invalid_client')
    expect(outcomeOf(await ask({}, { client_secret: 'x' }))).toContain('invalid_')
  })

  test('without client authentication it looks at no credentials', async () => {
    const none: Endpoint = {
      name: 'open',
      path: '/open',
      clientAuthentication: 'none',
      handle: async ({ client }) => ({
        members: { client: client ?? null },
        status: 201,
        headers: { 'X-Note': '1' },
      }),
    }
    const { flow } = stage({ plugins: [{ name: 'host-endpoints', endpoints: [none] }] })
    const response = await flow.submit('/open', {}, undefined, withWrongSecret)
    expect([response.status, response.body, response.get('X-Note')]).toEqual([201, { client: null }, '1'])
    const { body } = await flow.open('/.well-known/oauth-authorization-server')
    expect(Object.keys(body).filter((name) => name.startsWith('open_'))).toEqual(['open_endpoint'])
  })
})

/** So many lists, one in another. */
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

describe('A JSON body', () => {
  const send = (body: string | undefined, headers: Record<string, string> = {}) => {
    const { flow } = setStage({ plugins: [{ name: 'host-endpoints', endpoints: [seen({ body: 'json' })] }] })
    return flow.submit('/seen', body ?? '', undefined, { 'Content-Type': 'application/json', ...headers })
  }

  test('arrives as its value, beside a client that authenticates by a header', async () => {
    const json = { redirect_uris: ['https://a.example/'], deep: [[null, 1.5, true]] }
    const { body } = await send(JSON.stringify(json), asPrinter)
    expect(body).toEqual(expect.objectContaining({ client: 'photo-print', word: null, json }))
    expect((await send('7')).body).toMatchObject({ json: 7, client: null })
    expect((await send('{"client_id":"photo-book"}')).body).toMatchObject({ client: null })
  })

  test('may be parsed by the host before', async () => {
    const { oauth } = setStage({ plugins: [{ name: 'host-endpoints', endpoints: [seen({ body: 'json' })] }] })
    for (const parser of [express.json(), express.text({ type: '*/*' }), express.raw({ type: '*/*' })]) {
      const flow = new Flow(express().use(parser).use(oauth.router()))
      const response = await flow.submit('/seen', '{"a":1}', undefined, {
        'Content-Type': 'application/json',
      })
      expect(response.body.json).toEqual({ a: 1 })
    }
  })

  test.each<[string, string, Record<string, string>]>([
    ['is no JSON', '{"a":', {}],
    ['is a form', 'a=1', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['has another charset', '{}', { 'Content-Type': 'application/json; charset=latin1' }],
    ['is compressed', '{}', { 'Content-Encoding': 'gzip' }],
    ['is larger than 64 KiB', JSON.stringify('x'.repeat(65_536)), {}],
    ['has 33 levels', nested(33), {}],
    ['has 30 000 levels', nested(30_000), {}],
  ])('that %s is an invalid request', async (_what, body, headers) => {
    expect(outcomeOf(await send(body, headers))).toBe('400 invalid_request')
  })

  test('has up to 32 levels, also if the host has parsed it', async () => {
    expect((await send(nested(32))).body).toMatchObject({ json: JSON.parse(nested(32)) })
    const { oauth, failures } = setStage({
      plugins: [{ name: 'host-endpoints', endpoints: [seen({ body: 'json' })] }],
    })
    for (const parser of [express.json(), express.raw({ type: '*/*' })]) {
      const flow = new Flow(express().use(parser).use(oauth.router()))
      const type = { 'Content-Type': 'application/json' }
      const levels = async (count: number) =>
        outcomeOf(await flow.submit('/seen', nested(count), undefined, type))
      expect([await levels(33), await levels(30_000)]).toEqual(['400 invalid_request', '400 invalid_request'])
    }
    expect(new Set(failures.map(({ reason }) => reason))).toEqual(new Set(['body_too_deep']))
  })
})

describe("An endpoint of the host's own that fails", () => {
  const failing = (thrown: unknown, bend: Partial<Pick<Endpoint, 'errorStatus'>> = {}) => {
    const { flow, failures } = setStage({
      plugins: [
        { name: 'host-endpoints', endpoints: [{ ...whoami, ...bend, handle: () => Promise.reject(thrown) }] },
      ],
    })
    return { failures, ask: () => flow.open('/whoami', undefined, asPrinter) }
  }

  test('answers error codes of its own, with a status of its own', async () => {
    const slow = new OAuthError('slow_down', 'polled_too_fast', 'Poll less often.')
    expect(outcomeOf(await failing(slow).ask())).toBe('400 slow_down')
    const teapot = await failing(slow, { errorStatus: { slow_down: 418 } }).ask()
    expect([teapot.status, teapot.body]).toEqual([
      418,
      { error: 'slow_down', error_description: 'Poll less often.' },
    ])
  })

  test.each([
    ['invalid_client', 401],
    ['server_error', 500],
    ['temporarily_unavailable', 503],
    ['invalid_grant', 400],
  ])('answers %s with %i, unless it has a status of its own', async (code, usual) => {
    const refusal = new OAuthError(code, 'tried', 'No.')
    expect((await failing(refusal).ask()).status).toBe(usual)
    expect((await failing(refusal, { errorStatus: { [code]: 418 } }).ask()).status).toBe(418)
  })

  test('answers a failing store with 503, and only the event has the cause', async () => {
    expect(outcomeOf(await failing(temporarilyUnavailable('x', 'Later.')).ask())).toBe(
      '503 temporarily_unavailable',
    )
    const broken = failing(new Error('the database'))
    expect((await broken.ask()).text).not.toContain('database')
    expect(JSON.stringify(broken.failures.map(({ cause }) => String(cause)))).toContain('the database')
  })

  test.each([
    ['nothing', undefined],
    ['no members', {}],
    ['members that are no object', { members: 7 }],
    ['a status of an error', { members: {}, status: 400 }],
    ['a header that is no text', { members: {}, headers: { a: 7 } }],
  ])('is at fault for %s', async (_what, answer) => {
    const endpoint = { ...whoami, handle: jest.fn() }
    endpoint.handle.mockResolvedValue(answer)
    const { flow } = setStage({ plugins: [{ name: 'host-endpoints', endpoints: [endpoint] }] })
    expect(outcomeOf(await flow.open('/whoami', undefined, asPrinter))).toBe('500 server_error')
  })
})

describe('oauth.endpoint()', () => {
  test('mounts one endpoint at a path of the host, where it authenticates its clients', async () => {
    const mount: Mount = (app, oauth) => void app.get('/me', oauth.endpoint('whoami'))
    const { flow } = setStage({ plugins: [{ name: 'host-endpoints', endpoints: [whoami] }] }, { mount })
    expect((await flow.open('/me', undefined, asPrinter)).body).toHaveProperty('client_id', 'photo-print')
    expect(outcomeOf(await flow.open('/me', undefined, withWrongSecret))).toBe('401 invalid_client')
    expect((await flow.open('/whoami', undefined, asPrinter)).status).toBe(404)
  })

  test('takes the client that a strategy has proven before', async () => {
    const mount: Mount = (app, oauth) => {
      const passport = new Passport()
      for (const strategy of oauth.strategies) passport.use(strategy)
      const names = oauth.strategies.map(({ name }) => name)
      app.get('/me', passport.authenticate(names, { session: false }), oauth.endpoint('whoami'))
    }
    const { flow } = setStage({ plugins: [{ name: 'host-endpoints', endpoints: [whoami] }] }, { mount })
    expect((await flow.open('/me', undefined, asPrinter)).body).toHaveProperty('client_id', 'photo-print')
    expect(outcomeOf(await flow.open('/me', undefined, withWrongSecret))).toBe('401 invalid_client')
  })

  test('refuses a name that no endpoint has', () => {
    const { oauth } = setStage({ plugins: [{ name: 'host-endpoints', endpoints: [whoami] }] })
    expect(() => oauth.endpoint('whoarewe')).toThrow(
      'the endpoints are token, revocation, introspection, whoami',
    )
  })
})

test('A refresh with read_only gets a token that reads, and the next one gets all again', async () => {
  const { flow } = setStage({ plugins: [readOnly] })
  const { refreshToken } = await flow.tokens(photoPrint)
  const narrow = tokensOf(await flow.refresh(photoPrint, refreshToken, { read_only: 'true' }))
  expect(narrow.scope).toBe('photos:read')
  expect(tokensOf(await flow.refresh(photoPrint, narrow.refreshToken)).scope).toBe('photos:read photos:print')
})

const names = ['oauth-authorization-server', 'openid-configuration']

describe('The metadata', () => {
  test('lists refresh_token and none without resource owners only if a grant type of the host has a use for them', async () => {
    const { issuer, scopes } = canonicalOptions
    const offered = async (bend: object) => {
      const grantType = { name: 'urn:example:voucher', parameters: [], handle: jest.fn(), ...bend }
      const clients = [nightlyReport.registration]
      const oauth = createAuthorizationServer({
        issuer,
        scopes,
        clients,
        plugins: [{ name: 'host-grant-types', grantTypes: [grantType] }],
      })
      const app = express().use(oauth.router())
      const { body } = await request(app).get('/.well-known/oauth-authorization-server')
      return [
        body.grant_types_supported.includes('refresh_token'),
        body.token_endpoint_auth_methods_supported.includes('none'),
      ]
    }
    expect(await offered({})).toEqual([true, true])
    expect(await offered({ refreshTokens: false })).toEqual([false, true])
    expect(await offered({ publicClients: false })).toEqual([true, false])
    expect(await offered({ ...tokenExchange({ policy: () => undefined }).grantTypes?.[0] })).toEqual([
      false,
      true,
    ])
  })
})

describe('Below the well-known names', () => {
  const page = '<!doctype html>'
  const tree = ['http://localhost/mcp', 'http://localhost/notes/mcp'] as const
  const [mcpServer, notes] = tree
  const options = {
    ...canonicalOptions,
    resources: Object.fromEntries(tree.map((uri) => [uri, { scopes: ['photos:read'] }])),
  }

  /** A host that answers every path with the page of its application. */
  function host(issuer = 'http://localhost') {
    const oauth = createAuthorizationServer({ ...options, defaultResource: mcpServer, issuer })
    const { pathname } = new URL(issuer)
    const app = express().use(pathname, oauth.router())
    if (pathname !== '/') app.use(oauth.metadata())
    for (const uri of tree) app.use(oauth.protectedResource(uri))
    return app
  }
  const fallback = (app: express.Express) => app.use((_request, response) => void response.send(page))

  test('an unknown path is JSON, and never the page of the host', async () => {
    const app = fallback(host())
    for (const path of [
      '/.well-known/oauth-authorization-server/other',
      '/.well-known/oauth-authorization-server/',
      '/.well-known/openid-configuration/other',
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/other',
    ]) {
      const answer = await request(app).get(path).set('Origin', 'https://inspector.example')
      expect([path, answer.status, answer.type, answer.body.error]).toEqual([
        path,
        404,
        'application/json',
        'not_found',
      ])
      expect(answer.get('Access-Control-Allow-Origin')).toBe('*')
      expect(answer.get('Cache-Control')).toBe('no-store')
    }
    for (const path of [
      '/',
      '/.well-known',
      '/.well-known/oauth-authorization-serverx',
      '/.well-known/other',
    ])
      expect([path, (await request(app).get(path)).text]).toEqual([path, page])
  })

  test.each(['http://localhost', 'http://localhost/oauth'])(
    'the path of each resource leads to the metadata of the server %s, and to its own',
    async (issuer) => {
      const app = fallback(host(issuer))
      for (const uri of [mcpServer, notes]) {
        const { pathname } = new URL(uri)
        for (const name of names)
          expect((await request(app).get(`/.well-known/${name}${pathname}`)).body.issuer).toBe(issuer)
        const own = await request(app).get(`/.well-known/oauth-protected-resource${pathname}`)
        expect(own.body.resource).toBe(uri)
      }
    },
  )

  test('another server of the host answers for itself, wherever it is mounted', async () => {
    const other = createAuthorizationServer({ ...canonicalOptions, issuer: 'http://localhost/other' })
    const app = fallback(host().use('/other', other.router()).use(other.metadata()))
    for (const name of names)
      expect((await request(app).get(`/.well-known/${name}/other`)).body.issuer).toBe(
        'http://localhost/other',
      )
  })
})

test('A revocation that is mounted as a part is 503 while the store fails, so a client knows that the token still exists [revocation-4]', async () => {
  const mount: Mount = (app, oauth) => {
    app.post('/connect/forget', oauth.clientAuthentication(), oauth.revocation())
    mountAll(app, oauth)
  }
  const paths = { revocation: '/connect/forget' }
  const { flow, store } = setStage({ paths }, { mount, paths: { revoke: '/connect/forget' } })
  const { accessToken } = await flow.tokens(photoPrint)
  store.begin('fails', 'remove')
  expect(outcomeOf(await flow.revoke(photoPrint, accessToken))).toBe('503 temporarily_unavailable')
  store.recover()
  expect((await flow.revoke(photoPrint, accessToken)).text).toBe('{}')
  expect((await flow.photos(accessToken)).status).toBe(401)
})
