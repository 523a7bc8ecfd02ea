import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  verify,
} from 'node:crypto'
import { memoryStore, type Store } from '../../lib/index'
import {
  manageSigningKeys,
  signingKeys,
  type GivenKey,
  type SigningAlgorithm,
  type SigningKeys,
} from '../../lib/paths/jwt'
import { application, canonicalOptions } from '../support/flows/application'
import { Clock } from '../support/flows/clock'
import { keySecret, partOf, sharedKeys, withJwts } from '../support/flows/jwt-tokens'
import { gallery, mountResources, photosApi } from '../support/flows/resources'
import { guardedPhotos } from '../support/jwt-guard/guarded-photos'
import { rsaKeyPair } from '../support/rsa-keys'
import { but } from '../support/stores/but'
import { random22 } from '../support/stores/records'

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const edwards = generateKeyPairSync('ed25519')
const rsa = rsaKeyPair()
const weak = rsaKeyPair(1024)

type Jwk = Readonly<Record<string, string>>

/** A server that signs with these keys, and what it publishes. */
function serverWith(keys: SigningKeys, bend: Parameters<typeof withJwts>[0] = {}) {
  const set = application(withJwts(bend, {}, keys), { mount: mountResources })
  const published = async (): Promise<readonly Jwk[]> =>
    (await set.flow.open('/.well-known/jwks.json')).body.keys
  const token = async (): Promise<string> => {
    const asked = { scope: 'photos:read', resource: photosApi }
    return (await set.flow.redeem(gallery, await set.flow.approve(gallery, asked))).body.access_token
  }
  const statusOf = async (text: string) =>
    (await set.flow.open('/api/photos', undefined, { Authorization: `Bearer ${text}` })).status
  return { ...set, published, token, statusOf }
}

const given = (...keys: readonly GivenKey[]) => serverWith(signingKeys({ keys }))
const remote = (publicKey: object, algorithm: SigningAlgorithm): GivenKey => ({
  publicKey,
  algorithm,
  sign: async () => new Uint8Array(64),
})
const every: readonly SigningAlgorithm[] = ['ES256', 'EdDSA', 'RS256', 'PS256']

// Made once for this file: keys of RSA take long to find.
const madeHere = serverWith(signingKeys({ secrets: [keySecret], algorithms: every }))

const membersOf: Readonly<Record<string, readonly string[]>> = {
  EC: ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
  OKP: ['alg', 'crv', 'kid', 'kty', 'use', 'x'],
  RSA: ['alg', 'e', 'kid', 'kty', 'n', 'use'],
}

test.each<[string, () => ReturnType<typeof serverWith>]>([
  [
    'of the host',
    () =>
      given(
        { privateKey: { ...ec.privateKey.export({ format: 'jwk' }), key_ops: ['sign'], note: 'x' } },
        { privateKey: edwards.privateKey },
        { privateKey: rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }) },
      ),
  ],
  ['that the server made', () => madeHere],
  ['of a key service', () => given(remote(rsa.privateKey.export({ format: 'jwk' }), 'RS256'))],
])(
  '[KEY-1, KEY-5] a published key %s has its public members alone, with kid, alg and use',
  async (_whose, server) => {
    const published = await server().published()
    expect(published.length).toBeGreaterThan(0)
    for (const key of published) {
      expect(Object.keys(key).toSorted()).toEqual(membersOf[String(key['kty'])])
      expect(key['use']).toBe('sig')
      expect(every).toContain(key['alg'])
      expect(createPublicKey({ key, format: 'jwk' }).type).toBe('public')
    }
  },
)

test('[KEY-2] the set is an object with the list keys, of the type of a JWK set, for every origin', async () => {
  const { flow } = given({ privateKey: ec.privateKey })
  const { status, headers, text } = await flow.open('/.well-known/jwks.json', undefined, {
    Origin: 'https://page.example',
  })
  expect([status, headers['content-type'], headers['access-control-allow-origin']]).toEqual([
    200,
    'application/jwk-set+json; charset=utf-8',
    '*',
  ])
  const set: unknown = JSON.parse(text)
  expect(set).toEqual({ keys: [expect.objectContaining({ kty: 'EC' })] })
  expect((await flow.submit('/.well-known/jwks.json', {})).status).toBe(405)
})

test('the keys stay published during maintenance, because guards elsewhere go on', async () => {
  const { flow, published } = serverWith(sharedKeys(), { maintenance: () => true })
  expect(await published()).toHaveLength(1)
  expect((await flow.submit('/revoke', { token: 'x', client_id: 'widget' })).status).toBe(503)
})

test('[KEY-3] no two keys of the set have one kid, and the host can give none', async () => {
  const keys = [ec, edwards, rsa].map(({ privateKey }) => ({ privateKey }))
  const kids = (await given(...keys).published()).map(({ kid }) => kid)
  expect(new Set(kids).size).toBe(3)
  for (const other of [
    { privateKey: edwards.privateKey, kid: 'a' },
    { privateKey: ec.privateKey, kid: 'b' },
  ])
    expect(() => given({ privateKey: ec.privateKey, kid: 'a' }, other)).toThrow(
      /keys\[1\] is a key that stands/,
    )
})

test.each<[string, Jwk, string]>([
  [
    'RFC 7638 3.1',
    {
      kty: 'RSA',
      n: '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw',
      e: 'AQAB',
      alg: 'RS256',
      use: 'sig',
    },
    'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
  ],
  [
    'RFC 8037 A.3',
    { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', alg: 'EdDSA' },
    'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  ],
])('[KEY-4] the kid is the thumbprint of the key: the vector of %s', async (_where, jwk, thumbprint) => {
  const algorithm = jwk['alg'] === 'RS256' ? 'RS256' : 'EdDSA'
  const [key] = await given(remote(jwk, algorithm)).published()
  expect(key).toEqual({ ...jwk, use: 'sig', kid: thumbprint })
})

test('[KEY-4] the thumbprint is the digest of the required members, in order and without space', async () => {
  const { crv, kty, x, y } = ec.publicKey.export({ format: 'jwk' })
  const [key] = await given({ privateKey: ec.privateKey }).published()
  const digest = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
  expect(key?.['kid']).toBe(digest)
})

test('[KEY-6] an RSA key has 2048 bits or more, made here, given or held elsewhere', async () => {
  const made = (await madeHere.published()).filter(({ kty }) => kty === 'RSA')
  for (const { n } of made) expect(Buffer.from(String(n), 'base64url').length).toBeGreaterThanOrEqual(256)
  expect(made).toHaveLength(2)
  expect(() => given({ privateKey: weak.privateKey })).toThrow(/keys\[0\] must be a key/)
  expect(() => given(remote(weak.publicKey, 'RS256'))).toThrow(
    /keys\[0\] has a publicKey that RS256 cannot use/,
  )
})

test('[KEY-7] the curve of ES256 is P-256, with whole coordinates, and that of EdDSA is Ed25519', async () => {
  const [curve, twisted] = await madeHere.published()
  expect([curve?.['kty'], curve?.['crv'], curve?.['alg']]).toEqual(['EC', 'P-256', 'ES256'])
  for (const name of ['x', 'y']) expect(Buffer.from(String(curve?.[name]), 'base64url')).toHaveLength(32)
  expect([twisted?.['kty'], twisted?.['crv'], twisted?.['alg']]).toEqual(['OKP', 'Ed25519', 'EdDSA'])
  expect(Buffer.from(String(twisted?.['x']), 'base64url')).toHaveLength(32)
})

test.each(['P-384', 'P-521', 'secp256k1'])('[KEY-7] a key on %s signs nothing', (namedCurve) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve })
  expect(() => given({ privateKey })).toThrow(/keys\[0\] must be a key on P-256/)
  expect(() => given(remote(publicKey, 'ES256'))).toThrow(/keys\[0\] has a publicKey that ES256 cannot use/)
})

test('[KEY-8] a signature by ES256 is two numbers of 32 bytes, and never DER', async () => {
  const set = given({ privateKey: ec.privateKey })
  for (let round = 0; round < 8; round++) {
    const [header, claims, signature = ''] = (await set.token()).split('.')
    const bytes = Buffer.from(signature, 'base64url')
    expect(bytes).toHaveLength(64)
    const key = { key: ec.publicKey, dsaEncoding: 'ieee-p1363' } as const
    expect(verify('sha256', Buffer.from(`${header}.${claims}`), key, bytes)).toBe(true)
  }
})

test('[KEY-8] a signature by PS256 has a salt as long as the digest', async () => {
  const set = given({ privateKey: rsa.privateKey, algorithm: 'PS256' })
  const [header, claims, signature = ''] = (await set.token()).split('.')
  const key = { key: rsa.publicKey, padding: 6, saltLength: 32 }
  expect(verify('sha256', Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url'))).toBe(
    true,
  )
})

test('[KEY-9] EdDSA signs as the key of RFC 8037 A.1 does, whose signatures are always the same', async () => {
  const jwk = {
    kty: 'OKP',
    crv: 'Ed25519',
    d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
    x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  }
  const set = given({ privateKey: jwk })
  expect((await set.published())[0]?.['x']).toBe(jwk.x)
  const [header, claims, signature] = (await set.token()).split('.')
  const key = createPrivateKey({ key: jwk, format: 'jwk' })
  expect(signature).toBe(sign(null, Buffer.from(`${header}.${claims}`), key).toString('base64url'))
  // RFC 8037 A.4: what signs here is what the vector says.
  const vector = sign(null, Buffer.from('eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc'), key)
  expect(vector.toString('base64url')).toBe(
    'hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg',
  )
})

const joe = 'eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ'

test.each<[string, object, string]>([
  [
    'A.2',
    {
      kty: 'RSA',
      n: 'ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ',
      e: 'AQAB',
    },
    `eyJhbGciOiJSUzI1NiJ9.${joe}.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw`,
  ],
  [
    'A.3',
    {
      kty: 'EC',
      crv: 'P-256',
      x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
      y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
    },
    `eyJhbGciOiJFUzI1NiJ9.${joe}.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q`,
  ],
])(
  '[KEY-9] a guard verifies the signature of RFC 7515 %s, and then misses the claims',
  async (_which, key, token) => {
    const set = guardedPhotos(
      { type: 'JWT', jwks: { keys: [key] } },
      { issuer: 'joe', clock: () => 1_300_819_000_000 },
    )
    const [header, claims, signature = ''] = token.split('.')
    await set.ask(token)
    await set.ask(`${header}.${claims}.A${signature.slice(1)}`)
    expect(set.failures.map(({ reason }) => reason)).toEqual(['token_incomplete', 'jwt_signature_wrong'])
  },
)

test('[KEY-10] caches keep the set for ten minutes, as long as a new key waits before it signs', async () => {
  const clock = new Clock()
  const store = memoryStore({ clock: clock.read })
  const set = serverWith(sharedKeys(), { store, clock: clock.read })
  const { headers } = await set.flow.open('/.well-known/jwks.json')
  expect(headers['cache-control']).toBe('public, max-age=600')
  const former = partOf(await set.token(), 0)['kid']
  const { issuer } = canonicalOptions
  await manageSigningKeys({ issuer, store, secrets: [keySecret], clock: clock.read }).rotate()
  clock.advance(10)
  expect(await set.published()).toHaveLength(2)
  clock.advance(600)
  expect(partOf(await set.token(), 0)['kid']).toBe(former)
  clock.advance(300)
  expect(partOf(await set.token(), 0)['kid']).not.toBe(former)
})

test('[KEY-11] a key stays published until the last token that it signed has expired', async () => {
  const clock = new Clock()
  const store = memoryStore({ clock: clock.read })
  const set = serverWith(sharedKeys(), { store, clock: clock.read })
  const [former] = await set.published()
  const { issuer } = canonicalOptions
  await manageSigningKeys({ issuer, store, secrets: [keySecret], clock: clock.read }).rotate()
  clock.advance(899)
  const last = await set.token()
  expect(partOf(last, 0)['kid']).toBe(former?.['kid'])
  clock.advance(599)
  expect(await set.statusOf(last)).toBe(200)
  expect((await set.published()).map(({ kid }) => kid)).toContain(former?.['kid'])
  clock.advance(2 * 3600)
  expect((await set.published()).map(({ kid }) => kid)).not.toContain(former?.['kid'])
})

/** The keys of a memory store, in the hands of an attacker who can read and write them, beside records of tokens. */
function openStore(clock = new Clock(), records: Store = memoryStore({ clock: clock.read })) {
  const inner = memoryStore({ clock: clock.read })
  const names = new Set<string>()
  const storeOf = (key: string): Store => {
    if (!key.startsWith('keys:')) return records
    names.add(key)
    return inner
  }
  const store = but(records, {
    read: (key) => storeOf(key).read(key),
    write: (key, ...words) => storeOf(key).write(key, ...words),
  })
  /** Replaces the text of the keys. */
  const write = async (change: (keys: Record<string, unknown>[]) => object[]) => {
    for (const name of names) {
      const found = await inner.read(name)
      if (found === undefined || !found.value.startsWith('{"keys"')) continue
      const text = JSON.stringify({ keys: change(JSON.parse(found.value).keys) })
      await inner.write(name, text, { version: random22(), expected: found.version })
    }
  }
  return { clock, records, store, write, names: () => [...names], inner }
}

test('[KEY-12] a key that a writer of the store added is not published, and verifies nothing', async () => {
  const theirs = openStore()
  const other = signingKeys({ secrets: [randomBytes(32).toString('base64')] })
  const intruder = serverWith(other, { store: theirs.store, clock: theirs.clock.read })
  const forged = await intruder.token()
  const stolen: object[] = []
  await theirs.write((keys) => {
    stolen.push(...keys)
    return keys
  })
  expect(stolen).toHaveLength(1)

  // The records are the same, so the keys alone decide.
  const ours = openStore(theirs.clock, theirs.records)
  const open = () => serverWith(sharedKeys(), { store: ours.store, clock: ours.clock.read })
  const before = await open().published()
  await ours.write((keys) => [
    ...stolen,
    ...keys,
    ...keys.map((key) => ({ ...key, kid: 'twin' })),
    ...keys.map((key) => ({ ...key, kid: 'longer', longest: 1e9 })),
  ])
  // Another process, which has not seen the keys before.
  const late = open()
  expect(await late.published()).toEqual(before)
  expect(await late.statusOf(forged)).toBe(401)
  expect(await late.statusOf(await late.token())).toBe(200)
})

test('[KEY-12] the store holds no private key in clear', async () => {
  const { inner, names, store, clock } = openStore()
  const { published } = serverWith(sharedKeys(), { store, clock: clock.read })
  const [key] = await published()
  const texts = await Promise.all(names().map(async (name) => (await inner.read(name))?.value ?? ''))
  expect(texts.join()).toContain(key?.['kid'])
  expect(texts.join()).not.toMatch(/PRIVATE|"d":/)
  const [[sealed = ''] = [], ...others] = texts.join().matchAll(/[\w-]{80,}/g)
  expect(others).toEqual([])
  const open = () => createPrivateKey({ key: Buffer.from(sealed, 'base64url'), format: 'der', type: 'pkcs8' })
  expect(open).toThrow(/DECODER|asn1/i)
})

test('[KEY-13] a retired key is published by no process again, also after the store lost the keys', async () => {
  const { clock, store, write } = openStore()
  const open = () => serverWith(sharedKeys(), { store, clock: clock.read })
  const [one, other] = [open(), open()]
  const token = await one.token()
  const { kid } = partOf(token, 0)
  expect(await other.statusOf(token)).toBe(200)
  const { issuer } = canonicalOptions
  await manageSigningKeys({ issuer, store, secrets: [keySecret], clock: clock.read }).retire(String(kid))
  await write(() => [])
  clock.advance(10)
  for (const set of [one, other, open()]) {
    expect((await set.published()).map((key) => key['kid'])).not.toContain(kid)
    expect(await set.statusOf(token)).toBe(401)
    expect(partOf(await set.token(), 0)['kid']).not.toBe(kid)
  }
})

test('[KEY-14] a key serves one algorithm: not two under two names, and none of another kind', () => {
  const { privateKey } = rsa
  expect(() => given({ privateKey, kid: 'a' }, { privateKey, kid: 'b', algorithm: 'PS256' })).toThrow(
    /keys\[1\] is a key that stands before it already/,
  )
  expect(() => given({ privateKey: ec.privateKey, algorithm: 'RS256' })).toThrow(
    /keys\[0\] cannot sign with RS256/,
  )
  for (const [key, algorithm] of [
    [rsa, 'ES256'],
    [ec, 'RS256'],
    [ec, 'EdDSA'],
    [edwards, 'ES256'],
  ] as const)
    expect(() => given(remote(key.publicKey, algorithm))).toThrow(
      `has a publicKey that ${algorithm} cannot use`,
    )
})

test('[KEY-15] the server signs with a published key alone, and names it by its kid', async () => {
  const set = given({ privateKey: ec.privateKey, kid: 'new' }, { privateKey: edwards.privateKey, kid: 'old' })
  const { alg, kid } = partOf(await set.token(), 0)
  const key = (await set.published()).find((each) => each['kid'] === kid)
  expect([key?.['kid'], key?.['alg']]).toEqual(['new', alg])
})
