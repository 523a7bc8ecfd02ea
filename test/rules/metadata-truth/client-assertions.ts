import { constants, createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import type { Json } from '../../../lib/index'

const curve = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve })
const pairs = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  p256: curve('P-256'),
  p384: curve('P-384'),
  p521: curve('P-521'),
  k256: curve('secp256k1'),
  ed25519: generateKeyPairSync('ed25519'),
}

type Pair = keyof typeof pairs

/** The public keys of a client that has one of each kind that servers take. */
export const clientKeys = {
  keys: (['rsa', 'p256', 'p384', 'p521', 'ed25519'] as const).map((kid): Json =>
    JSON.parse(JSON.stringify({ ...pairs[kid].publicKey.export({ format: 'jwk' }), kid })),
  ),
}

type Signature = (input: Buffer) => Buffer

const rsa =
  (bits: number): Signature =>
  (input) =>
    sign(`sha${bits}`, input, pairs.rsa.privateKey)
const pss =
  (bits: number): Signature =>
  (input) =>
    sign(`sha${bits}`, input, {
      key: pairs.rsa.privateKey,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: bits / 8,
    })
const ecdsa =
  (bits: number, { privateKey: key }: { readonly privateKey: KeyObject }): Signature =>
  (input) =>
    sign(`sha${bits}`, input, { key, dsaEncoding: 'ieee-p1363' })
const edwards: Signature = (input) => sign(null, input, pairs.ed25519.privateKey)

const signatures: Readonly<Record<string, readonly [kid: Pair, Signature]>> = {
  RS256: ['rsa', rsa(256)],
  RS384: ['rsa', rsa(384)],
  RS512: ['rsa', rsa(512)],
  PS256: ['rsa', pss(256)],
  PS384: ['rsa', pss(384)],
  PS512: ['rsa', pss(512)],
  ES256: ['p256', ecdsa(256, pairs.p256)],
  ES384: ['p384', ecdsa(384, pairs.p384)],
  ES512: ['p521', ecdsa(512, pairs.p521)],
  ES256K: ['k256', ecdsa(256, pairs.k256)],
  EdDSA: ['ed25519', edwards],
  Ed25519: ['ed25519', edwards],
  none: ['rsa', () => Buffer.alloc(0)],
}

/** The parameters of a client that authenticates by an assertion. An HMAC uses the secret of the client. */
export function assertionOf(
  alg: string,
  { client_id, secret }: { readonly client_id: string; readonly secret: string },
  aud: string,
  now: number,
) {
  const claims = { iss: client_id, sub: client_id, aud, exp: now + 60, jti: randomUUID() }
  return {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: signedBy(alg, {}, claims, secret),
  }
}

/** A JWT of the client with these keys. */
export function signedBy(alg: string, header: object, claims: object, secret: string): string {
  const [kid, signature] = signatures[alg] ?? [undefined, hmac(alg, secret)]
  const input = [{ ...header, alg, kid }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${input}.${signature(Buffer.from(input)).toString('base64url')}`
}

function hmac(alg: string, secret: string): Signature {
  const [, bits] = /^HS(\d+)$/.exec(alg) ?? []
  if (bits === undefined) throw new Error(`No exercise signs by ${alg}.`)
  return (input) => createHmac(`sha${bits}`, secret).update(input).digest()
}
