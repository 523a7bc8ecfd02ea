import {
  constants,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  sign,
} from 'node:crypto'
import { promisify } from 'node:util'
import { inTime } from '../../primitives/clock'
import { type Field, kind, someRows } from '../../primitives/schema'
import { isRecord, isText } from '../../primitives/values'
import { materialOf, type PublicKey, thumbprintOf } from '../public-keys'

/** RFC 7518 3.1, RFC 8037 3.1. */
export type SigningAlgorithm = 'ES256' | 'EdDSA' | 'RS256' | 'PS256'

interface AlgorithmRow {
  /** Off the event loop. */
  readonly generate: () => Promise<KeyObject>
  readonly fits: (key: KeyObject) => boolean
  /** In the form of a JWS (RFC 7515). */
  readonly sign: (key: KeyObject, text: Buffer) => Promise<Buffer>
}

const generatePair = promisify(generateKeyPair)

// A signature with RSA takes more than 0.5 ms: off the event loop.
const signOffLoop = promisify(sign)

const rsa: Omit<AlgorithmRow, 'sign'> = {
  generate: async () => (await generatePair('rsa', { modulusLength: 2048 })).privateKey,
  // RFC 7518 3.3 and 3.5: 2048 bits or more.
  fits: ({ asymmetricKeyType, asymmetricKeyDetails }) =>
    asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048,
}

const numberLength = 32

/** RFC 7518 3.4. Not by `dsaEncoding`: with an object of options, Node 24 signs in 75 µs in place of 30. */
function joinNumbers(der: Buffer): Buffer {
  // Tag and length of the sequence, then of each number: all below 128.
  const endOfFirst = 4 + der.readUInt8(3)
  const joined = Buffer.alloc(2 * numberLength)
  putNumber(joined, numberLength, der.subarray(4, endOfFirst))
  putNumber(joined, 2 * numberLength, der.subarray(endOfFirst + 2))
  return joined
}

function putNumber(joined: Buffer, end: number, bytes: Buffer): void {
  const number = bytes.subarray(-numberLength)
  number.copy(joined, end - number.length)
}

const withSalt = {
  padding: constants.RSA_PKCS1_PSS_PADDING,
  // RFC 7518 3.5.
  saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
}

export const algorithmRows: Readonly<Record<SigningAlgorithm, AlgorithmRow>> = {
  ES256: {
    generate: async () => (await generatePair('ec', { namedCurve: 'P-256' })).privateKey,
    fits: ({ asymmetricKeyType, asymmetricKeyDetails }) =>
      asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1',
    sign: async (key, text) => joinNumbers(sign('sha256', text, key)),
  },
  EdDSA: {
    generate: async () => (await generatePair('ed25519')).privateKey,
    fits: ({ asymmetricKeyType }) => asymmetricKeyType === 'ed25519',
    sign: async (key, text) => sign(undefined, text, key),
  },
  RS256: { ...rsa, sign: (key, text) => signOffLoop('sha256', text, key) },
  PS256: { ...rsa, sign: (key, text) => signOffLoop('sha256', text, { key, ...withSalt }) },
}

/** The recommended one first. */
export const signingAlgorithms: readonly SigningAlgorithm[] = ['ES256', 'EdDSA', 'RS256', 'PS256']

export const isSigningAlgorithm = (value: unknown): value is SigningAlgorithm =>
  signingAlgorithms.some((name) => name === value)

export const signingAlgorithm = kind(isSigningAlgorithm, `must be one of ${signingAlgorithms.join(', ')}.`)

export interface SigningKey {
  readonly kid: string
  readonly algorithm: SigningAlgorithm
  /** RFC 7517 4 */
  readonly publicKey: PublicKey & { readonly use: 'sig' }
  /** May wait for a key service. */
  readonly sign: (text: Buffer) => Promise<Buffer>
}

/** @param named default: the thumbprint (RFC 7638). */
function signingKey(
  publicKey: KeyObject,
  algorithm: SigningAlgorithm,
  named: string | undefined,
  signText: SigningKey['sign'],
): SigningKey {
  const jwk = materialOf(publicKey.export({ format: 'jwk' })) ?? {}
  const kid = named ?? thumbprintOf(jwk)
  return { kid, algorithm, publicKey: { ...jwk, use: 'sig', kid, alg: algorithm }, sign: signText }
}

export const signingKeyOf = (privateKey: KeyObject, algorithm: SigningAlgorithm, kid?: string): SigningKey =>
  signingKey(createPublicKey(privateKey), algorithm, kid, (text) =>
    algorithmRows[algorithm].sign(privateKey, text),
  )

export type GivenKey = PrivateSigningKey | RemoteSigningKey

export interface PrivateSigningKey {
  /** PKCS #8 in PEM, a JWK (RFC 7517), or a `KeyObject` of `node:crypto`. */
  readonly privateKey: string | object
  /** Default: that of the key; for an RSA key `RS256`. */
  readonly algorithm?: SigningAlgorithm
  /** Default: the `kid` of a JWK, or the thumbprint (RFC 7638). */
  readonly kid?: string
}

/** A key that a key service holds. */
export interface RemoteSigningKey {
  /** The public half, in the forms of `privateKey`. */
  readonly publicKey: string | object
  readonly algorithm: SigningAlgorithm
  readonly kid?: string
  /**
   * Resolves to the signature in the form of a JWS: with ES256, 64 bytes (RFC 7518 3.4), not DER. A
   * rejection, or more than 2 seconds, causes `temporarily_unavailable`, and the request uses nothing up.
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
  const { kid, algorithm, privateKey, publicKey, sign: signText, ...others } = value
  if (Object.keys(others).length > 0 || (privateKey === undefined) === (publicKey === undefined))
    return expectation
  if (kid !== undefined && !isText(kid)) return 'has a kid that is no text.'
  if (algorithm !== undefined && !isSigningAlgorithm(algorithm))
    return `must have one of the algorithms ${signingAlgorithms.join(', ')}.`
  if (privateKey !== undefined) return withPrivateKey(privateKey, algorithm, kid)
  if (typeof signText !== 'function' || algorithm === undefined)
    return 'needs sign and algorithm, because its private key is elsewhere.'
  const key = readKey(publicKey, 'public')
  if (key === undefined) return 'has a publicKey that Node cannot read as a public key.'
  // RFC 7518 3.3 to 3.5.
  if (!algorithmRows[algorithm].fits(key)) return `has a publicKey that ${algorithm} cannot use.`
  return signingKey(key, algorithm, kid, async (text) => {
    const signed = async (): Promise<unknown> => Reflect.apply(signText, value, [text])
    const signature = await inTime(signed, deadline)
    if (signature instanceof Uint8Array && signature.length > 0) return Buffer.from(signature)
    throw new TypeError('The function sign of a signing key must resolve to the bytes of the signature.')
  })
}

const expectation =
  'must be { privateKey }, optionally with algorithm and kid, or { publicKey, algorithm, sign } of a key service.'

const deadline = { seconds: 2, late: () => new Error('The signer took more than 2 s.') }

function withPrivateKey(
  value: unknown,
  chosen: SigningAlgorithm | undefined,
  kid: string | undefined,
): SigningKey | string {
  const key = readKey(value, 'private')
  if (key === undefined) return 'has a privateKey that Node cannot read as a private key.'
  const possible = signingAlgorithms.filter((name) => algorithmRows[name].fits(key))
  const algorithm = possible.find((name) => chosen === undefined || name === chosen)
  if (algorithm !== undefined) return signingKeyOf(key, algorithm, kid ?? kidIn(value))
  return chosen === undefined
    ? 'must be a key on P-256 or Ed25519, or an RSA key of at least 2048 bits.'
    : `cannot sign with ${chosen}.`
}

function readKey(value: unknown, type: 'private' | 'public'): KeyObject | undefined {
  if (isKeyObject(value)) return value.type === type ? value : undefined
  const parse = type === 'private' ? createPrivateKey : createPublicKey
  try {
    if (isText(value)) return parse(value)
    return isRecord(value) ? parse({ key: value, format: 'jwk' }) : undefined
  } catch {
    return undefined
  }
}

// Not `instanceof`: a test runner may load another copy of the class.
const isKeyObject = (value: unknown): value is KeyObject =>
  isRecord(value) && isText(value['type']) && typeof value['export'] === 'function'

export const givenKid = (given: unknown): string | undefined =>
  kidIn(given) ?? (isRecord(given) ? kidIn(given['privateKey']) : undefined)

const kidIn = (key: unknown) => (isRecord(key) && isText(key['kid']) ? key['kid'] : undefined)
