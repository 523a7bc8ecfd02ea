import { createIntrospectionGuard, type IntrospectionGuardOptions } from '../../lib/index'
import { recordEvents } from '../support/events'
import { introspectedPhotos, IntrospectionServer } from '../support/flows/introspection-server'
import { rawRequest } from '../support/flows/raw-request'
import { authority, httpsOrigin } from '../support/https-origin'

const server = new IntrospectionServer()
beforeAll(() => server.start())
afterAll(() => server.stop())
beforeEach(() => {
  server.asked.length = 0
  server.metadata = {}
  server.answer = good
})

const good = { active: true, client_id: 'photo-book', sub: 'alice', scope: 'photos:read', exp: 4e9 }
const client = { client_id: 'photo-server', client_secret: 'a secret' }
const photos = (bend: Partial<IntrospectionGuardOptions> = {}) => introspectedPhotos(server.issuer, bend)
const resource = 'https://photos.example/api'

test('[ITG-1] the guard asks by POST with a form, and the token stands in no URL', async () => {
  expect((await photos().ask('2YotnFZFEjr1zCsicMWpAA')).status).toBe(200)
  expect(server.asked).toMatchObject([
    { method: 'POST', url: '/introspect', contentType: 'application/x-www-form-urlencoded;charset=UTF-8' },
  ])
  expect(Object.fromEntries(server.asked[0]?.form ?? [])).toEqual({
    token: '2YotnFZFEjr1zCsicMWpAA',
    token_type_hint: 'access_token',
  })
})

test.each(['client_secret_basic', 'client_secret_post'] as const)(
  '[ITG-2] the guard authenticates as itself by %s, and never by what the request carries',
  async (method) => {
    const { app } = photos({ client: { ...client, method } })
    const headers = ['Authorization', 'Bearer token', 'Cookie', 'a=b', 'X-Forwarded-For', '192.0.2.1']
    await rawRequest(app, { method: 'GET', path: '/photos?client_id=mallory&client_secret=x', headers })
    const [asked] = server.asked
    const inHeader = `Basic ${Buffer.from('photo-server:a+secret').toString('base64')}`
    expect([asked?.authorization, asked?.form.get('client_id'), asked?.form.get('client_secret')]).toEqual(
      method === 'client_secret_basic'
        ? [inHeader, null, null]
        : [undefined, client.client_id, client.client_secret],
    )
  },
)

test.each(['http://auth.example', 'http://10.0.0.1', 'ftp://auth.example'])(
  '[ITG-3] the endpoint has TLS, or is on loopback: %s is refused at construction',
  (origin) => {
    const make = (options: object) => () =>
      createIntrospectionGuard({ issuer: server.issuer, client, ...options })
    expect(make({ endpoint: `${origin}/introspect` })).toThrow(/endpoint must/)
    expect(make({ issuer: origin })).toThrow(/issuer must/)
    expect(make({ endpoint: 'https://auth.example/introspect' })).not.toThrow()
  },
)

test('[ITG-3] an endpoint of plain HTTP in the metadata is refused, and gets no token', async () => {
  server.metadata = { introspection_endpoint: server.endpoint.replace('127.0.0.1', '0.0.0.0') }
  expect((await photos().ask('token')).status).toBe(503)
  expect(server.asked).toEqual([])
})

test('[ITG-3] a server without a certificate of a trusted authority gets no token', async () => {
  let requests = 0
  const origin = await httpsOrigin(authority.issue(['127.0.0.1']), (_request, response) => {
    requests += 1
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(good))
  })
  const { ask } = photos({ endpoint: `https://127.0.0.1:${origin.port}/introspect` })
  expect([(await ask('token')).status, requests, origin.connections()]).toEqual([503, 0, 1])
  await origin.close()
})

test('[ITG-4] the endpoint is that of the metadata, whose issuer is the same', async () => {
  server.metadata = { issuer: 'https://other.example' }
  expect((await photos().ask('token')).status).toBe(503)
  expect(server.asked).toEqual([])
  server.metadata = {}
  expect((await photos().ask('token')).status).toBe(200)
})

test.each([301, 302, 303, 307, 308])(
  '[ITG-5] a redirect %i takes token and secret nowhere',
  async (status) => {
    server.answer = (response) => {
      response.writeHead(status, { Location: `${server.issuer}/elsewhere` }).end()
    }
    expect((await photos().ask('token')).status).toBe(503)
    expect(server.asked.map(({ url }) => url)).toEqual(['/introspect'])
  },
)

test.each<[unknown, number]>([
  [true, 200],
  [false, 401],
  ['true', 503],
  [1, 503],
  [null, 503],
  [undefined, 503],
  [{}, 503],
])('[ITG-6] active is the Boolean true: %j is answered by %i', async (active, status) => {
  server.answer = { ...good, active }
  expect((await photos().ask('token')).status).toBe(status)
})

test('[ITG-6] a member that the answer only inherits is none', async () => {
  server.answer = '{"__proto__":{"active":true,"client_id":"photo-book","scope":"photos:read"}}'
  expect((await photos().ask('token')).status).toBe(503)
})

test('[ITG-7] a token that is not active is invalid_token, and its answer says no more', async () => {
  server.answer = { ...good, active: false }
  const response = await photos().ask('token')
  expect([response.status, response.body.error]).toEqual([401, 'invalid_token'])
  expect(response.get('WWW-Authenticate')).toContain('error="invalid_token"')
  expect(response.text).not.toContain('alice')
})

/** The reason why a guard refuses the answer with these members; undefined if it does not. */
async function reasonFor(members: object, options: Partial<IntrospectionGuardOptions> = {}) {
  server.answer = { ...good, ...members }
  const { ask, failures } = photos(options)
  const { status } = await ask('token')
  expect(status).toBe(failures.length === 0 ? 200 : 401)
  return failures[0]?.reason
}
const now = () => Math.floor(Date.now() / 1000)

test('[ITG-8] exp has not passed, and nbf has, but for a few seconds', async () => {
  expect(await reasonFor({ exp: now() - 60 })).toBe('introspection_expired')
  expect(await reasonFor({ nbf: now() + 60 })).toBe('introspection_not_yet_valid')
  expect(await reasonFor({ exp: now() + 60, nbf: now() - 60 })).toBeUndefined()
  expect(await reasonFor({ exp: undefined })).toBeUndefined()
  expect(await reasonFor({ nbf: now() + 2 })).toBeUndefined()
})

test('[ITG-9] iss is the issuer of the guard, letter by letter, where it is there', async () => {
  const of = 'introspection_of_another_issuer'
  for (const iss of [
    'https://other.example',
    `${server.issuer}/`,
    server.issuer.toUpperCase(),
    [server.issuer],
  ])
    expect([iss, await reasonFor({ iss })]).toEqual([iss, of])
  expect(await reasonFor({ iss: server.issuer })).toBeUndefined()
  for (const iss of [undefined, null]) expect(await reasonFor({ iss })).toBeUndefined()
})

test('[ITG-10] aud names the resource of the guard: a token for another or for none is refused', async () => {
  const of = 'introspection_of_another_audience'
  for (const aud of ['https://other.example', `${resource}/`, [], undefined, null, 7, { 0: resource }])
    expect([aud, await reasonFor({ aud }, { resource })]).toEqual([aud, of])
  for (const aud of [resource, ['https://other.example', resource]])
    expect([aud, await reasonFor({ aud }, { resource })]).toEqual([aud, undefined])
  expect(await reasonFor({ aud: resource })).toBe(of)
})

test('[ITG-11] scope is a text of scope values, and decides, from the cache too', async () => {
  for (const scope of [['photos:read'], 7, 'photos:read  photos:print', 'photos:"read"'])
    expect([scope, await reasonFor({ scope })]).toEqual([scope, 'introspection_incomplete'])
  server.answer = good
  server.asked.length = 0
  const { ask } = photos()
  for (let round = 1; round <= 2; round++) {
    expect((await ask('token')).status).toBe(200)
    const refused = await ask('token', '/print')
    expect([refused.status, refused.body.error]).toEqual([403, 'insufficient_scope'])
  }
  expect(server.asked).toHaveLength(1)
})

test('[ITG-12] a token that is bound to a key, or of another type, is no bearer token', async () => {
  for (const cnf of [{ jkt: 'x' }, { 'x5t#S256': 'x' }, {}, [], 'x'])
    expect([cnf, await reasonFor({ cnf })]).toEqual([cnf, 'introspection_bound_to_key'])
  for (const token_type of ['DPoP', 'mac', 'N_A', '', ['Bearer']])
    expect([token_type, await reasonFor({ token_type })]).toEqual([
      token_type,
      'introspection_of_another_type',
    ])
  for (const token_type of ['Bearer', 'bearer', undefined, null])
    expect([token_type, await reasonFor({ token_type })]).toEqual([token_type, undefined])
})

test('[ITG-13] times are numbers, and client and owner are texts', async () => {
  for (const members of [
    { exp: '4000000000' },
    { exp: [4000000000] },
    { nbf: '1' },
    { client_id: undefined },
    { client_id: '' },
    { client_id: 7 },
    { sub: 7 },
    { sub: '' },
  ])
    expect([members, await reasonFor(members)]).toEqual([members, 'introspection_incomplete'])
  // Some servers write null for what a token does not have.
  for (const none of [undefined, null])
    expect(await reasonFor({ sub: none, exp: none, nbf: none })).toBeUndefined()
})

test('[ITG-13] sub of a client that acts for itself is no owner', async () => {
  server.answer = { ...good, sub: 'photo-book' }
  const { body } = await photos().ask('token')
  expect([body.clientId, body.subject]).toEqual(['photo-book', undefined])
})

test('[ITG-14] no answer is kept beyond the exp in it', async () => {
  const { ask, clock, now: seconds } = photos({ maximumAge: 3600, clockTolerance: 300 })
  server.answer = { ...good, exp: seconds() + 20 }
  await ask('token')
  clock.advance(19)
  await ask('token')
  expect(server.asked).toHaveLength(1)
  clock.advance(1)
  await ask('token')
  expect(server.asked).toHaveLength(2)
})

test('[ITG-15] a revocation counts after 30 seconds, or after maximumAge; with 0 at once', async () => {
  for (const [options, age] of [
    [{}, 30],
    [{ maximumAge: 7 }, 7],
    [{ maximumAge: 0 }, 0],
  ] as const) {
    const { ask, clock } = photos(options)
    server.answer = good
    expect((await ask('token')).status).toBe(200)
    server.answer = { active: false }
    clock.advance(Math.max(0, age - 1))
    expect((await ask('token')).status).toBe(age === 0 ? 401 : 200)
    clock.advance(1)
    expect((await ask('token')).status).toBe(401)
  }
})

test('[ITG-16] the answer that a token is not good is kept for a few seconds, and pushes out no good one', async () => {
  const { ask, clock } = photos({ maximumCached: 2 })
  await ask('good')
  server.answer = { active: false }
  for (const token of ['a', 'b', 'c', 'c', 'c']) await ask(token)
  expect(server.asked).toHaveLength(4)
  expect((await ask('good')).status).toBe(200)
  server.answer = good
  expect((await ask('c')).status).toBe(401)
  clock.advance(5)
  expect((await ask('c')).status).toBe(200)
})

test('[ITG-17] calls about tokens that are not good are bounded for each network', async () => {
  const { ask } = photos({ limits: { inactive: { attempts: 3, seconds: 60 } } })
  await ask('good')
  server.answer = { active: false }
  const guesses = await Promise.all(Array.from({ length: 20 }, (_, index) => ask(`guess-${index}`)))
  expect(guesses.filter(({ status }) => status === 401)).toHaveLength(3)
  expect(guesses.filter(({ status }) => status === 429)).toHaveLength(17)
  expect(server.asked).toHaveLength(4)
  expect((await ask('good')).status).toBe(200)
  expect((await ask('other', '/photos', '198.51.100.7')).status).toBe(401)
})

test('[ITG-17] without an option the bound is 60 in a minute', async () => {
  const { ask } = photos()
  server.answer = { active: false }
  const guesses = await Promise.all(Array.from({ length: 61 }, (_, index) => ask(`guess-${index}`)))
  expect(guesses.filter(({ status }) => status === 429)).toHaveLength(1)
})

test.each([400, 401, 403])(
  '[ITG-18] %i says that the guard may not ask, and nothing about the token',
  async (status) => {
    server.answer = (response) => {
      response.writeHead(status, { 'Content-Type': 'application/json' }).end('{"error":"invalid_client"}')
    }
    const { ask, failures } = photos()
    const response = await ask('token')
    expect([response.status, response.get('WWW-Authenticate')]).toEqual([503, undefined])
    expect(failures).toMatchObject([
      { reason: 'introspection_not_authorized', code: 'temporarily_unavailable' },
    ])
  },
)

test.each<[string, typeof server.answer]>([
  ['no JSON', '{"active":tr'],
  ['a list', '[{"active":true}]'],
  [
    'another type',
    (response) => void response.setHeader('Content-Type', 'text/plain').end('{"active":true}'),
  ],
  ['more than 256 KiB', { ...good, more: 'x'.repeat(300_000) }],
  ['status 500', (response) => void response.writeHead(500).end()],
  ['status 204', (response) => void response.writeHead(204).end()],
  ['nothing', () => undefined],
  ['an end in the middle', (response) => void response.writeHead(200, { 'Content-Length': 99 }).destroy()],
])('[ITG-19] an answer of %s is 503 with Retry-After, and no challenge', async (_what, answer) => {
  server.answer = answer
  const response = await photos({ introspectionDeadline: 0.2 }).ask('token')
  expect([response.status, response.get('WWW-Authenticate')]).toEqual([503, undefined])
  expect(Number(response.get('Retry-After'))).toBeGreaterThan(0)
})

test('[ITG-20] no event and no answer of a failure contains the token or the secret', async () => {
  const token = 'mF_9.B5f-4.1JqM'
  const { ask, guard } = photos({ introspectionDeadline: 0.2 })
  const events = recordEvents(guard.events)
  const texts: string[] = []
  for (const answer of [
    { active: false, token },
    { ...good, iss: token },
    `{"active":"${token}`,
    { active: token },
    (response: Parameters<Extract<typeof server.answer, (...words: never) => void>>[0]) => {
      response.writeHead(401).end(token)
    },
    () => undefined,
  ] satisfies (typeof server.answer)[]) {
    server.answer = answer
    const { text, headers } = await ask(`${token}${texts.length}`)
    texts.push(text + JSON.stringify(headers))
  }
  expect(events).toHaveLength(6)
  const causes = events.map((event) => ('cause' in event ? chainOf(event.cause) : ''))
  const said = [...texts, ...causes, JSON.stringify(events)].join('\n')
  for (const secret of [
    token,
    client.client_secret,
    'a+secret',
    Buffer.from('photo-server:a+secret').toString('base64'),
  ])
    expect(said).not.toContain(secret)
})

/** An error with its causes, as a log prints it. */
function chainOf(error: unknown): string {
  return error instanceof Error ? `${error.stack ?? error.message}\n${chainOf(error.cause)}` : ''
}
