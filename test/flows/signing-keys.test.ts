import { generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { memoryStore } from '../../lib/index'
import {
  jwtAccessTokens,
  manageSigningKeys,
  signingKeys,
  type GivenKey,
  type SigningAlgorithm,
} from '../../lib/paths/jwt'
import { application } from '../support/flows/application'
import { Clock } from '../support/flows/clock'
import { keySecret, withJwts } from '../support/flows/jwt-tokens'
import { gallery, mountResources, photosApi } from '../support/flows/resources'
import { rsaKeyPair } from '../support/rsa-keys'
import { but } from '../support/stores/but'
import { waitUntil } from '../support/wait-until'

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const edwards = generateKeyPairSync('ed25519')
const rsa = rsaKeyPair()
const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const jwk = (key: KeyObject): object => ({ ...key.export({ format: 'jwk' }) })

const ofKeys = (...keys: readonly GivenKey[]) =>
  application(withJwts({}, {}, signingKeys({ keys })), { mount: mountResources })
type Served = ReturnType<typeof ofKeys>

const publishedBy = ({ flow }: Served) => flow.open('/.well-known/jwks.json')

async function redeemed({ flow }: Served) {
  const bend = { scope: 'photos:read', resource: photosApi }
  return (await flow.redeem(gallery, await flow.approve(gallery, bend))).body
}

/** What a stranger, who knows the published keys alone, reads of a token that it has verified. */
async function verified(served: Served): Promise<object> {
  const keys = createLocalJWKSet((await publishedBy(served)).body)
  return (await jwtVerify((await redeemed(served)).access_token, keys)).protectedHeader
}

const service = (signs: (text: Uint8Array) => Promise<Uint8Array>): GivenKey => ({
  publicKey: jwk(ec.publicKey),
  algorithm: 'ES256',
  kid: 'hsm-1',
  sign: signs,
})

test.each<[string, GivenKey, { alg: SigningAlgorithm; kid?: string }]>([
  ['a PEM on P-256', { privateKey: pem(ec.privateKey) }, { alg: 'ES256' }],
  ['a JWK with its kid', { privateKey: { ...jwk(ec.privateKey), kid: 'own' } }, { alg: 'ES256', kid: 'own' }],
  ['a KeyObject with a kid', { privateKey: ec.privateKey, kid: 'said' }, { alg: 'ES256', kid: 'said' }],
  ['a key on Ed25519', { privateKey: edwards.privateKey }, { alg: 'EdDSA' }],
  ['an RSA key', { privateKey: rsa.privateKey }, { alg: 'RS256' }],
  ['an RSA key for PS256', { privateKey: rsa.privateKey, algorithm: 'PS256' }, { alg: 'PS256' }],
  [
    'a key service',
    service(async (text) => sign('sha256', text, { key: ec.privateKey, dsaEncoding: 'ieee-p1363' })),
    { alg: 'ES256', kid: 'hsm-1' },
  ],
])('%s of the host signs tokens that the published key verifies', async (_what, key, header) => {
  expect(await verified(ofKeys(key))).toMatchObject(header)
})

test('a key service that does not answer within 2 seconds is unavailable', async () => {
  const served = ofKeys(service(() => new Promise<never>(() => {})))
  expect(await redeemed(served)).toMatchObject({ error: 'temporarily_unavailable' })
  expect(served.failures.at(-1)?.reason).toBe('signer_unavailable')
})

test('the plug-in that signs chooses among the algorithms of the option, each of which has a key', async () => {
  const keys = signingKeys({ secrets: [keySecret], algorithms: ['EdDSA', 'RS256'] })
  const served = application(withJwts({}, { algorithm: 'RS256' }, keys), { mount: mountResources })
  expect(await verified(served)).toMatchObject({ alg: 'RS256' })
  const { body } = await publishedBy(served)
  expect(body.keys.map(({ alg }: { alg: string }) => alg).toSorted()).toEqual(['EdDSA', 'RS256'])
})

const { privateKey, publicKey } = ec
const secrets = [keySecret]
test.each<[object, RegExp]>([
  [{}, /secrets or keys must be given, and not both/],
  [{ secrets, keys: [{ privateKey }] }, /secrets or keys must be given, and not both/],
  [{ secrets: process.env['NO_SUCH_VARIABLE'] }, /secrets is undefined, perhaps because an environment/],
  [{ keys: [] }, /keys must be a list of at least one key/],
  [{ secrets: ['short'] }, /secrets must be a list of texts of at least 32 characters/],
  [{ secrets, algorithms: ['ES256', 'ES256'] }, /algorithms must be a list/],
  [{ secrets, rotateAfter: 60 }, /rotateAfter must be whole seconds, 3600/],
  [{ secrets, publishBefore: 899 }, /publishBefore must be whole seconds, 900/],
  [{ keys: [{ privateKey }], algorithms: ['ES256'] }, /algorithms belongs to secrets/],
  [{ secret: secrets }, /secret is not known here. Did you mean secrets/],
  [{ keys: [{ privateKey: publicKey }] }, /has a privateKey that Node cannot read/],
  [{ keys: [{ publicKey: privateKey, algorithm: 'ES256', sign: () => 1 }] }, /has a publicKey/],
  [{ keys: [{ privateKey, algorithm: 'RS256' }] }, /cannot sign with RS256/],
  [{ keys: [{ privateKey, algorithm: 'HS256' }] }, /must have one of the algorithms/],
  [{ keys: [{ publicKey, algorithm: 'ES256' }] }, /needs sign and algorithm/],
  [{ keys: [{ privateKey, key: 1 }] }, /must be { privateKey }/],
])('signingKeys() with %p is a mistake at construction', (options, message) => {
  expect(() => Reflect.apply(signingKeys, undefined, [options])).toThrow(message)
})

test.each<[string, object, RegExp]>([
  [
    'no store',
    { issuer: 'https://a.example', secrets: [keySecret] },
    /store is missing: it must be the store of the server/,
  ],
  ['no secrets', { issuer: 'https://a.example', store: memoryStore() }, /secrets is missing/],
  ['no issuer', { store: memoryStore(), secrets: [keySecret] }, /issuer is missing/],
])('manageSigningKeys() with %s is a mistake at construction', (_what, options, message) => {
  expect(() => Reflect.apply(manageSigningKeys, undefined, [options])).toThrow(message)
})

test('what signs needs keys of signingKeys()', () => {
  expect(() => Reflect.apply(jwtAccessTokens, undefined, [{ keys: {} }])).toThrow(/keys must be signingKeys/)
})

test('ready() waits for the keys, and a lost secret is a sentence at start and never a new key', async () => {
  const store = memoryStore()
  const good = application(withJwts({ store }), { mount: mountResources })
  expect(await good.oauth.ready()).toBe(true)
  const emit = jest.spyOn(process, 'emitWarning').mockReturnValue()
  const lost = application(withJwts({ store }, {}, signingKeys({ secrets: ['x'.repeat(32)] })), {
    mount: mountResources,
  })
  await waitUntil('the server warns', async () => emit.mock.calls.length > 0)
  expect(emit).toHaveBeenCalledWith(
    expect.stringMatching(
      /The plug-in signing-keys is not ready. The store holds signing keys of ES256 that no secret/,
    ),
    expect.objectContaining({ code: 'EAS_PLUG_IN_NOT_READY' }),
  )
  emit.mockRestore()
  expect([await lost.oauth.ready(), (await publishedBy(lost)).status]).toEqual([false, 503])
  const code = await lost.flow.approve(gallery, { scope: 'photos:read', resource: photosApi })
  expect((await lost.flow.redeem(gallery, code)).body.error).toBe('temporarily_unavailable')
  expect(lost.failures.at(-1)?.reason).toBe('signing_keys_unavailable')
  expect((await good.flow.redeem(gallery, code)).status).toBe(200)
})

test('a process goes on with its keys for a minute while the store fails, and then refuses', async () => {
  const clock = new Clock()
  const inner = memoryStore({ clock: clock.read })
  let isAway = false
  const failing = async <T>(key: string, call: () => Promise<T>) => {
    if (isAway && key.startsWith('keys:')) throw new Error('The store is away.')
    return call()
  }
  const store = but(inner, {
    read: (key) => failing(key, () => inner.read(key)),
    write: (key, ...words) => failing(key, () => inner.write(key, ...words)),
  })
  const served = application(withJwts({ store, clock: clock.read }), { mount: mountResources })
  const Authorization = `Bearer ${(await redeemed(served)).access_token}`
  const statuses = async () => [
    (await served.flow.open('/api/photos', undefined, { Authorization })).status,
    (await publishedBy(served)).status,
  ]
  isAway = true
  clock.advance(59)
  expect(await statuses()).toEqual([200, 200])
  clock.advance(1)
  expect(await statuses()).toEqual([503, 503])
  isAway = false
  expect(await statuses()).toEqual([200, 200])
})

test('a plug-in of a host may sign with the keys, too, and each of 300 signatures has its 64 bytes and is good', async () => {
  const keys = signingKeys({ keys: [{ privateKey }] })
  const rings: ReturnType<typeof keys.ringOf>[] = []
  const host = {
    name: 'host',
    open: (server: Parameters<typeof keys.ringOf>[0]) => {
      rings.push(keys.ringOf(server))
      return {}
    },
  }
  const { oauth } = application({ plugins: [keys, host] })
  expect(await oauth.ready()).toBe(true)
  const faults = new Set<string>()
  // One of 128 has a number that is shorter than the others.
  for (let at = 0; at < 300; at++) {
    const text = (await rings[0]?.sign('ES256', 'note+jwt', { at })) ?? ''
    const [, signed = '', end = ''] = /^(.*)\.([\w-]{86})$/.exec(text) ?? []
    const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
    if (!verify('sha256', Buffer.from(signed), key, Buffer.from(end, 'base64url'))) faults.add(text)
  }
  expect([...faults]).toEqual([])
})

test('after a retirement, every process knows the key of a token that came after it, by signature too', async () => {
  const clock = new Clock()
  const store = memoryStore({ clock: clock.read })
  const open = () => {
    const served = application(withJwts({ store, clock: clock.read }), { mount: mountResources })
    const guard = served.oauth.bearerGuard('photos:read', { resource: photosApi, verify: 'signature' })
    served.app.get('/signed', guard, (_request, response) => void response.end())
    return served
  }
  const [one, other] = [open(), open()]
  const statusOf = async (token: string) => {
    const headers = { Authorization: `Bearer ${token}` }
    const paths = ['/api/photos', '/signed']
    return Promise.all(paths.map(async (path) => (await other.flow.open(path, undefined, headers)).status))
  }
  const former = (await redeemed(one)).access_token
  expect(await statusOf(former)).toEqual([200, 200])
  const management = manageSigningKeys({
    issuer: 'http://localhost',
    store,
    secrets: [keySecret],
    clock: clock.read,
  })
  const [{ kid } = { kid: '' }] = await management.list()
  // By the clock, not a second passes between what the other process has read and the token.
  clock.advance(10)
  expect(await statusOf(former)).toEqual([200, 200])
  await management.retire(kid)
  clock.advance(0.1)
  expect(await statusOf((await redeemed(one)).access_token)).toEqual([200, 200])
  clock.advance(10)
  expect(await statusOf(former)).toEqual([401, 401])
  expect((await publishedBy(other)).body.keys).toEqual([expect.not.objectContaining({ kid })])
})
