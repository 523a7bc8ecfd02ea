import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto'
import { calculateJwkThumbprint, createLocalJWKSet, exportJWK, jwtVerify } from 'jose'
import {
  createAuthorizationServer,
  jwtAccessTokens,
  manageSigningKeys,
  memoryStore,
  signingKeys,
  type GivenKey,
  type SigningAlgorithm,
  type Storage,
} from '../../lib/index'
import { application, canonicalOptions } from '../support/flows/application'
import { Clock } from '../support/flows/clock'
import { keySecret, sharedKeys, withJwts } from '../support/flows/jwt-tokens'
import { gallery, mountResources, photosApi } from '../support/flows/resources'
import { waitUntil } from '../support/wait-until'

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const edwards = generateKeyPairSync('ed25519')
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const jwk = (key: KeyObject): object => ({ ...key.export({ format: 'jwk' }) })

const ofKeys = (keys: readonly GivenKey[], algorithm?: SigningAlgorithm) =>
  application(withJwts({}, algorithm === undefined ? {} : { algorithm }, signingKeys({ keys })), {
    mount: mountResources,
  })

type Served = ReturnType<typeof ofKeys>

const publishedBy = async ({ flow }: Served) => flow.open('/.well-known/jwks.json')

async function tokenOf({ flow }: Served): Promise<string> {
  const bend = { scope: 'photos:read', resource: photosApi }
  const { body } = await flow.redeem(gallery, await flow.approve(gallery, bend))
  return body.access_token
}

/** Verifies a token as a stranger does, who knows the published keys alone. */
async function verified(served: Served): Promise<{ alg: string; kid: string }> {
  const keys = createLocalJWKSet((await publishedBy(served)).body)
  const { protectedHeader } = await jwtVerify(await tokenOf(served), keys)
  return { alg: protectedHeader.alg, kid: protectedHeader.kid ?? '' }
}

test.each<[string, GivenKey, SigningAlgorithm]>([
  ['a PEM on P-256', { privateKey: pem(ec.privateKey) }, 'ES256'],
  ['a JWK on P-256', { privateKey: jwk(ec.privateKey) }, 'ES256'],
  ['a KeyObject on P-256', { privateKey: ec.privateKey }, 'ES256'],
  ['a key on Ed25519', { privateKey: edwards.privateKey }, 'EdDSA'],
  ['an RSA key', { privateKey: rsa.privateKey }, 'RS256'],
  ['an RSA key for PS256', { privateKey: rsa.privateKey, algorithm: 'PS256' }, 'PS256'],
])('%s of the host signs tokens that the published key verifies', async (_what, key, alg) => {
  expect(await verified(ofKeys([key]))).toMatchObject({ alg })
})

test('a key service signs in place of the server', async () => {
  const asked: string[] = []
  const served = ofKeys([
    {
      publicKey: jwk(ec.publicKey),
      algorithm: 'ES256',
      kid: 'hsm-1',
      async sign(text) {
        asked.push(text.toString())
        return new Uint8Array(sign('sha256', text, { key: ec.privateKey, dsaEncoding: 'ieee-p1363' }))
      },
    },
  ])
  expect(await verified(served)).toEqual({ alg: 'ES256', kid: 'hsm-1' })
  expect(asked).toHaveLength(1)
})

test('a key service that does not answer within 2 seconds is unavailable', async () => {
  const silent: GivenKey = {
    publicKey: ec.publicKey,
    algorithm: 'ES256',
    sign: () => new Promise<never>(() => {}),
  }
  const { flow, failures } = ofKeys([silent])
  const bend = { scope: 'photos:read', resource: photosApi }
  const { body } = await flow.redeem(gallery, await flow.approve(gallery, bend))
  expect(body).toMatchObject({ error: 'temporarily_unavailable' })
  expect(failures.at(-1)?.reason).toBe('signer_unavailable')
})

test('the kid is the thumbprint of RFC 7638, that of a JWK, or what the host says', async () => {
  const thumbprint = await calculateJwkThumbprint(await exportJWK(ec.publicKey))
  expect(await verified(ofKeys([{ privateKey: ec.privateKey }]))).toMatchObject({ kid: thumbprint })
  expect(await verified(ofKeys([{ privateKey: { ...jwk(ec.privateKey), kid: 'own' } }]))).toMatchObject({
    kid: 'own',
  })
  expect(await verified(ofKeys([{ privateKey: ec.privateKey, kid: 'said' }]))).toMatchObject({ kid: 'said' })
})

test('the first key of an algorithm signs, and all are published, without secrets', async () => {
  const next = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const served = ofKeys([
    { privateKey: next.privateKey, kid: 'new' },
    { privateKey: ec.privateKey, kid: 'old' },
    { privateKey: rsa.privateKey, kid: 'rsa' },
  ])
  expect(await verified(served)).toMatchObject({ kid: 'new' })
  const { body, headers } = await served.flow.open('/.well-known/jwks.json', undefined, {
    Origin: 'https://page.example',
  })
  expect(headers['content-type']).toBe('application/jwk-set+json; charset=utf-8')
  expect(headers['cache-control']).toBe('public, max-age=600')
  expect(headers['access-control-allow-origin']).toBe('*')
  expect(body.keys.map(({ kid, alg, use }: Record<string, string>) => [kid, alg, use])).toEqual([
    ['new', 'ES256', 'sig'],
    ['old', 'ES256', 'sig'],
    ['rsa', 'RS256', 'sig'],
  ])
  const members = new Set(body.keys.flatMap((key: object) => Object.keys(key)))
  expect(members).toEqual(new Set(['alg', 'crv', 'e', 'kid', 'kty', 'n', 'use', 'x', 'y']))
})

test('keys of the host are published in the form of RFC 7517: the published key is the public half', async () => {
  const { body } = await publishedBy(ofKeys([{ privateKey: edwards.privateKey }]))
  const found = createPublicKey({ key: body.keys[0], format: 'jwk' })
  expect(found.equals(edwards.publicKey)).toBe(true)
})

test.each<[string, unknown, RegExp]>([
  ['nothing', {}, /secrets must be given, or keys, and not both/],
  [
    'both',
    { secrets: [keySecret], keys: [{ privateKey: ec.privateKey }] },
    /secrets must be given, or keys, and not both/,
  ],
  ['no key', { keys: [] }, /keys must be a list of keys, at least one/],
  [
    'a public key as private',
    { keys: [{ privateKey: ec.publicKey }] },
    /keys\[0\] has a privateKey that Node cannot read/,
  ],
  [
    'a private key as public',
    { keys: [{ publicKey: ec.privateKey, algorithm: 'ES256', sign: () => 1 }] },
    /keys\[0\] has a publicKey/,
  ],
  [
    'a wrong algorithm',
    { keys: [{ privateKey: ec.privateKey, algorithm: 'RS256' }] },
    /keys\[0\] cannot sign with RS256/,
  ],
  [
    'an HMAC',
    { keys: [{ privateKey: ec.privateKey, algorithm: 'HS256' }] },
    /keys\[0\] must have one of the algorithms/,
  ],
  [
    'a short RSA key',
    { keys: [{ privateKey: generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey }] },
    /RSA key of at least 2048 bits/,
  ],
  [
    'another curve',
    { keys: [{ privateKey: generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey }] },
    /must be a key on P-256/,
  ],
  [
    'one key twice',
    { keys: [{ privateKey: ec.privateKey }, { privateKey: pem(ec.privateKey) }] },
    /keys\[1\] is a key that stands before it/,
  ],
  [
    'one key twice under two names',
    { keys: [{ privateKey: rsa.privateKey }, { privateKey: rsa.privateKey, algorithm: 'PS256', kid: 'b' }] },
    /keys\[1\] is a key that stands before it/,
  ],
  [
    'a public key of another kind than its algorithm',
    { keys: [{ publicKey: rsa.publicKey, algorithm: 'ES256', sign: async () => new Uint8Array(64) }] },
    /keys\[0\] has a publicKey that ES256 cannot use/,
  ],
  [
    'no sign',
    { keys: [{ publicKey: ec.publicKey, algorithm: 'ES256' }] },
    /keys\[0\] needs sign and algorithm/,
  ],
  [
    'an unknown member',
    { keys: [{ privateKey: ec.privateKey, key: 1 }] },
    /keys\[0\] must be { privateKey }/,
  ],
  ['a short secret', { secrets: ['short'] }, /secrets must be a list of texts of at least 32 characters/],
  [
    'an algorithm twice',
    { secrets: [keySecret], algorithms: ['ES256', 'ES256'] },
    /algorithms must be a list of/,
  ],
  [
    'a rotation each minute',
    { secrets: [keySecret], rotateAfter: 60 },
    /rotateAfter must be whole seconds, 3600 to/,
  ],

  [
    'a new key that caches do not know yet',
    { secrets: [keySecret], publishBefore: 899 },
    /publishBefore must be whole seconds, 900 to/,
  ],
  [
    'algorithms of given keys',
    { keys: [{ privateKey: ec.privateKey }], algorithms: ['ES256'] },
    /algorithms belongs to secrets/,
  ],
  ['a misspelt option', { secret: [keySecret] }, /secret is not known here. Did you mean secrets/],
])('%s is a mistake at construction', (_what, options, message) => {
  expect(() => Reflect.apply(signingKeys, undefined, [options])).toThrow(message)
})

test('a store without keys is a mistake at start, with its cure', () => {
  const store = memoryStore()
  const bare: Storage = {
    find: (id) => store.find(id),
    save: (...words) => store.save(...words),
    remove: (id) => store.remove(id),
  }
  expect(() => application(withJwts({ store: bare }))).toThrow(
    /plugIns\[0\] cannot be opened: the store keeps no keys.*redisStore.*signingKeys\({ keys }\)/,
  )
})

test('every algorithm in the option has a key, and each plug-in may choose', async () => {
  const keys = signingKeys({ secrets: [keySecret], algorithms: ['EdDSA', 'RS256'] })
  const served = application(withJwts({}, { algorithm: 'RS256' }, keys), { mount: mountResources })
  expect(await verified(served)).toMatchObject({ alg: 'RS256' })
  const { body } = await publishedBy(served)
  expect(body.keys.map(({ alg }: { alg: string }) => alg).toSorted()).toEqual(['EdDSA', 'RS256'])
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
  expect(await lost.oauth.ready()).toBe(false)
  expect((await publishedBy(lost)).status).toBe(503)
  const bend = { scope: 'photos:read', resource: photosApi }
  const code = await lost.flow.approve(gallery, bend)
  const refused = await lost.flow.redeem(gallery, code)
  expect(refused.body.error).toBe('temporarily_unavailable')
  expect(lost.failures.at(-1)?.reason).toBe('signing_keys_unavailable')
  expect((await good.flow.redeem(gallery, code)).status).toBe(200)
})

test('a retired key ends its tokens within 10 seconds on every process, also by signature', async () => {
  const clock = new Clock()
  const store = memoryStore({ clock: clock.read })
  const make = () => {
    const served = application(withJwts({ store, clock: clock.read }), { mount: mountResources })
    const guard = served.oauth.bearerGuard('photos:read', { resource: photosApi, verify: 'signature' })
    served.app.get('/signed', guard, (_request, response) => void response.end())
    return served
  }
  const [one, other] = [make(), make()]
  const token = await tokenOf(one)
  const statuses = async ({ flow }: Served) => {
    const seen = []
    for (const path of ['/api/photos', '/signed'])
      seen.push((await flow.open(path, undefined, { Authorization: `Bearer ${token}` })).status)
    return seen
  }
  expect(await statuses(other)).toEqual([200, 200])
  const keys = manageSigningKeys({
    issuer: canonicalOptions.issuer,
    store,
    secrets: [keySecret],
    clock: clock.read,
  })
  const [{ kid } = { kid: '' }] = await keys.list()
  await keys.retire(kid)
  clock.advance(10)
  for (const served of [one, other]) {
    expect(await statuses(served)).toEqual([401, 401])
    expect((await publishedBy(served)).body.keys).toEqual([expect.not.objectContaining({ kid })])
  }
  const fresh = await tokenOf(one)
  expect((await other.flow.open('/api/photos', undefined, { Authorization: `Bearer ${fresh}` })).status).toBe(
    200,
  )
})

test('a process goes on with its keys for a minute while the store fails, and then refuses', async () => {
  const clock = new Clock()
  const inner = memoryStore({ clock: clock.read })
  const trouble = { is: false }
  const failing = async <T>(call: () => Promise<T>) => {
    if (trouble.is) throw new Error('The store is away.')
    return call()
  }
  const keys = {
    find: (name: string) => failing(() => inner.keys.find(name)),
    save: (...words: Parameters<typeof inner.keys.save>) => failing(() => inner.keys.save(...words)),
  }
  const { counters } = inner
  const store = {
    counters,
    keys,
    find: (id: string) => inner.find(id),
    save: (...words: Parameters<typeof inner.save>) => inner.save(...words),
    remove: (id: string) => inner.remove(id),
  }
  const served = application(withJwts({ store, clock: clock.read }), { mount: mountResources })
  const token = await tokenOf(served)
  const call = async () =>
    (await served.flow.open('/api/photos', undefined, { Authorization: `Bearer ${token}` })).status
  trouble.is = true
  clock.advance(59)
  expect([await call(), (await publishedBy(served)).status]).toEqual([200, 200])
  clock.advance(1)
  expect([await call(), (await publishedBy(served)).status]).toEqual([503, 503])
  trouble.is = false
  expect([await call(), (await publishedBy(served)).status]).toEqual([200, 200])
})

test('without a plug-in that signs, the keys are published all the same', async () => {
  const oauth = createAuthorizationServer({ ...canonicalOptions, plugIns: [sharedKeys()] })
  expect(await oauth.ready()).toBe(true)
})

test.each<[string, object, RegExp]>([
  ['no store', { issuer: 'https://a.example', secrets: [keySecret] }, /store is missing: it must have keys/],
  ['no secrets', { issuer: 'https://a.example', store: memoryStore() }, /secrets is missing/],
  ['no issuer', { store: memoryStore(), secrets: [keySecret] }, /issuer is missing/],
])('management without %s is a mistake at construction', (_what, options, message) => {
  expect(() => Reflect.apply(manageSigningKeys, undefined, [options])).toThrow(message)
})

test('a plug-in of a host may sign with the keys, too, and each of 300 signatures has its 64 bytes and is good', async () => {
  const keys = signingKeys({ keys: [{ privateKey: ec.privateKey }] })
  const rings: ReturnType<typeof keys.ringOf>[] = []
  const host = {
    name: 'host',
    open: (server: Parameters<typeof keys.ringOf>[0]) => {
      rings.push(keys.ringOf(server))
      return {}
    },
  }
  const { oauth } = application({ plugIns: [keys, host] })
  expect(await oauth.ready()).toBe(true)
  const faults = new Set<string>()
  // One of 128 has a number that is shorter than the others.
  for (let at = 0; at < 300; at++) {
    const text = (await rings[0]?.sign('ES256', 'note+jwt', { at })) ?? ''
    const [, signed = '', end = ''] = /^(.*)\.([\w-]{86})$/.exec(text) ?? []
    const key = { key: ec.publicKey, dsaEncoding: 'ieee-p1363' } as const
    if (!verify('sha256', Buffer.from(signed), key, Buffer.from(end, 'base64url'))) faults.add(text)
  }
  expect([...faults]).toEqual([])
})

test('jwtAccessTokens() needs keys of signingKeys()', () => {
  expect(() => Reflect.apply(jwtAccessTokens, undefined, [{ keys: {} }])).toThrow(/keys must be signingKeys/)
})

test('after a retirement, every process knows the key of a token that came after it, and publishes it', async () => {
  const clock = new Clock()
  const store = memoryStore({ clock: clock.read })
  const [one, other] = [0, 1].map(() =>
    application(withJwts({ store, clock: clock.read }), { mount: mountResources }),
  )
  if (one === undefined || other === undefined) throw new Error('There are two.')
  const { flow } = other
  const call = (token: string) => flow.open('/api/photos', undefined, { Authorization: `Bearer ${token}` })
  const [former, old] = [await tokenOf(one), await tokenOf(other)]
  expect([(await call(former)).status, (await call(old)).status]).toEqual([200, 200])
  const management = manageSigningKeys({
    issuer: canonicalOptions.issuer,
    store,
    secrets: [keySecret],
    clock: clock.read,
  })
  const [{ kid } = { kid: '' }] = await management.list()
  // By the clock, not a second passes between what the other process has read and the token.
  clock.advance(10)
  expect((await call(former)).status).toBe(200)
  await management.retire(kid)
  clock.advance(0.1)
  const token = await tokenOf({ ...one })
  expect((await call(token)).status).toBe(200)
  const published = (await publishedBy(other)).body.keys
  expect(published.map((key: { kid: string }) => key.kid)).not.toContain(kid)
})
