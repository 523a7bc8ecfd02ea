import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { aListOf } from '../primitives/fields'
import { type Field, kind, usual } from '../primitives/schema'
import { isRecord, isText, isTexts } from '../primitives/values'
import { type Jose, KeySet, type KeySource, loadJose } from './key-source'
import { materialOf, type PublicKey } from './public-keys'

export interface JwtTerms {
  readonly issuers: ReadonlyMap<string, KeySource>
  /** `aud` must name one of these. Undefined: any audience. */
  readonly audience: readonly string[] | undefined
  /** Whether `aud` must name nothing else. Default false. */
  readonly soleAudience?: boolean
  /** Seconds. */
  readonly clockTolerance: number
  readonly algorithms: readonly string[]
  /** In lower case, without `application/`. Without `typ`, the type is `jwt`. */
  readonly types: readonly string[]
  /** RFC 9101 10.8: a JWT with `response_type` is an authorization request. Default false. */
  readonly isAssertion?: boolean
  /** `expiresAt` is then infinite. Default false. */
  readonly mayBeEndless?: boolean
  /** Default: `RefusedJwt`. */
  readonly refusal?: (fault: JwtFault) => Error
}

export interface ProvenClaims {
  readonly issuer: string
  /** Seconds since the epoch, perhaps with a fraction. */
  readonly expiresAt: number
  readonly claims: JsonObject
  /** The issuer still publishes it. */
  readonly keySet: KeySet
}

interface ProvenJwt extends ProvenClaims {
  readonly subject: string
}

type JsonObject = Readonly<Record<string, unknown>>

/** Characters. */
export const longestJwt = 16 * 1024

export async function verifyJwt(token: string, now: number, terms: JwtTerms): Promise<ProvenJwt> {
  const proven = await verifyClaims(token, now, terms)
  const { sub: subject } = proven.claims
  if (!isText(subject)) throw refusalIn(terms, 'incomplete')
  return { ...proven, subject }
}

/** RFC 7519 7.2, RFC 8725. Never with a key of the JWT itself. */
export async function verifyClaims(token: string, now: number, terms: JwtTerms): Promise<ProvenClaims> {
  const jose = await loadJose()
  try {
    const { header, issuer, source } = readUnproven(token, terms)
    const found = await source.find(now, header)
    if (found === undefined) throw new RefusedJwt('key_unknown')
    const { payload } = await jose.jwtVerify(token, found.key, expected(issuer, now, terms))
    if (terms.soleAudience === true && [payload['aud']].flat().length > 1)
      throw new RefusedJwt('audience_wrong')
    if (terms.isAssertion === true && Object.hasOwn(payload, 'response_type'))
      throw new RefusedJwt('header_refused')
    return { issuer, expiresAt: endIn(payload, now, terms), claims: payload, keySet: found.keySet }
  } catch (error) {
    const fault = faultOf(error, jose)
    throw fault === undefined ? error : refusalIn(terms, fault)
  }
}

const refusalIn = ({ refusal }: JwtTerms, fault: JwtFault) => refusal?.(fault) ?? new RefusedJwt(fault)

/** Only chooses the keys that verify the whole JWT. */
function readUnproven(token: string, { issuers, types, algorithms: accepted }: JwtTerms) {
  const parts = compactParts(token, longestJwt)
  const [header, claims] = [jsonIn(parts?.header), jsonIn(parts?.payload)]
  if (header === undefined || claims === undefined) throw new RefusedJwt('malformed')
  if (!isOfType(header, types)) throw new RefusedJwt('header_refused')
  const { iss: issuer } = claims
  if (!isText(issuer)) throw new RefusedJwt('incomplete')
  const source = issuers.get(issuer)
  if (source === undefined) throw new RefusedJwt('issuer_unknown')
  const { alg, kid } = header
  if (!isText(alg)) throw new RefusedJwt('malformed')
  // RFC 8725 3.1: the host chooses the algorithms.
  if (!accepted.includes(alg)) throw new RefusedJwt('algorithm_refused')
  return { header: { alg, kid }, issuer, source }
}

/** `jwt` if it has none, undefined if it is no text. */
export const unprovenType = (token: string): string | undefined =>
  typeIn(jsonIn(compactParts(token, longestJwt)?.header) ?? {})

/** Unproven: only to choose keys. */
export const decodedClaims = (token: string): JsonObject =>
  jsonIn(compactParts(token, longestJwt)?.payload) ?? {}

// RFC 7515 3.1. One spelling only: no padding, white space or stray bits.
export function compactParts(text: string, longest: number) {
  const parts = text.length > longest ? [] : text.split('.')
  const [header, payload, signature, fourth] = parts.map((part) => Buffer.from(part, 'base64url'))
  if (header === undefined || payload === undefined || signature === undefined || fourth !== undefined)
    return undefined
  const isExact = [header, payload, signature].every(
    (bytes, index) => bytes.length > 0 && bytes.toString('base64url') === parts[index],
  )
  return isExact ? { header, payload } : undefined
}

// RFC 7519 7.2: UTF-8.
const decoder = new TextDecoder('utf-8', { fatal: true })

export function jsonIn(bytes: Buffer | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

// RFC 8725 3.11: another purpose. RFC 7515 4.1.11: critical extensions; `b64` (RFC 7797) is one.
function isOfType(header: JsonObject, types: readonly string[]): boolean {
  const { crit, b64 } = header
  return crit === undefined && b64 === undefined && types.some((type) => type === typeIn(header))
}

// RFC 7515 4.1.9: letter case means nothing, and the prefix `application/` is optional.
const typeIn = ({ typ = 'JWT' }: JsonObject): string | undefined =>
  isText(typ) ? typ.toLowerCase().replace(/^application\//, '') : undefined

function expected(issuer: string, now: number, { audience, algorithms, clockTolerance }: JwtTerms) {
  const currentDate = new Date(now * 1000)
  const terms = { issuer, algorithms: [...algorithms], clockTolerance, currentDate }
  return audience === undefined ? terms : { ...terms, audience: [...audience] }
}

function endIn({ exp, iat }: JsonObject, now: number, { clockTolerance, mayBeEndless }: JwtTerms): number {
  if (typeof iat === 'number' && iat > now + clockTolerance) throw new RefusedJwt('not_yet_valid')
  if (exp === undefined && mayBeEndless === true) return Infinity
  // JSON can hold infinity: 1e999.
  if (typeof exp !== 'number' || !Number.isFinite(exp)) throw new RefusedJwt('incomplete')
  return exp
}

export type JwtFault =
  | 'malformed'
  | 'header_refused'
  | 'algorithm_refused'
  | 'issuer_unknown'
  | 'key_unknown'
  | 'signature_wrong'
  | 'incomplete'
  | 'audience_wrong'
  | 'expired'
  | 'not_yet_valid'

/** Claims must not reach logs. */
export class RefusedJwt extends Error {
  override readonly name = 'RefusedJwt'

  constructor(readonly fault: JwtFault) {
    super(`The JWT is refused: ${fault}.`)
  }
}

const faults: Readonly<Record<string, JwtFault>> = {
  ERR_JWT_EXPIRED: 'expired',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'key_unknown',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'signature_wrong',
}

function faultOf(error: unknown, { errors }: Jose): JwtFault | undefined {
  if (error instanceof RefusedJwt) return error.fault
  if (!(error instanceof errors.JOSEError)) return undefined
  if (!(error instanceof errors.JWTClaimValidationFailed)) return faults[error.code] ?? 'malformed'
  if (error.reason !== 'check_failed') return 'incomplete'
  return error.claim === 'nbf' ? 'not_yet_valid' : 'audience_wrong'
}

/** One for each kind of signature: the response time does not tell a missing key from a wrong signature. */
export class DecoyKeys {
  private readonly keys = new KeySet([
    rsa(),
    ...curves().flatMap(({ publicKey }) => materialOf(publicKey.export({ format: 'jwk' })) ?? []),
  ])

  async verifyInVain(token: string): Promise<void> {
    const alg = jsonIn(compactParts(token, longestJwt)?.header)?.['alg']
    if (!isText(alg)) return
    const { compactVerify } = await loadJose()
    try {
      const found = await this.keys.find(0, { alg })
      if (found !== undefined) await compactVerify(token, found.key)
    } catch {}
  }
}

// Nobody uses the private half: the modulus need not be a product of two primes.
function rsa(): PublicKey {
  const modulus = randomBytes(256)
  modulus[0] = 0xff
  modulus[255] = 0xff
  return { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' }
}

const curves = () => [
  ...['P-256', 'P-384', 'P-521'].map((namedCurve) => generateKeyPairSync('ec', { namedCurve })),
  generateKeyPairSync('ed25519'),
]

/** RFC 7518 3.1, RFC 8037 3.1, RFC 9864 2.2: neither `none` nor algorithms with a shared secret. */
export type JwsAlgorithm = 'EdDSA' | 'Ed25519' | `${'ES' | 'PS' | 'RS'}${256 | 384 | 512}`

const algorithms: readonly JwsAlgorithm[] = [
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const),
]

export const algorithmsOr = (fallback: readonly JwsAlgorithm[]) =>
  usual(
    fallback,
    aListOf(
      (name): name is JwsAlgorithm => algorithms.some((each) => each === name),
      `must be a list of ${algorithms.join(', ')}.`,
    ),
  )

export const verifiedAlgorithms = algorithmsOr(algorithms)

export const anAudience = (cure: string): Field<readonly string[] | undefined> => {
  const audience = kind((value) => isText(value) || (isTexts(value) && value.length > 0), cure)
  return (given, at, name) => {
    audience(given, at, name)
    return isText(given) ? [given] : isTexts(given) ? given : undefined
  }
}
