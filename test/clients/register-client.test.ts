import { generateClientSecret } from '../../lib/client-authentication/client-secret'
import { ConfigurationError } from '../../lib/primitives/options-reader'
import { registerClient, registerFrom, type ClientMetadata } from '../../lib/clients/register-client'
import { anyCapabilities } from '../../lib/protocol/parse-client'
import { memoryClients } from '../../lib/stores/memory-clients'
import { capabilities } from '../support/authorization/client'
import { matchesSecretHash } from '../support/rooms/secrets'
import { waitingClients } from '../support/stores/waiting-clients'

const web = {
  client_type: 'confidential',
  redirect_uris: ['https://printer.example/callback'],
  scope: 'photos.read',
} satisfies ClientMetadata
const phone = { ...web, client_type: 'public' } satisfies ClientMetadata

/** The mistakes for which this is refused, after which nothing is registered. */
async function mistakesOf(metadata: unknown, offered = anyCapabilities) {
  const clients = memoryClients()
  const error: unknown = await registerFrom(clients, metadata, offered).catch((thrown: unknown) => thrown)
  expect(await clients.list()).toEqual([])
  if (!(error instanceof ConfigurationError)) throw new Error('It was registered.')
  return error.issues
}

describe('registerClient', () => {
  it('issues an identifier of 128 random bits and a secret of 256, and keeps the digest alone', async () => {
    const clients = memoryClients()
    const { client_id, client_secret = '' } = await registerClient(clients, web)
    expect(client_id).toMatch(/^[A-Za-z0-9_-]{22}$/)
    expect(client_secret).toMatch(/^[A-Za-z0-9_-]{43}$/)
    const registration = await clients.find(client_id)
    expect(JSON.stringify(registration)).not.toContain(client_secret)
    const [hash, ...others] = registration?.client_secret_hashes ?? []
    expect(others).toEqual([])
    expect(await matchesSecretHash(client_secret, hash ?? '')).toBe(true)
  })

  it('issues others each time', async () => {
    const clients = memoryClients()
    const issued = await Promise.all(Array.from({ length: 20 }, () => registerClient(clients, web)))
    expect(new Set(issued.flatMap(({ client_id, client_secret }) => [client_id, client_secret])).size).toBe(
      40,
    )
  })

  it('writes every default down, so that a later one changes no client', async () => {
    const clients = memoryClients()
    const { client_id } = await registerClient(clients, phone)
    expect(await clients.find(client_id)).toEqual({
      ...phone,
      client_id,
      client_secret_hashes: [],
      credentials: {},
      loopback_redirect_uris: false,
      dynamic_redirect_query: false,
      insecure_redirect_uris: false,
      grant_types: ['authorization_code'],
      response_types: ['code'],
      may_introspect: false,
      disabled: false,
    })
  })

  it('gives a public client no secret', async () => {
    expect(await registerClient(memoryClients(), phone)).toMatchObject({ client_secret: undefined })
  })

  it('takes an identifier and digests from elsewhere, and issues nothing', async () => {
    const clients = memoryClients()
    const { client_secret_hash } = generateClientSecret()
    const moved = { ...web, client_id: 'printer', client_secret_hashes: [client_secret_hash] }
    expect(await registerClient(clients, moved)).toEqual({ client_id: 'printer', client_secret: undefined })
    expect(await clients.find('printer')).toMatchObject(moved)
  })

  it('takes null for left out, as a form or a database has it', async () => {
    const nulls = { client_id: null, client_secret_hashes: null, client_name: null }
    const { client_secret } = await registerFrom(memoryClients(), { ...web, ...nulls }, anyCapabilities)
    expect(client_secret).toHaveLength(43)
  })

  it('refuses an identifier that exists, and lets one of 50 in that come at once [client-20]', async () => {
    const clients = waitingClients(memoryClients())
    const attempts = Array.from({ length: 50 }, (_, n) =>
      registerClient(clients, { ...web, client_id: 'printer', description: `attempt ${n}` }).then(
        () => n,
        (error: unknown) => error,
      ),
    )
    const outcomes = await Promise.all(attempts)
    const winners = outcomes.filter((outcome) => typeof outcome === 'number')
    expect(winners).toHaveLength(1)
    expect(await clients.list()).toMatchObject([{ description: `attempt ${winners[0]}` }])
    expect(outcomes.find((outcome) => typeof outcome !== 'number')).toMatchObject({
      name: 'ConfigurationError',
      issues: [{ path: 'client_id', message: expect.stringContaining('is taken') }],
    })
  })

  it('lists every mistake at once, each with its field', async () => {
    const faulty = { client_type: 'native', redirect_uris: ['/relative', 'https://a.example/#'], scopes: 1 }
    expect((await mistakesOf(faulty)).map(({ path }) => path)).toEqual([
      'client_type',
      'redirect_uris[0]',
      'redirect_uris[1]',
      'scope',
      'scopes',
    ])
  })

  it.each([
    ['client_type', { client_type: undefined }],
    ['redirect_uris', { ...phone, redirect_uris: undefined }],
    ['client_secret_hashes', { client_secret_hashes: [] }],
    ['client_secret_hashes', { client_secret_hashes: [''] }],
    ['client_secret_hashes', { client_secret_hashes: ['a secret itself'] }],
    ['client_id', { client_id: '' }],
    ['client_id', { client_id: 7 }],
    ['client_id', { client_id: 'a\nb' }],
    ['client_secret', { client_secret: 'x' }],
    ['logo_uri', { logo_uri: 'http://printer.example/logo.png' }],
  ])('refuses a mistake in %s', async (path, bend) => {
    expect((await mistakesOf({ ...web, ...bend })).map((mistake) => mistake.path)).toContain(path)
  })

  it.each([undefined, null, 'x', 7, [web]])('refuses %p, which is no object', async (metadata) => {
    expect(await mistakesOf(metadata)).toEqual([{ path: 'metadata', message: 'must be an object.' }])
  })

  it('takes two digests, for a rotation, and no more', async () => {
    const digests = Array.from({ length: 3 }, () => generateClientSecret().client_secret_hash)
    const path = 'client_secret_hashes'
    expect((await mistakesOf({ ...web, [path]: digests })).map((mistake) => mistake.path)).toEqual([path])
    await registerClient(memoryClients(), { ...web, [path]: digests.slice(1) })
  })

  it('refuses a member that would be a prototype [client-22]', async () => {
    const metadata: unknown = JSON.parse('{ "__proto__": { "client_type": "confidential" }, "scope": "a" }')
    expect((await mistakesOf(metadata)).map(({ path }) => path)).toEqual(['client_type', '__proto__'])
  })

  it.each([
    ['scope', { scope: 'photos.print' }],
    ['grant_types', { grant_types: ['password'], response_types: [] }],
    ['response_types', { response_types: ['token'] }],
    ['token_endpoint_auth_method', { token_endpoint_auth_method: 'private_key_jwt' }],
  ])('refuses a %s beyond what the server offers, where that is known [client-21]', async (path, bend) => {
    expect((await mistakesOf({ ...web, ...bend }, capabilities)).map((mistake) => mistake.path)).toContain(
      path,
    )
  })

  it('quotes no digest in a refusal', async () => {
    const { client_secret_hash } = generateClientSecret()
    const bad = { ...web, client_secret_hashes: [client_secret_hash, 'secret itself'] }
    expect(JSON.stringify(await mistakesOf(bad))).not.toMatch(/sha256:[\w-]{20}|secret itself/)
  })
})
