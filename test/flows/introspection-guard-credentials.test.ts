import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import express from 'express'
import { ConfigurationError, generateClientSecret, type ClientRegistration, type Json } from '../../lib/index'
import { createBearerGuard, type IntrospectionSource } from '../../lib/paths/guards'
import { privateKeyJwt, type GivenKey } from '../../lib/paths/jwt'
import { rsaKeyPair } from '../support/rsa-keys'
import { application } from '../support/flows/application'
import { nightlyReport, photoBook } from '../support/flows/clients'
import { introspectedPhotos, IntrospectionServer } from '../support/flows/introspection-server'
import { startServer, type StartedServer } from '../support/start-server'

type Client = IntrospectionSource['client']

const { client_id } = nightlyReport.registration
const started: StartedServer[] = []
const server = new IntrospectionServer()
beforeAll(() => server.start())
beforeEach(() => {
  server.reset({ active: true, scope: 'photos:read', client_id: 'photo-book' })
})
afterAll(async () => {
  await server.stop()
  await Promise.all(started.map(({ stop }) => stop()))
})

/** A server of this package over HTTP, a guard at another place, and a live token. */
async function place(credentials: Partial<ClientRegistration>, client: (issuer: string) => Client) {
  const app = express()
  const listening = await startServer(app)
  started.push(listening)
  const issuer = `http://127.0.0.1:${listening.port}`
  const registration = { ...nightlyReport.registration, client_secret_hashes: [], may_introspect: true }
  const registrations = new Map<string, ClientRegistration>()
  const keep = (one: ClientRegistration) => void registrations.set(one.client_id, one)
  for (const one of [photoBook.registration, { ...registration, ...credentials }]) keep(one)
  const clients = { find: async (id: string) => registrations.get(id) }
  const guarded = introspectedPhotos(issuer, { client: client(issuer), maximumAge: 0 })
  const { clock } = guarded
  const options = { issuer, clients, clock: clock.read, plugins: [privateKeyJwt()] }
  const { app: host, flow } = application(options)
  app.use(host)
  const { accessToken } = await flow.tokens(photoBook)
  const rotate = (...hashes: readonly string[]) =>
    keep({ ...registration, ...credentials, client_secret_hashes: [...hashes] })
  return { ...guarded, accessToken, issuer, rotate }
}

const onCurve = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const rsa = rsaKeyPair()
const edwards = generateKeyPairSync('ed25519')
const jwkOf = (key: KeyObject): { readonly [name: string]: Json } =>
  JSON.parse(JSON.stringify(key.export({ format: 'jwk' })))
const pem = (key: KeyObject) => key.export({ format: 'pem', type: 'pkcs8' }).toString()
const ofService: GivenKey = {
  publicKey: onCurve.publicKey,
  algorithm: 'ES256',
  sign: async (text) => sign('sha256', text, { key: onCurve.privateKey, dsaEncoding: 'ieee-p1363' }),
}
const registered = (key: KeyObject, kid?: string): Partial<ClientRegistration> => ({
  credentials: { private_key_jwt: { keys: [{ ...jwkOf(createPublicKey(key)), ...(kid && { kid }) }] } },
  token_endpoint_auth_method: 'private_key_jwt',
})

/** Header and claims of the assertion in the request with this number. */
function assertionAt(index: number): { readonly header: unknown; readonly claims: unknown } {
  const [header, claims] = (server.asked[index]?.form.get('client_assertion') ?? '')
    .split('.')
    .slice(0, 2)
    .map((part): unknown => JSON.parse(Buffer.from(part || 'e30', 'base64url').toString()))
  return { header, claims }
}

describe('private_key_jwt of a guard [RFC 7523 2.2]', () => {
  test.each<[string, KeyObject, GivenKey]>([
    ['a JWK with its kid', onCurve.privateKey, { privateKey: { ...jwkOf(onCurve.privateKey), kid: '1' } }],
    ['a KeyObject of Ed25519', edwards.privateKey, { privateKey: edwards.privateKey }],
    ['RSA with PS256', rsa.privateKey, { privateKey: rsa.privateKey, algorithm: 'PS256' }],
    ['a key service', createPrivateKey(pem(onCurve.privateKey)), ofService],
  ])('by %s lets the guard ask the server of this package, each time anew', async (_what, own, key) => {
    const { ask, accessToken } = await place(registered(own, '1'), () => ({ client_id, key }))
    for (const token of [accessToken, accessToken])
      expect((await ask(token)).body).toMatchObject({ clientId: 'photo-book', subject: 'alice' })
    expect((await ask('unknown')).status).toBe(401)
  })

  test('serves for one request: issuer as aud, 60 seconds, and a jti that does not come back', async () => {
    const { ask, now } = introspectedPhotos(server.issuer, {
      client: { client_id, key: { privateKey: onCurve.privateKey } },
    })
    for (const token of ['a', 'b']) expect((await ask(token)).status).toBe(200)
    const [first, second] = [assertionAt(0), assertionAt(1)]
    const named = { iss: client_id, sub: client_id, aud: server.issuer }
    expect(first).toEqual({
      header: { alg: 'ES256', typ: 'client-authentication+jwt' },
      claims: { ...named, jti: expect.stringMatching(/^[\w-]{22}$/), iat: now(), exp: now() + 60 },
    })
    expect(second.claims).not.toEqual(first.claims)
    expect(Object.fromEntries(server.asked[0]?.form ?? [])).toEqual({
      token: 'a',
      token_type_hint: 'access_token',
      client_id,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: expect.any(String),
    })
    expect(server.asked[0]?.authorization).toBeUndefined()
  })

  test('names another audience, an older type and a kid if the options do', async () => {
    const audience = server.endpoint
    const key = { privateKey: rsa.privateKey, algorithm: 'PS256', kid: 'guard-1' } as const
    await introspectedPhotos(server.issuer, { client: { client_id, key, audience, type: 'JWT' } }).ask('a')
    expect(assertionAt(0)).toMatchObject({
      header: { alg: 'PS256', typ: 'JWT', kid: 'guard-1' },
      claims: { aud: audience },
    })
  })

  test.each<[string, (issuer: string) => Client]>([
    [
      'an audience that the server does not expect',
      (issuer) => ({ client_id, key: { privateKey: onCurve.privateKey }, audience: `${issuer}/introspect` }),
    ],
    ['a key that is not registered', () => ({ client_id, key: { privateKey: edwards.privateKey } })],
  ])('with %s is refused: 503 and an event, and never 401', async (_what, client) => {
    const { ask, accessToken, failures } = await place(registered(onCurve.privateKey), client)
    expect((await ask(accessToken)).status).toBe(503)
    expect(failures).toMatchObject([{ reason: 'introspection_not_authorized' }])
  })

  test('of a key service that fails is 503, and the event has the cause', async () => {
    const key: GivenKey = {
      ...ofService,
      sign: async () => Promise.reject(new Error('The service is away.')),
    }
    const { ask, failures } = introspectedPhotos(server.issuer, { client: { client_id, key } })
    expect((await ask('token')).status).toBe(503)
    expect(failures).toMatchObject([
      { reason: 'signer_unavailable', cause: { message: 'The service is away.' } },
    ])
    expect(server.asked).toHaveLength(0)
  })
})

test.each<[string, object, 'header' | 'body']>([
  [
    'name both',
    { introspection_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'] },
    'header',
  ],
  [
    'name client_secret_post',
    { introspection_endpoint_auth_methods_supported: ['client_secret_post'] },
    'body',
  ],
  ['name none', {}, 'header'],
])(
  'if the metadata %s, the secret is sent as they say, and by default in HTTP Basic',
  async (_what, metadata, where) => {
    server.metadata = metadata
    await introspectedPhotos(server.issuer).ask('token')
    const [asked] = server.asked
    expect([asked?.authorization !== undefined, asked?.form.has('client_secret')]).toEqual([
      where === 'header',
      where === 'body',
    ])
  },
)

test('a secret is replaced without a pause, and a secret that the server has dropped is 503', async () => {
  const [former, latter] = [generateClientSecret(), generateClientSecret()]
  const secretOf = ({ client_secret }: typeof former) => ({ client_id, client_secret })
  const { client_secret_hash } = former
  const { ask, failures, clock, issuer, rotate, accessToken } = await place(
    { client_secret_hashes: [client_secret_hash], token_endpoint_auth_method: 'client_secret_basic' },
    () => secretOf(former),
  )
  const next = introspectedPhotos(issuer, { client: secretOf(latter), maximumAge: 0 }, { clock: clock.read })
  const statuses = async () => [(await ask(accessToken)).status, (await next.ask(accessToken)).status]
  expect(await statuses()).toEqual([200, 503])
  rotate(client_secret_hash, latter.client_secret_hash)
  expect(await statuses()).toEqual([200, 200])
  rotate(latter.client_secret_hash)
  expect(await statuses()).toEqual([503, 200])
  expect(failures).toMatchObject([{ reason: 'introspection_not_authorized' }])
})

test.each<[string, object, Readonly<Record<string, string>>]>([
  ['nothing', {}, { 'introspection.client.client_secret': 'or key must be given, and not both.' }],
  [
    'members of the other way, beside a secret',
    { client_secret: 'a', audience: 'https://auth.example', type: 'JWT' },
    { 'introspection.client.audience': 'belongs to key', 'introspection.client.type': 'belongs to key' },
  ],
  [
    'method private_key_jwt without a key',
    { client_secret: 'a', method: 'private_key_jwt' },
    { 'introspection.client.method': 'private_key_jwt needs a key' },
  ],
  [
    'a public key',
    { key: { privateKey: onCurve.publicKey } },
    { 'introspection.client.key': 'cannot read as a private key' },
  ],
  [
    'an algorithm that the key cannot use',
    { key: { privateKey: onCurve.privateKey, algorithm: 'RS256' } },
    { 'introspection.client.key': 'cannot sign with RS256' },
  ],
  [
    'wrong members beside a key',
    { key: { privateKey: onCurve.privateKey }, audience: '', type: 'jwt', more: 1 },
    {
      'introspection.client.audience': 'must be the aud',
      'introspection.client.type': "must be 'client-authentication+jwt' or 'JWT'",
      'introspection.client.more': 'is not known here',
    },
  ],
])('the option client with %s is a mistake, with its cure', (_what, client, expected) => {
  const introspection = { client: { client_id, ...client } }
  const options = { issuer: 'https://auth.example', introspection }
  const issues = issuesOf(() => Reflect.apply(createBearerGuard, undefined, [options]))
  expect(issues.map(({ path }) => path).toSorted()).toEqual(Object.keys(expected).toSorted())
  for (const { path, message } of issues) expect(message).toContain(expected[path])
  expect(JSON.stringify(issues)).not.toContain('PRIVATE')
})

function issuesOf(make: () => unknown) {
  try {
    make()
  } catch (error) {
    if (error instanceof ConfigurationError) return error.issues
    throw error
  }
  return []
}
