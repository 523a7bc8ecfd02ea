import { createServer, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { once } from 'node:events'
import { ConfigurationError, createIntrospectionGuard } from '../../lib/index'
import { application } from '../support/flows/application'
import { bent, nightlyReport, photoBook } from '../support/flows/clients'
import { introspectedPhotos, IntrospectionServer } from '../support/flows/introspection-server'
import { waitUntil } from '../support/wait-until'

const server = new IntrospectionServer()
beforeAll(() => server.start())
beforeEach(() => {
  server.reset(good)
})
afterAll(() => server.stop())

const good = {
  active: true,
  scope: 'photos:read',
  client_id: 'photo-book',
  sub: 'alice',
  token_type: 'Bearer',
  exp: 4_000_000_000,
}
const photos = (bend: Parameters<typeof introspectedPhotos>[1] = {}) =>
  introspectedPhotos(server.issuer, bend)
const withStatus = (status: number, body: object) => (response: ServerResponse) =>
  void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
const compressed = (body: object) => (response: ServerResponse) => {
  response.setHeader('Content-Encoding', 'gzip').setHeader('Content-Type', 'application/json')
  response.end(gzipSync(JSON.stringify(body)))
}
const challengeOf = (response: { get(name: string): string | string[] | undefined }) =>
  String(response.get('WWW-Authenticate'))

describe('a guard by introspection, beside the server of this package', () => {
  const origin = createServer()
  afterAll(() => {
    origin.close()
    origin.closeAllConnections()
  })

  test('admits live tokens, finds the endpoint by the metadata, and sees a revocation after maximumAge', async () => {
    const report = bent(nightlyReport, { may_introspect: true })
    const { client_id } = report.registration
    origin.listen(0, '127.0.0.1')
    await once(origin, 'listening')
    const place = origin.address()
    const issuer = `http://127.0.0.1:${place !== null && typeof place === 'object' ? place.port : 0}`
    const guarded = introspectedPhotos(issuer, { client: { client_id, client_secret: nightlyReport.secret } })
    const { app, flow } = application({
      issuer,
      clients: [photoBook, report].map(({ registration }) => registration),
      clock: guarded.clock.read,
    })
    origin.on('request', app)
    const { accessToken, refreshToken } = await flow.tokens(photoBook)
    const passed = await guarded.ask(accessToken)
    expect(passed.body).toMatchObject({ subject: 'alice', clientId: 'photo-book', tokenType: 'bearer' })
    expect((await guarded.ask(refreshToken)).status).toBe(401)
    await flow.revoke(photoBook, accessToken)
    expect((await guarded.ask(accessToken)).status).toBe(200)
    guarded.clock.advance(30)
    const revoked = await guarded.ask(accessToken)
    expect([revoked.status, revoked.body.error]).toEqual([401, 'invalid_token'])
  })
})

describe('an answer of the introspection endpoint', () => {
  const resource = 'https://photos.example/'
  test.each<[string, object, string, object?]>([
    ['active', {}, ''],
    ['active, without iss and exp, which RFC 7662 2.2 makes optional', { exp: undefined }, ''],
    ['active, of this issuer', { iss: 'this' }, ''],
    ['not active', { active: false }, 'token_invalid'],
    ['of another issuer', { iss: 'https://other.example' }, 'introspection_of_another_issuer'],
    ['expired', { exp: 1 }, 'introspection_expired'],
    ['not good yet', { nbf: 4_000_000_000 }, 'introspection_not_yet_valid'],
    ['with a beginning that is no number', { nbf: '1' }, 'introspection_incomplete'],
    ['with an end that is no number', { exp: '4000000000' }, 'introspection_incomplete'],
    ['for an audience that the guard does not know', { aud: resource }, 'introspection_of_another_audience'],
    ['for the resource', { aud: [resource, 'https://other.example'] }, '', { resource }],
    ['for another one', { aud: 'https://other.example' }, 'introspection_of_another_audience', { resource }],
    ['for no resource', {}, 'introspection_of_another_audience', { resource }],
    ['for an audience', { aud: 'photos' }, '', { audience: ['photos', 'albums'] }],
    [
      'with an audience of numbers',
      { aud: [7] },
      'introspection_of_another_audience',
      { audience: 'photos' },
    ],
    ['of the type of a JWT', { token_type: 'AT+JWT' }, ''],
    ['of no type', { token_type: undefined }, ''],
    ['bound to a key', { cnf: { jkt: 'x' } }, 'introspection_bound_to_key'],
    ['of another type', { token_type: 'DPoP' }, 'introspection_of_another_type'],
    ['without a client', { client_id: undefined }, 'introspection_incomplete'],
    ['with a list as its scope', { scope: ['photos:read'] }, 'introspection_incomplete'],
    ['with a number as its owner', { sub: 7 }, 'introspection_incomplete'],
  ])('is %s: the guard decides', async (_what, members, reason, options = {}) => {
    const { ask, guard } = photos(options)
    const refused: unknown[] = []
    guard.events.on('refused', (event) => void refused.push(event.reason))
    const iss = 'iss' in members && members.iss === 'this' ? { iss: server.issuer } : {}
    server.answer = { ...good, ...members, ...iss }
    const response = await ask('token')
    expect([response.status, refused]).toEqual(reason === '' ? [200, []] : [401, [reason]])
  })

  test('without a scope gives none', async () => {
    server.answer = { ...good, scope: undefined, sub: undefined }
    const { status, body } = await photos().ask('token')
    expect([status, body.error]).toEqual([403, 'insufficient_scope'])
  })

  test('gives a client that acts for itself no owner', async () => {
    server.answer = { ...good, sub: 'photo-book' }
    const { body } = await photos().ask('token')
    expect(body).toMatchObject({ clientId: 'photo-book' })
    expect(body).not.toHaveProperty('subject')
  })

  test('without an end is good until the guard asks again', async () => {
    server.answer = { ...good, exp: undefined }
    const { ask, now } = photos()
    expect((await ask('token')).body.expiresAt).toBe(now() + 30)
  })

  test.each<[string, typeof server.answer]>([
    ['whose active is a text', { ...good, active: 'true' }],
    ['without active', {}],
    ['that is a list', '[{"active":true}]'],
    ['that is no JSON', '{"active":tr'],
    ['with 1,000 levels', `{"active":true,"x":${'['.repeat(1000)}${']'.repeat(1000)}}`],
    ['of 300 KiB', { ...good, more: 'x'.repeat(300 * 1024) }],
    ['of 1 MiB that fits into 2 KiB', compressed({ ...good, more: 'x'.repeat(1024 * 1024) })],
    ['in HTML', (response) => void response.setHeader('Content-Type', 'text/html').end('<p>active</p>')],
    ['of status 500', (response) => void response.writeHead(500).end()],
    [
      'that redirects',
      (response) => void response.writeHead(302, { Location: `${server.issuer}/moved` }).end(),
    ],
    ['that is cut off', (response) => void response.destroy()],
    ['that never comes', () => undefined],
    ['that never ends', (response) => void response.setHeader('Content-Type', 'application/json').write('{')],
  ])('%s is a 503, and never says that the token is bad', async (_what, answer) => {
    server.answer = answer
    const { ask, failures } = photos({ introspectionDeadline: 0.2 })
    const response = await ask('token')
    expect([response.status, response.get('Retry-After')]).toEqual([503, expect.any(String)])
    expect(response.get('WWW-Authenticate')).toBeUndefined()
    expect(failures).toMatchObject([{ reason: 'introspection_unavailable', cause: expect.anything() }])
    expect(server.asked).toHaveLength(1)
  })

  test.each<[number, object]>([
    [401, {}],
    [403, {}],
    [400, { error: 'invalid_client' }],
    [400, { error: 'unauthorized_client' }],
  ])('%i with %j refuses the credentials of the guard: 503 and an event', async (status, body) => {
    server.answer = withStatus(status, body)
    const { ask, failures } = photos()
    expect((await ask('token')).status).toBe(503)
    expect(failures).toMatchObject([{ reason: 'introspection_not_authorized' }])
    expect(JSON.stringify(failures)).not.toMatch(/a secret|a%20secret|token=/)
  })
})

describe('the caches of the guard', () => {
  test('answer for maximumAge and no longer than the token lives, and still check the scope', async () => {
    const { ask, clock, now } = photos({ clockTolerance: 0 })
    server.answer = { ...good, exp: now() + 20 }
    await ask('token')
    clock.advance(19)
    expect((await ask('token')).status).toBe(200)
    expect((await ask('token', '/print')).body.error).toBe('insufficient_scope')
    expect(server.asked).toHaveLength(1)
    clock.advance(1)
    expect((await ask('token')).status).toBe(401)
    expect(server.asked).toHaveLength(2)
  })

  test('keep what is not good for a short time, in a room of its own', async () => {
    const { ask, clock } = photos({ maximumCached: 2 })
    await ask('good')
    server.answer = { active: false }
    for (const token of ['a', 'b', 'c', 'c']) expect((await ask(token)).status).toBe(401)
    expect(server.asked).toHaveLength(4)
    expect((await ask('good')).status).toBe(200)
    clock.advance(5)
    server.answer = good
    expect((await ask('c')).status).toBe(200)
  })

  test('do not count answers from the future, of a clock that was ahead', async () => {
    const { ask, clock } = photos()
    await ask('token')
    clock.advance(-60)
    server.answer = { active: false }
    expect((await ask('token')).status).toBe(401)
    // The time of the former answer comes, and the token has ended since.
    clock.advance(60)
    expect((await ask('token')).status).toBe(401)
  })

  test('hold maximumCached answers, and ask again about others', async () => {
    const { ask } = photos({ maximumCached: 1 })
    for (const token of ['a', 'b', 'a', 'a']) expect((await ask(token)).status).toBe(200)
    server.answer = { active: false }
    for (const token of ['x', 'y', 'x', 'x']) expect((await ask(token)).status).toBe(401)
    expect(server.asked).toHaveLength(6)
  })

  test('give every request the same frozen access', async () => {
    const { app, guard, ask } = photos()
    server.answer = { ...good, roles: { admin: false } }
    app.get('/change', guard('photos:read'), (request, response) => {
      const { oauth } = request
      const claims = oauth !== undefined && 'claims' in oauth ? oauth.claims : {}
      response.json([oauth, claims, claims['roles']].every((value) => Object.isFrozen(value)))
    })
    for (let call = 0; call < 2; call++) expect((await ask('token', '/change')).body).toBe(true)
  })

  test('share one call among parallel requests with one token', async () => {
    const { ask } = photos()
    const waiting: (() => void)[] = []
    server.answer = (response) => {
      waiting.push(() => response.setHeader('Content-Type', 'application/json').end(JSON.stringify(good)))
    }
    const asked = Array.from({ length: 20 }, () => ask('token'))
    await waitUntil('the endpoint is asked', async () => waiting.length > 0)
    for (const answer of waiting) answer()
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(server.asked).toHaveLength(1)
  })

  test('count one shared call once, from whichever networks its requests come', async () => {
    const { ask } = photos({ limits: { inactive: { attempts: 1, seconds: 60 } } })
    const waiting: (() => void)[] = []
    server.answer = (response) => void waiting.push(() => withStatus(200, { active: false })(response))
    const asked = Array.from({ length: 6 }, (_, index) => ask('token', '/photos', `192.0.2.${index % 2}`))
    await waitUntil('the endpoint is asked', async () => waiting.length > 0)
    for (const answer of waiting) answer()
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([401]))
  })
})

describe('the bounds of the guard', () => {
  const limits = { inactive: { attempts: 3, seconds: 60 } }

  test('answer 429 to a network that sends tokens that are not good, and cached ones pass', async () => {
    const { ask, clock } = photos({ limits })
    await ask('good')
    server.answer = { active: false }
    for (const token of ['a', 'b', 'c']) expect((await ask(token)).status).toBe(401)
    const limited = await ask('d')
    expect([limited.status, Number(limited.get('Retry-After')) > 0]).toEqual([429, true])
    expect(limited.get('WWW-Authenticate')).toBeUndefined()
    expect(server.asked).toHaveLength(4)
    expect((await ask('good')).status).toBe(200)
    expect((await ask('e', '/photos', '192.0.2.2')).status).toBe(401)
    clock.advance(60)
    expect((await ask('f')).status).toBe(401)
  })

  test('count parallel calls when they begin', async () => {
    const { ask } = photos({ limits })
    server.answer = { active: false }
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => ask(`t${index}`)))
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(9)
    expect(server.asked).toHaveLength(3)
  })

  test('count no good tokens, and no calls without an answer', async () => {
    const { ask } = photos({ limits })
    for (const token of ['a', 'b', 'c', 'd']) expect((await ask(token)).status).toBe(200)
    server.answer = (response) => void response.destroy()
    for (const token of ['e', 'f', 'g', 'h']) expect((await ask(token)).status).toBe(503)
  })

  test('count a call that fails with a status for its sender alone', async () => {
    const { ask } = photos({ limits })
    server.answer = (response) => void response.writeHead(500).end()
    for (const token of ['a', 'b', 'c']) expect((await ask(token)).status).toBe(503)
    expect((await ask('d')).status).toBe(429)
    expect((await ask('d', '/photos', '192.0.2.2')).status).toBe(503)
  })

  test('take no token that was good before for a guess, and no good one waits behind expired ones', async () => {
    const { ask, clock } = photos({ limits, maximumAge: 5, maximumAgeOfRefusals: 0 })
    const expired = ['a', 'b', 'c', 'd', 'e']
    for (const token of expired) expect((await ask(token)).status).toBe(200)
    clock.advance(6)
    server.answer = { active: false }
    for (let round = 0; round < 2; round++)
      for (const token of expired) expect((await ask(token)).status).toBe(401)
    server.answer = good
    expect((await ask('new')).status).toBe(200)
  })

  // A filter in front of the server, which refuses some texts, or answers them with a page.
  test.each<[string, (response: ServerResponse) => void]>([
    ['403', withStatus(403, {})],
    ['502', withStatus(502, {})],
    ['a page', (response) => void response.setHeader('Content-Type', 'text/html').end('No.')],
  ])('let good tokens pass while a filter answers %s to texts of strangers', async (_, filter) => {
    for (const known of [['first'], []]) {
      const { ask } = photos()
      for (const token of known) await ask(token)
      server.answer = (response) => {
        const isJunk = server.asked.at(-1)?.form.get('token')?.startsWith('junk')
        return (isJunk ? filter : withStatus(200, good))(response)
      }
      for (let turn = 0; turn < 8; turn++) {
        expect((await ask(`junk${turn}`, '/photos', `192.0.2.${turn % 4}`)).status).toBe(503)
        expect((await ask(`good${turn}`, '/photos', '192.0.2.200')).status).toBe(200)
      }
      for (let turn = 8; turn < 12; turn++)
        expect((await ask(`junk${turn}`, '/photos', `192.0.2.${turn % 4}`)).status).toBe(503)
      expect((await ask('good', '/photos', '192.0.2.200')).status).toBe(200)
      server.answer = good
    }
  })

  test('try again with a token that was good, also if all that come are no good', async () => {
    const { ask, clock } = photos()
    await ask('good')
    server.answer = (response) => void response.destroy()
    for (let call = 0; call < 6; call++) expect((await ask(`t${call}`)).status).toBe(503)
    server.answer = (response) => {
      const isJunk = server.asked.at(-1)?.form.get('token')?.startsWith('junk')
      return withStatus(isJunk ? 403 : 200, good)(response)
    }
    clock.advance(10)
    expect((await ask('junk')).status).toBe(503)
    expect((await ask('other')).status).toBe(200)
  })

  test('stop calls after five failures, and let one through every ten seconds', async () => {
    const { ask, clock } = photos()
    await ask('good')
    server.answer = (response) => void response.writeHead(500).end()
    for (let call = 0; call < 7; call++) expect((await ask(`t${call}`)).status).toBe(503)
    expect(server.asked).toHaveLength(6)
    expect((await ask('good')).status).toBe(200)
    clock.advance(10)
    const probes = await Promise.all([ask('x'), ask('y'), ask('z')])
    expect(probes.map(({ status }) => status)).toEqual([503, 503, 503])
    expect(server.asked).toHaveLength(7)
    server.answer = good
    clock.advance(10)
    expect((await ask('x')).status).toBe(200)
    expect((await ask('y')).status).toBe(200)
  })

  test('count no request that is refused without a call', async () => {
    const { ask } = photos({ limits })
    server.answer = (response) => void response.destroy()
    for (let call = 0; call < 12; call++) expect((await ask(`t${call}`)).status).toBe(503)
    expect(server.asked).toHaveLength(5)
  })

  test('answer 503 while the credentials are refused, and let cached tokens pass', async () => {
    const { ask, clock, failures } = photos()
    await ask('good')
    server.answer = withStatus(401, { error: 'invalid_client' })
    for (let call = 0; call < 12; call++) expect((await ask(`t${call}`)).status).toBe(503)
    expect((await ask('good')).status).toBe(200)
    // A server may lock a client that fails too often.
    expect(server.asked).toHaveLength(6)
    expect(failures[0]).toMatchObject({ reason: 'introspection_not_authorized' })
    server.answer = good
    clock.advance(10)
    expect((await ask('t0')).status).toBe(200)
  })

  test('count tokens that the endpoint refuses to look at, and never stop calls about others', async () => {
    const { ask, failures } = photos({ limits: { inactive: { attempts: 8, seconds: 60 } } })
    server.answer = withStatus(400, { error: 'invalid_request' })
    for (let call = 0; call < 8; call++) expect((await ask(`strange${call}`)).status).toBe(503)
    expect((await ask('strange8')).status).toBe(429)
    expect(new Set(failures.map(({ reason }) => reason))).toEqual(
      new Set(['introspection_unavailable', 'introspection_limited']),
    )
    server.answer = good
    expect((await ask('token', '/photos', '192.0.2.2')).status).toBe(200)
  })

  test('take a token of a type that the endpoint does not support for one that is not active', async () => {
    const { ask } = photos({ limits })
    server.answer = withStatus(400, { error: 'unsupported_token_type' })
    for (const token of ['a', 'a', 'b', 'c']) expect((await ask(token)).status).toBe(401)
    expect(server.asked).toHaveLength(3)
    expect((await ask('d')).status).toBe(429)
  })

  test('refuse a token of more than 8192 characters without a call', async () => {
    expect((await photos().ask('x'.repeat(8193))).status).toBe(401)
    expect(server.asked).toHaveLength(0)
  })
})

describe('the credentials of the guard', () => {
  const client = { client_id: 'photo server', client_secret: 'a:b+c%ä' }

  test('are form-encoded in HTTP Basic [RFC 6749 2.3.1]', async () => {
    await photos({ client }).ask('token')
    const [asked] = server.asked
    expect(Buffer.from(String(asked?.authorization).slice('Basic '.length), 'base64').toString()).toBe(
      'photo+server:a%3Ab%2Bc%25%C3%A4',
    )
    expect(Object.fromEntries(asked?.form ?? [])).toEqual({ token: 'token', token_type_hint: 'access_token' })
  })

  test.each<[string, object, object]>([
    ['the option names', {}, { client: { ...client, method: 'client_secret_post' as const } }],
    [
      'the metadata name alone',
      { introspection_endpoint_auth_methods_supported: ['client_secret_post'] },
      { client },
    ],
  ])('go into the body if that is the method which %s', async (_who, metadata, options) => {
    server.metadata = metadata
    await photos(options).ask('token')
    expect(server.asked[0]?.authorization).toBeUndefined()
    expect(Object.fromEntries(server.asked[0]?.form ?? [])).toMatchObject(client)
  })
})

describe('the endpoint', () => {
  test.each<[string, object]>([
    ['of another issuer [RFC 8414 3.3]', { issuer: 'https://other.example' }],
    ['without an endpoint', { introspection_endpoint: undefined }],
    ['with an endpoint of plain HTTP', { introspection_endpoint: 'http://photos.example/introspect' }],
  ])('is not found in metadata %s: 503, and the next request looks again', async (_what, metadata) => {
    server.metadata = metadata
    const { ask, guard } = photos()
    expect([(await ask('token')).status, await guard.ready()]).toEqual([503, false])
    server.metadata = {}
    expect([(await ask('token')).status, await guard.ready()]).toEqual([200, true])
  })

  test('is found where OpenID Connect Discovery has it, if RFC 8414 names none', async () => {
    server.openId = true
    expect((await photos().ask('token')).status).toBe(200)
    server.metadata = { issuer: 'https://other.example' }
    expect((await photos().ask('token')).status).toBe(503)
  })

  test('is looked up once for parallel first requests', async () => {
    const { ask } = photos()
    await Promise.all(['a', 'b', 'c'].map((token) => ask(token)))
    expect(server.lookedUp).toBe(1)
  })

  test('that moves is followed: at once if the former place fails, and after ten minutes anyway', async () => {
    const { ask, clock } = photos({ maximumAge: 0, maximumAgeOfRefusals: 0 })
    await ask('token')
    server.move('/tokens/check')
    clock.advance(11)
    expect((await ask('token')).status).toBe(503)
    await waitUntil('the guard asks at the new place', async () => (await ask('token')).status === 200)
    expect(server.lookedUp).toBe(2)
    // The former place of a server may go on to answer that no token is active.
    server.move('/tokens/other', { active: false })
    expect((await ask('token')).status).toBe(401)
    clock.advance(600)
    await waitUntil('the guard has looked again', async () => (await ask('token')).status === 200)
  })

  test('is not looked up again within ten seconds, and stays known while the metadata are away', async () => {
    const { ask, clock } = photos({ maximumAge: 0 })
    await ask('token')
    server.metadata = { introspection_endpoint: 'http://photos.example/introspect' }
    server.answer = withStatus(500, {})
    for (const token of ['a', 'b', 'c']) expect((await ask(token)).status).toBe(503)
    expect(server.lookedUp).toBe(1)
    clock.advance(10)
    expect((await ask('d')).status).toBe(503)
    await waitUntil('the guard has looked again', async () => server.lookedUp === 2)
    server.answer = good
    expect((await ask('token')).status).toBe(200)
  })

  test('of the option needs no metadata', async () => {
    server.metadata = { issuer: 'https://other.example' }
    const { ask, guard } = photos({ endpoint: server.endpoint })
    expect((await ask('token')).status).toBe(200)
    await guard.close()
    expect([(await ask('token')).status, await guard.ready()]).toEqual([503, false])
  })
})

test('a challenge names the metadata of the resource, which the guard serves', async () => {
  const resource = 'https://photos.example/api'
  const { app, guard, ask } = photos({ resource, guards: { realm: 'photos' } })
  app.use(guard.protectedResource())
  server.answer = { active: false }
  expect(challengeOf(await ask('token'))).toBe(
    'Bearer realm="photos", scope="photos:read", error="invalid_token", error_description="The access token is unknown, expired or revoked.", resource_metadata="https://photos.example/.well-known/oauth-protected-resource/api"',
  )
})

test('every mistake in the options has its path', () => {
  const make = () =>
    Reflect.apply(createIntrospectionGuard, undefined, [
      {
        issuer: 'http://photos.example',
        client: { client_id: '', client_secret: 7, method: 'none', more: 1 },
        endpoint: 'http://photos.example/introspect',
        audience: [],
        resource: 'photos',
        maximumAge: -1,
        maximumCached: 0,
        maximumAgeOfRefusals: 301,
        clockTolerance: 1.5,
        introspectionDeadline: 61,
        limits: { inactive: { attempts: 0 } },
        store: {},
      },
    ])
  let thrown: unknown
  try {
    make()
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(ConfigurationError)
  const issues = thrown instanceof ConfigurationError ? thrown.issues : []
  expect(issues.map(({ path }) => path).toSorted()).toEqual(
    [
      'audience',
      'client.client_id',
      'client.client_secret',
      'client.method',
      'client.more',
      'clockTolerance',
      'endpoint',
      'introspectionDeadline',
      'issuer',
      'limits.inactive.attempts',
      'maximumAge',
      'maximumAgeOfRefusals',
      'maximumCached',
      'resource',
      'store',
    ].toSorted(),
  )
})
