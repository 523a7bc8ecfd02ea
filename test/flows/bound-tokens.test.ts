import express from 'express'
import {
  type BearerGuard,
  ConfigurationError,
  createBearerGuard,
  createIntrospectionGuard,
  createJwtBearerGuard,
  type Extension,
  jwtAccessTokenReader,
  jwtAccessTokens,
  memoryCounters,
  memoryStore,
  type PlugIn,
  type TokenType,
} from '../../lib/index'
import { hub } from '../support/assertions/jwt'
import { failuresOf } from '../support/events'
import { application } from '../support/flows/application'
import { basic, Flow, redemption } from '../support/flows/flow'
import { introspectedPhotos, IntrospectionServer } from '../support/flows/introspection-server'
import { partOf, sharedKeys, withJwts } from '../support/flows/jwt-tokens'
import { keyedTokens, thumbprint } from '../support/flows/keyed-tokens'
import { gallery, job, mountResources, photosApi } from '../support/flows/resources'
import { guardedPhotos } from '../support/jwt-guard/guarded-photos'
import { startServer, type StartedServer } from '../support/rooms/start-server'

const started: StartedServer[] = []
const server = new IntrospectionServer()
beforeAll(() => server.start())
beforeEach(() => server.reset({ active: false }))
afterAll(async () => {
  await server.stop()
  await Promise.all(started.map(({ stop }) => stop()))
})

type GuardName = 'same process' | 'other process' | 'JWT' | 'introspection'
const names: readonly GuardName[] = ['same process', 'other process', 'JWT', 'introspection']

/** One server that issues bound JWTs, and the four guards of this package for them. */
async function place(plugIn: readonly PlugIn[] = [keyedTokens]) {
  const app = express()
  const listening = await startServer(app)
  started.push(listening)
  const issuer = `http://127.0.0.1:${listening.port}`
  const store = memoryStore()
  const keys = sharedKeys()
  const plugIns = [keys, jwtAccessTokens({ keys }), keyedTokens]
  const {
    app: host,
    oauth,
    flow,
  } = application({ ...withJwts({ plugIns, store }), issuer }, { mount: mountResources })
  app.use(host)
  const client = { client_id: job.registration.client_id, client_secret: job.secret ?? '' }
  const shared = { issuer, plugIns: plugIn }
  const resources = { [photosApi]: { scopes: ['photos:read'] } }
  const jwksUri = `${issuer}/.well-known/jwks.json`
  const guards: Readonly<Record<GuardName, BearerGuard>> = {
    'same process': oauth.bearerGuard,
    'other process': createBearerGuard({
      ...shared,
      store,
      resources,
      plugIns: [...plugIn, jwtAccessTokenReader()],
    }),
    JWT: createJwtBearerGuard({ ...shared, audience: photosApi, jwksUri }),
    introspection: createIntrospectionGuard({ ...shared, client, resource: photosApi }),
  }
  const flows = new Map(names.map((name) => [name, guardedBy(guards[name], name)]))
  const tokens = async (key?: string) => {
    const code = await flow.approve(gallery, { scope: 'photos:read', resource: photosApi })
    const Authorization = basic(gallery.registration.client_id, gallery.secret ?? '')
    const headers = { Authorization, ...(key !== undefined && { Key: key }) }
    const { body } = await flow.submit('/token', redemption(gallery, code), undefined, headers)
    return body
  }
  let use = 0
  const call = async (
    name: GuardName,
    token: string,
    headers: Readonly<Record<string, string>>,
    scheme = 'Keyed',
  ) => {
    use += 1
    const sent = { Authorization: `${scheme} ${token}`, 'Key-Use': String(use), ...headers }
    const response = await flows.get(name)?.open('/photos', undefined, sent)
    if (response === undefined) throw new Error('There is no such guard.')
    return response
  }
  return { tokens, call, flow }
}

function guardedBy(guard: BearerGuard, name: GuardName): Flow {
  const resource = name === 'same process' || name === 'other process' ? { resource: photosApi } : {}
  return new Flow(
    express().get('/photos', guard('photos:read', resource), (request, response) => {
      response.json({ type: request.oauth?.tokenType, subject: request.oauth?.subject })
    }),
  )
}

test('the server names the key in cnf of JWT and introspection, and other tokens have none', async () => {
  const { tokens, flow } = await place()
  const cnf = { jkt: thumbprint('k-1') }
  const { access_token, token_type } = await tokens('k-1')
  expect([token_type, partOf(access_token, 1)]).toEqual(['Keyed', expect.objectContaining({ cnf })])
  expect((await flow.introspect(job, access_token)).body).toMatchObject({ token_type: 'Keyed', cnf })
  const plain = (await tokens()).access_token
  expect(partOf(plain, 1)).not.toHaveProperty('cnf')
  expect((await flow.introspect(job, plain)).body).not.toHaveProperty('cnf')
})

test('one bound token passes all four guards with its proof, and none without', async () => {
  const { tokens, call } = await place()
  const { access_token: token } = await tokens('k-1')
  const plain = (await tokens()).access_token
  for (const name of names) {
    const passed = await call(name, token, { Key: 'k-1' })
    expect([name, passed.body, passed.get('Key-Nonce')]).toEqual([
      name,
      { type: 'Keyed', subject: 'alice' },
      'fresh',
    ])
    // From the caches: what the token is bound to must be there as well.
    const stolen = await call(name, token, { Key: 'k-2' })
    expect([name, stolen.status, stolen.get('Key-Nonce')]).toEqual([name, 401, 'fresh'])
    expect((await call(name, token, { Key: 'k-1' })).status).toBe(200)
    expect([name, (await call(name, token, { Key: 'k-1' }, 'Bearer')).status]).toEqual([name, 401])
    expect([name, (await call(name, plain, { Key: 'k-1' })).status]).toEqual([name, 401])
    expect((await call(name, plain, {}, 'Bearer')).body).toEqual({ type: 'bearer', subject: 'alice' })
  }
})

test('every guard uses each proof up, and challenges with the attributes of the token type', async () => {
  const { tokens, call } = await place()
  const { access_token: token } = await tokens('k-1')
  for (const name of names) {
    const proof = { Key: 'k-1', 'Key-Use': `of the guard ${name}` }
    expect([name, (await call(name, token, proof)).status]).toEqual([name, 200])
    expect([name, (await call(name, token, proof)).status]).toEqual([name, 401])
    const asked = await call(name, token, {})
    expect([name, asked.body.error, asked.get('Key-Nonce')]).toEqual([name, 'use_key', 'fresh'])
    expect(asked.get('WWW-Authenticate')).toMatch(
      /, Keyed realm="oauth".*error="use_key".*algs="none".*nonce="fresh"/,
    )
  }
})

test('a guard without the token type refuses a bound token under every scheme', async () => {
  const { tokens, call } = await place([])
  const { access_token: token } = await tokens('k-1')
  for (const name of ['other process', 'JWT', 'introspection'] as const)
    for (const scheme of ['Bearer', 'Keyed'])
      expect([name, (await call(name, token, { Key: 'k-1' }, scheme)).status]).toEqual([name, 401])
})

/** Binds tokens to what the request has in a header, in place of a certificate (RFC 8705 3). */
const certified: Extension = {
  name: 'certified',
  confirmationMethod: 'x5t#S256',
  atResourceRequest: ({ request: { headers }, tokenData }) =>
    tokenData === undefined || headers['certificate']?.[0] === tokenData ? undefined : 'certificate_wrong',
}

const jkt = thumbprint('k-1')
const provable = { plugIns: [keyedTokens], extensions: [certified] }
const proof = { Key: 'k-1', Certificate: 'c-1' }

describe.each<[string, 'jwt' | 'introspection']>([
  ['a JWT', 'jwt'],
  ['an introspection', 'introspection'],
])('cnf of %s', (_what, kind) => {
  const refusedFor = kind === 'jwt' ? 'jwt_bound_to_key' : 'introspection_bound_to_key'
  const otherType = kind === 'jwt' ? 'jwt_of_another_kind' : 'introspection_of_another_type'

  async function statusOf(members: object, scheme: string, headers: object, options: object) {
    const guarded =
      kind === 'jwt' ? guardedPhotos(options) : introspectedPhotos(server.issuer, { ...options })
    const failures = failuresOf(guarded.guard.events)
    server.answer = { active: true, client_id: 'photo-book', scope: 'photos:read', ...members }
    const token = kind === 'jwt' ? guardedPhotos().token(members) : 'token'
    const sent = { Authorization: `${scheme} ${token}`, 'Key-Use': '1', ...headers }
    const { status } = await new Flow(guarded.app).open('/photos', undefined, sent)
    return status === 401 ? failures.map(({ reason }) => reason).join() : status
  }

  test.each<[string, object, string, object, number | string]>([
    ['a key, with its proof', { cnf: { jkt } }, 'Keyed', proof, 200],
    ['a key, and token_type', { cnf: { jkt }, token_type: 'keyed' }, 'Keyed', proof, 200],
    ['a key, with another one', { cnf: { jkt } }, 'Keyed', { Key: 'k-2' }, 'key_wrong'],
    ['a key, under Bearer', { cnf: { jkt } }, 'Bearer', proof, 'token_of_another_type'],
    ['a key, and token_type Bearer', { cnf: { jkt }, token_type: 'Bearer' }, 'Keyed', proof, otherType],
    ['no key, under the other scheme', {}, 'Keyed', proof, 'token_of_another_type'],
    ['no key, and the other token_type', { token_type: 'Keyed' }, 'Bearer', proof, otherType],
    ['a certificate', { cnf: { 'x5t#S256': 'c-1' } }, 'Bearer', proof, 200],
    ['a certificate, with another one', { cnf: { 'x5t#S256': 'c-2' } }, 'Bearer', proof, 'certificate_wrong'],
    ['both', { cnf: { jkt, 'x5t#S256': 'c-1' } }, 'Keyed', proof, 200],
    ['both, with one proof', { cnf: { jkt, 'x5t#S256': 'c-2' } }, 'Keyed', proof, 'certificate_wrong'],
    ['what nothing checks', { cnf: { kid: 'a' } }, 'Bearer', proof, refusedFor],
    ['what nothing checks, beside a key', { cnf: { jkt, kid: 'a' } }, 'Keyed', proof, refusedFor],
    ['nothing', { cnf: {} }, 'Bearer', proof, refusedFor],
    ['a text', { cnf: jkt }, 'Bearer', proof, refusedFor],
    ['a list', { cnf: [jkt] }, 'Bearer', proof, refusedFor],
    ['null as its key', { cnf: { jkt: null } }, 'Keyed', proof, refusedFor],
    ['a list as its key', { cnf: { jkt: [jkt] } }, 'Keyed', proof, refusedFor],
  ])('with %s: the guard decides', async (_with, members, scheme, headers, expected) => {
    expect(await statusOf(members, scheme, headers, provable)).toBe(expected)
  })

  test('with __proto__ names no plug-in', async () => {
    const cnf: unknown = JSON.parse(`{"__proto__":{"jkt":"${jkt}"}}`)
    expect(await statusOf({ cnf }, 'Keyed', proof, provable)).toBe(refusedFor)
  })

  test('binds also where no token type can check it', async () => {
    expect(await statusOf({ cnf: { jkt } }, 'Bearer', proof, {})).toBe(refusedFor)
  })
})

test('guards without a store that share counters use a proof up together, within limits.singleUses', async () => {
  const counters = memoryCounters()
  server.answer = { active: true, client_id: 'photo-book', scope: 'photos:read', cnf: { jkt } }
  const limits = { singleUses: { attempts: 1, seconds: 60 } }
  const options = { plugIns: [keyedTokens], counters }
  const [one, two, bounded] = [options, options, { ...options, limits }].map(
    (given) => new Flow(introspectedPhotos(server.issuer, given).app),
  )
  const statusOf = async (flow: Flow | undefined, use: string) =>
    (await flow?.open('/photos', undefined, { Authorization: 'Keyed token', Key: 'k-1', 'Key-Use': use }))
      ?.status
  expect([await statusOf(one, 'a'), await statusOf(two, 'a')]).toEqual([200, 401])
  expect([await statusOf(bounded, 'b'), await statusOf(bounded, 'c')]).toEqual([200, 429])
})

test('a guard without a store needs token types with a confirmation method, each with its own', () => {
  const bare: TokenType = { name: 'a', scheme: 'A', read: () => undefined }
  const [one, two] = [
    { ...bare, confirmationMethod: 'jkt' },
    { ...bare, name: 'b', scheme: 'B', confirmationMethod: 'jkt' },
  ]
  const common = { issuer: hub.issuer, client: { client_id: 'a', client_secret: 'b' }, resource: photosApi }
  const options = { issuer: hub.issuer, audience: photosApi, keys: { keys: [hub.jwk] } }
  for (const tokenTypes of [[bare], [one, two]]) {
    expect(() => createIntrospectionGuard({ ...common, tokenTypes })).toThrow(/confirmationMethod/)
    expect(() => createJwtBearerGuard({ ...options, tokenTypes })).toThrow(/confirmationMethod/)
  }
  expect(() => createJwtBearerGuard({ ...options, tokenTypes: [one] })).not.toThrow(ConfigurationError)
})
