import { type Field, someRows } from '../../primitives/schema'
import { inTime } from '../../primitives/clock'
import { isRecord, isText } from '../../primitives/values'
import { thumbprintOf } from '../public-keys'
import { KeySet } from '../key-source'
import { type KeyRing, publishedOf, signWith } from './key-ring'
import {
  algorithmOf,
  isSigningAlgorithm,
  type SigningAlgorithm,
  signingAlgorithms,
} from './signing-algorithm'
import {
  algorithmsFor,
  readPrivateKey,
  readPublicKey,
  type SigningKey,
  signingKey,
  signingKeyOf,
} from './signing-key'

export type GivenKey = PrivateSigningKey | RemoteSigningKey

export interface PrivateSigningKey {
  /** PKCS #8 in PEM, a JWK (RFC 7517), or a `KeyObject` of `node:crypto`. */
  readonly privateKey: string | object
  /** Default: that of the key; for an RSA key `RS256`. */
  readonly algorithm?: SigningAlgorithm
  /** The name of the key in its JWTs. Default: the `kid` of a JWK, or the thumbprint (RFC 7638). */
  readonly kid?: string
}

/** A key that a key service holds. */
export interface RemoteSigningKey {
  /** The public half, in the forms of `privateKey`. */
  readonly publicKey: string | object
  readonly algorithm: SigningAlgorithm
  readonly kid?: string
  /**
   * Resolves to the signature in the form of a JWS: with ES256, 64 bytes (RFC 7518 3.4), not the DER of many
   * key services. A rejection, or more than 2 seconds, causes `temporarily_unavailable`, and the request uses
   * nothing up.
   */
  sign(text: Buffer): Promise<Uint8Array>
}

export const givenSigningKeys: Field<readonly SigningKey[]> = (given, at, name) => {
  const names = new Set<string>()
  const distinct: Field<SigningKey | undefined> = (value, place, path) => {
    const key = givenKey(value, place, path)
    const own = key === undefined ? [] : [key.kid, thumbprintOf(key.publicKey)]
    if (own.some((each) => names.has(each)))
      place.wrong(path, 'is a key that stands before it already, or has its kid.')
    for (const each of own) names.add(each)
    return key
  }
  return someRows(distinct, 'key')(given, at, name)
}

export const givenKey: Field<SigningKey | undefined> = (given, at, name) => {
  const key = readGivenKey(given)
  if (typeof key !== 'string') return key
  at.wrong(name, key)
  return undefined
}

/** The key, or the problem as the rest of a sentence. */
function readGivenKey(value: unknown): SigningKey | string {
  if (!isRecord(value)) return expectation
  const { kid, algorithm, privateKey, publicKey, sign, ...others } = value
  if (Object.keys(others).length > 0 || (privateKey === undefined) === (publicKey === undefined))
    return expectation
  if (kid !== undefined && !isText(kid)) return 'has a kid that is no text.'
  if (algorithm !== undefined && !isSigningAlgorithm(algorithm))
    return `must have one of the algorithms ${signingAlgorithms.join(', ')}.`
  if (privateKey !== undefined) return withPrivateKey(privateKey, algorithm, kid)
  if (typeof sign !== 'function' || algorithm === undefined)
    return 'needs sign and algorithm, because its private key is elsewhere.'
  const key = readPublicKey(publicKey)
  if (key === undefined) return 'has a publicKey that Node cannot read as a public key.'
  // RFC 7518 3.3 to 3.5: the algorithm names the kind of key, and the least size of an RSA key.
  if (!algorithmOf(algorithm).fits(key)) return `has a publicKey that ${algorithm} cannot use.`
  return signingKey(key, algorithm, kid, async (text) => {
    const signed = async (): Promise<unknown> => Reflect.apply(sign, value, [text])
    return signatureIn(await inTime(signed, deadline))
  })
}

const expectation =
  'must be { privateKey }, optionally with algorithm and kid, or { publicKey, algorithm, sign } of a key service.'

function withPrivateKey(
  value: unknown,
  chosen: SigningAlgorithm | undefined,
  kid: string | undefined,
): SigningKey | string {
  const key = readPrivateKey(value)
  if (key === undefined) return 'has a privateKey that Node cannot read as a private key.'
  const possible = algorithmsFor(key)
  const algorithm = possible.find((name) => chosen === undefined || name === chosen)
  if (algorithm === undefined)
    return chosen === undefined
      ? 'must be a key on P-256 or Ed25519, or an RSA key of at least 2048 bits.'
      : `cannot sign with ${chosen}.`
  return signingKeyOf(key, algorithm, kid ?? kidIn(value))
}

// Seconds for one signature of a key service.
const patience = 2

const deadline = {
  seconds: patience,
  late: () => new Error(`The signer took more than ${patience} s.`),
}

export const givenKid = (given: unknown): string | undefined =>
  kidIn(given) ?? (isRecord(given) ? kidIn(given['privateKey']) : undefined)

const kidIn = (key: unknown) => (isRecord(key) && isText(key['kid']) ? key['kid'] : undefined)

function signatureIn(value: unknown): Buffer {
  if (value instanceof Uint8Array && value.length > 0) return Buffer.from(value)
  throw new TypeError('The function sign of a signing key must resolve to the bytes of the signature.')
}

/** The first key of each algorithm signs; all are published. */
export function givenRing(keys: readonly SigningKey[]): KeyRing {
  const published = publishedOf(keys)
  return {
    algorithms: [...new Set(keys.map(({ algorithm }) => algorithm))],
    source: new KeySet(published),
    published: async () => published,
    outlive: () => {},
    sign: signWith((algorithm) => keys.find((key) => key.algorithm === algorithm)),
  }
}
