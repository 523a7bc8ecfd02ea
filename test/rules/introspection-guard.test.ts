import { gzipSync } from 'node:zlib'
import { createBearerGuard, type IntrospectionSource } from '../../lib/paths/guards'
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
const photos = (bend: Partial<IntrospectionSource> = {}) => introspectedPhotos(server.issuer, bend)
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
    const make =
      (options: object, issuer = server.issuer) =>
      () =>
        createBearerGuard({ issuer, introspection: { client, ...options } })
    expect(make({ endpoint: `${origin}/introspect` })).toThrow(/endpoint must/)
    expect(make({}, origin)).toThrow(/issuer must/)
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

const now = () => Math.floor(Date.now() / 1000)
const [expired, notYet] = ['token_expired', 'token_not_yet_valid']
const otherIssuer = 'token_issuer_unknown'
const otherAudience = 'token_resource'
const incomplete = 'token_incomplete'
const bound = 'token_bound_to_key'
const otherType = 'token_of_another_kind'
const forResource = { audience: resource }

// A good answer with some members changed, and the reason why the guard refuses it.
test.each<[title: string, members: object | (() => object), reason: string | undefined, options?: object]>([
  ['[ITG-8] exp has passed', () => ({ exp: now() - 60 }), expired],
  ['[ITG-8] nbf is to come', () => ({ nbf: now() + 60 }), notYet],
  ['[ITG-8] nbf is to come within the tolerance', () => ({ nbf: now() + 2 }), undefined],
  ['[ITG-8] exp is to come, nbf has passed', () => ({ exp: now() + 60, nbf: now() - 60 }), undefined],
  ['[ITG-8] no exp', { exp: undefined }, undefined],
  ['[ITG-9] another issuer', { iss: 'https://other.example' }, otherIssuer],
  ['[ITG-9] the issuer with a slash', () => ({ iss: `${server.issuer}/` }), otherIssuer],
  ['[ITG-9] the issuer in capitals', () => ({ iss: server.issuer.toUpperCase() }), otherIssuer],
  ['[ITG-9] a list of issuers', () => ({ iss: [server.issuer] }), otherIssuer],
  ['[ITG-9] the issuer', () => ({ iss: server.issuer }), undefined],
  ['[ITG-9] no issuer', { iss: null }, undefined],
  ['[ITG-10] another audience', { aud: 'https://other.example' }, otherAudience, forResource],
  ['[ITG-10] the audience with a slash', { aud: `${resource}/` }, otherAudience, forResource],
  ['[ITG-10] an empty list', { aud: [] }, otherAudience, forResource],
  ['[ITG-10] no audience', { aud: undefined }, otherAudience, forResource],
  ['[ITG-10] null', { aud: null }, otherAudience, forResource],
  ['[ITG-10] an object', { aud: { 0: resource } }, otherAudience, forResource],
  ['[ITG-10] the resource', { aud: resource }, undefined, forResource],
  ['[ITG-10] the resource in a list', { aud: ['https://other.example', resource] }, undefined, forResource],
  ['[ITG-10] an audience at a guard without a resource', { aud: resource }, otherAudience],
  ['[ITG-11] a list of scopes', { scope: ['photos:read'] }, incomplete],
  ['[ITG-11] a number', { scope: 7 }, incomplete],
  ['[ITG-11] two spaces', { scope: 'photos:read  photos:print' }, incomplete],
  ['[ITG-11] a quotation mark', { scope: 'photos:"read"' }, incomplete],
  ['[ITG-12] a key', { cnf: { jkt: 'x' } }, bound],
  ['[ITG-12] a certificate', { cnf: { 'x5t#S256': 'x' } }, bound],
  ['[ITG-12] an empty confirmation', { cnf: {} }, bound],
  ['[ITG-12] a confirmation that is none', { cnf: 'x' }, bound],
  ['[ITG-12] the type DPoP', { token_type: 'DPoP' }, otherType],
  ['[ITG-12] the type N_A', { token_type: 'N_A' }, otherType],
  ['[ITG-12] an empty type', { token_type: '' }, otherType],
  ['[ITG-12] a list of types', { token_type: ['Bearer'] }, otherType],
  ['[ITG-12] the type bearer', { token_type: 'bearer' }, undefined],
  ['[ITG-12] no type', { token_type: null }, undefined],
  ['[ITG-13] exp as a text', { exp: '4000000000' }, incomplete],
  ['[ITG-13] exp as a list', { exp: [4000000000] }, incomplete],
  ['[ITG-13] nbf as a text', { nbf: '1' }, incomplete],
  ['[ITG-13] no client', { client_id: undefined }, incomplete],
  ['[ITG-13] an empty client', { client_id: '' }, incomplete],
  ['[ITG-13] a number as client', { client_id: 7 }, incomplete],
  ['[ITG-13] a number as owner', { sub: 7 }, incomplete],
  ['[ITG-13] an empty owner', { sub: '' }, incomplete],
  // Some servers write null for what a token does not have.
  ['[ITG-13] null for what is not there', { sub: null, exp: null, nbf: null }, undefined],
])('%s', async (_title, members, reason, options = {}) => {
  server.answer = { ...good, ...(typeof members === 'function' ? members() : members) }
  const { ask, failures } = photos(options)
  const { status } = await ask('token')
  expect([status, failures[0]?.reason]).toEqual([reason === undefined ? 200 : 401, reason])
})

test('[ITG-11] the scope decides about each request, from the cache too', async () => {
  const { ask } = photos()
  for (let round = 1; round <= 2; round++) {
    expect((await ask('token')).status).toBe(200)
    const refused = await ask('token', '/print')
    expect([refused.status, refused.body.error]).toEqual([403, 'insufficient_scope'])
  }
  expect(server.asked).toHaveLength(1)
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
  const { ask } = photos({ inactive: { attempts: 3, seconds: 60 } })
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
  [
    '1 MiB that fits into 2 KiB',
    (response) => {
      const body = gzipSync(JSON.stringify({ ...good, more: 'x'.repeat(2 ** 20) }))
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }).end(body)
    },
  ],
  ['status 500', (response) => void response.writeHead(500).end()],
  ['status 204', (response) => void response.writeHead(204).end()],
  ['nothing', () => undefined],
  ['an end in the middle', (response) => void response.writeHead(200, { 'Content-Length': 99 }).destroy()],
])('[ITG-19] an answer of %s is 503 with Retry-After, and no challenge', async (_what, answer) => {
  server.answer = answer
  const response = await photos({ deadline: 0.2 }).ask('token')
  expect([response.status, response.get('WWW-Authenticate')]).toEqual([503, undefined])
  expect(Number(response.get('Retry-After'))).toBeGreaterThan(0)
})

test('[ITG-20] no event and no answer of a failure contains the token or the secret', async () => {
  const token = 'mF_9.B5f-4.1JqM'
  const { ask, guard } = photos({ deadline: 0.2 })
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
