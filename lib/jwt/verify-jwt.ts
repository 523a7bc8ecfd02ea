import { isRecord, isText, isTexts, type OptionsReader } from '../primitives/options-reader'
import { type Header, type Jose, loadJose, type UnprovenHeader } from './jose'
import { findKey, type KeySet, type KeySource } from './key-source'

/** The requirements for JWTs of one purpose. */
export interface JwtTerms {
  /** The key source of each trusted issuer, by `iss`. */
  readonly issuers: ReadonlyMap<string, KeySource>
  /** `aud` must name at least one of these. Undefined: any audience. */
  readonly audience: readonly string[] | undefined
  /** Whether `aud` must name nothing else: one text, or a list of one. Default false. */
  readonly soleAudience?: boolean
  /** How many seconds the clock of the issuer may differ. */
  readonly clockTolerance: number
  readonly algorithms: readonly string[]
  /**
   * Accepted values of `typ`, in lower case, with and without `application/`. A JWT without `typ` has the type `jwt`.
   */
  readonly types: readonly string[]
  /** Whether the JWT is an assertion. One with `response_type` is an authorization request (RFC 9101 10.8). Default false. */
  readonly isAssertion?: boolean
  /** Whether the JWT may have no end: `expiresAt` is then infinite. Default false. */
  readonly mayBeEndless?: boolean
}

/** A JWT with verified signature, issuer, audience and times. */
export interface ProvenClaims {
  readonly issuer: string
  /** Seconds since the epoch, with a fraction if the issuer writes one. */
  readonly expiresAt: number
  /** All claims, as parsed from JSON. */
  readonly claims: JsonObject
  /** The key set that verified the JWT. The proof holds as long as the issuer publishes this set. */
  readonly keySet: KeySet
}

/** A JWT that is about a subject. */
export interface ProvenJwt extends ProvenClaims {
  readonly subject: string
}

type JsonObject = Readonly<Record<string, unknown>>

/**
 * A `clockTolerance` without bounds, for a reader that is asked what a JWT names, and not whether the JWT is good now. A
 * finite number, because jose demands one.
 */
export const anyTime = Number.MAX_SAFE_INTEGER

/** The largest JWT, in characters. A longer JWT is refused unread. */
export const longestJwt = 16 * 1024

/**
 * Verifies a JWT about a subject as {@link verifyClaims} does.
 *
 * @throws RefusedJwt, also if the JWT has no `sub`.
 * @throws KeysUnavailable
 */
export async function verifyJwt(token: string, now: number, terms: JwtTerms): Promise<ProvenJwt> {
  const proven = await verifyClaims(token, now, terms)
  const { sub: subject } = proven.claims
  if (!isText(subject)) throw new RefusedJwt('incomplete')
  return { ...proven, subject }
}

/**
 * Verifies a JWT with the keys of the issuer in `iss`, and never with a key that the JWT itself brings (RFC 7519 7.2,
 * RFC 8725).
 *
 * @param now seconds since the epoch.
 * @throws RefusedJwt if the JWT does not meet the terms.
 * @throws KeysUnavailable if the keys of the issuer cannot be fetched.
 */
export async function verifyClaims(token: string, now: number, terms: JwtTerms): Promise<ProvenClaims> {
  if (!isCompact(token)) throw new RefusedJwt('malformed')
  const jose = await loadJose()
  const { header, iss: issuer } = decode(jose, token)
  if (!isOfType(header, terms.types)) throw new RefusedJwt('header_refused')
  if (!isText(issuer)) throw new RefusedJwt('incomplete')
  const source = terms.issuers.get(issuer)
  if (source === undefined) throw new RefusedJwt('issuer_unknown')
  try {
    const { key, keySet } = await findKey(jose, source, allowed(header, terms.algorithms), now)
    const { payload } = await jose.jwtVerify(token, key, expected(issuer, now, terms))
    if (terms.soleAudience === true && [payload['aud']].flat().length > 1)
      throw new RefusedJwt('audience_wrong')
    if (terms.isAssertion === true && Object.hasOwn(payload, 'response_type'))
      throw new RefusedJwt('header_refused')
    return { ...registeredClaims(payload, now, terms), claims: payload, keySet }
  } catch (error) {
    throw refusedBy(jose, error)
  }
}

// RFC 7515 3.1: three parts in base64url. Accepts one spelling only: no padding, no white space, no stray bits.
function isCompact(token: string): boolean {
  if (token.length > longestJwt) return false
  const parts = token.split('.')
  return (
    parts.length === 3 &&
    parts.every((part) => part !== '' && Buffer.from(part, 'base64url').toString('base64url') === part)
  )
}

/**
 * The claim `sub` of a JWT; undefined if the text is not a JWT with a subject. Nothing of the JWT is proven: the
 * subject only says whose keys can prove it.
 */
export function unprovenSubject(token: string): string | undefined {
  const { sub } = decodedClaims(token)
  return isText(sub) ? sub : undefined
}

/** The type of a JWT, of which nothing is proven, in lower case: `jwt` if it has none, undefined if it is no text. */
export function unprovenType(token: string): string | undefined {
  const { typ = 'JWT' } = decodedPart(token, 0)
  return isText(typ) ? typ.toLowerCase() : undefined
}

/** The claims of a JWT, of which nothing is proven; none if the text is no JWT. */
export const decodedClaims = (token: string): JsonObject => decodedPart(token, 1)

function decodedPart(token: string, index: 0 | 1): JsonObject {
  if (!isCompact(token)) return {}
  try {
    const part: unknown = JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString('utf8'))
    return isRecord(part) ? part : {}
  } catch {
    return {}
  }
}

/** Decodes header and issuer, and verifies nothing. `iss` only chooses the keys, which then verify the whole JWT. */
function decode(jose: Jose, token: string): { readonly header: UnprovenHeader; readonly iss: unknown } {
  try {
    return { header: jose.decodeProtectedHeader(token), iss: jose.decodeJwt(token).iss }
  } catch {
    throw new RefusedJwt('malformed')
  }
}

// RFC 8725 3.11: refuses a JWT that was issued for another purpose. RFC 7515 4.1.11: refuses critical extensions,
// because this package supports none; `b64` (RFC 7797) is such an extension.
function isOfType({ typ = 'JWT', crit, b64 }: UnprovenHeader, types: readonly string[]): boolean {
  if (typeof typ !== 'string' || crit !== undefined || b64 !== undefined) return false
  return types.includes(typ.toLowerCase())
}

// RFC 8725 3.1: the host chooses the algorithms, so the check runs before the look-up of a key.
function allowed(header: UnprovenHeader, algorithms: readonly string[]): Header {
  const { alg } = header
  if (!isText(alg)) throw new RefusedJwt('malformed')
  if (!algorithms.includes(alg)) throw new RefusedJwt('algorithm_refused')
  return { ...header, alg }
}

function expected(issuer: string, now: number, { audience, algorithms, clockTolerance }: JwtTerms) {
  const currentDate = new Date(now * 1000)
  const terms = { issuer, algorithms: [...algorithms], clockTolerance, currentDate }
  return audience === undefined ? terms : { ...terms, audience: [...audience] }
}

function registeredClaims(
  { iss: issuer, exp, iat }: JsonObject,
  now: number,
  { clockTolerance, mayBeEndless }: JwtTerms,
): Pick<ProvenClaims, 'issuer' | 'expiresAt'> {
  if (!isText(issuer)) throw new RefusedJwt('incomplete')
  if (typeof iat === 'number' && iat > now + clockTolerance) throw new RefusedJwt('not_yet_valid')
  if (exp === undefined && mayBeEndless === true) return { issuer, expiresAt: Infinity }
  if (!isFiniteNumber(exp)) throw new RefusedJwt('incomplete')
  return { issuer, expiresAt: exp }
}

// JSON can hold a number that overflows to infinity: 1e999.
const isFiniteNumber = (value: unknown): value is number => Number.isFinite(value)

/** The kinds of faults for which a JWT is refused. */
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

/** A refused JWT. The error holds nothing else of the JWT, because claims must not reach logs. */
export class RefusedJwt extends Error {
  override readonly name = 'RefusedJwt'

  constructor(
    readonly fault: JwtFault,
    /** `aud` of a JWT for others, whose signature is good. */
    readonly audience?: unknown,
  ) {
    super(`The JWT is refused: ${fault}.`)
  }
}

/** Turns an error of jose into a {@link RefusedJwt} without the claims. Returns other errors unchanged. */
function refusedBy(jose: Jose, error: unknown): unknown {
  const fault = faultOf(jose, error)
  if (fault === undefined) return error
  const isForOthers = fault === 'audience_wrong' && error instanceof jose.errors.JWTClaimValidationFailed
  return new RefusedJwt(fault, isForOthers ? error.payload?.aud : undefined)
}

function faultOf({ errors }: Jose, error: unknown): JwtFault | undefined {
  if (error instanceof errors.JWTExpired) return 'expired'
  if (error instanceof errors.JWTClaimValidationFailed) return claimFault(error)
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm_refused'
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
    return 'key_unknown'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature_wrong'
  return error instanceof errors.JOSEError ? 'malformed' : undefined
}

function claimFault({ claim, reason }: { readonly claim: string; readonly reason: string }): JwtFault {
  if (reason !== 'check_failed') return 'incomplete'
  return claim === 'nbf' ? 'not_yet_valid' : 'audience_wrong'
}

// RFC 7518 3.1, RFC 8037 3.1 and RFC 9864 2.2: signatures by private keys only; neither `none` nor algorithms with a
// shared secret.
const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')

/** Reads the option `algorithms`. Default: all asymmetric algorithms. */
export function readAlgorithms(reading: OptionsReader): readonly string[] {
  const cure = `must be a list of ${algorithms.join(', ')}.`
  return reading.optional('algorithms', algorithms, isAlgorithms, cure)
}

const isAlgorithms = (value: unknown): value is readonly string[] =>
  isTexts(value) && value.length > 0 && value.every((name) => algorithms.includes(name))

/** Reads the option `audience`: one text, or a list of alternatives. */
export function readAudience(reading: OptionsReader, cure: string): readonly string[] {
  return [reading.required('audience', '', isAudience, cure)].flat()
}

const isAudience = (value: unknown): value is string | readonly string[] =>
  isText(value) || (isTexts(value) && value.length > 0)
