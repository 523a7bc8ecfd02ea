import { isText, isTexts, type OptionsReader } from '../protocol/configuration'
import { type Header, type Jose, loadJose, type UnprovenHeader } from './jose'
import { findKey, type KeySet, type KeySource } from './key-source'

/** What the JWTs of one purpose are held to. */
export interface JwtTerms {
  readonly issuers: ReadonlyMap<string, KeySource>
  /** What `aud` must name one of. */
  readonly audience: readonly string[]
  /** Seconds. */
  readonly clockTolerance: number
  readonly algorithms: readonly string[]
  /** What `typ` may be, in lower case, with and without `application/`; a JWT without one has the type `jwt`. */
  readonly types: readonly string[]
}

/** A JWT whose issuer, audience and times are proven. */
export interface ProvenJwt {
  readonly issuer: string
  readonly subject: string
  /** Seconds since the epoch; a fraction where the issuer writes one. */
  readonly expiresAt: number
  /** All of them, as JSON has them. */
  readonly claims: JsonObject
  /** What vouches for it, as long as the issuer publishes these keys. */
  readonly keySet: KeySet
}

type JsonObject = Readonly<Record<string, unknown>>

/** Characters; what a JWT is at most before anything reads it. */
export const longestJwt = 16 * 1024

/**
 * Proves a JWT by the keys of the issuer that it names, and by nothing that it brings itself (RFC 7519 7.2, RFC 8725).
 *
 * @param now seconds since the epoch.
 * @throws RefusedJwt
 * @throws KeysUnavailable
 */
export async function verifyJwt(token: string, now: number, terms: JwtTerms): Promise<ProvenJwt> {
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
    return { ...registeredClaims(payload, now + terms.clockTolerance), claims: payload, keySet }
  } catch (error) {
    throw refusedBy(jose, error)
  }
}

// RFC 7515 3.1: three parts in base64url. In one spelling only: no padding, no white space, no bits to spare.
function isCompact(token: string): boolean {
  if (token.length > longestJwt) return false
  const parts = token.split('.')
  return (
    parts.length === 3 &&
    parts.every((part) => part !== '' && Buffer.from(part, 'base64url').toString('base64url') === part)
  )
}

/** Nothing of this is proven yet: `iss` chooses the keys, and they must then bear it out. */
function decode(jose: Jose, token: string): { readonly header: UnprovenHeader; readonly iss: unknown } {
  try {
    return { header: jose.decodeProtectedHeader(token), iss: jose.decodeJwt(token).iss }
  } catch {
    throw new RefusedJwt('malformed')
  }
}

// RFC 8725 3.11: a JWT of another purpose is none of this one. RFC 7515 4.1.11: no extension is understood here, so none
// may be critical; `b64` (RFC 7797) is one.
function isOfType({ typ = 'JWT', crit, b64 }: UnprovenHeader, types: readonly string[]): boolean {
  if (typeof typ !== 'string' || crit !== undefined || b64 !== undefined) return false
  return types.includes(typ.toLowerCase())
}

// RFC 8725 3.1: said by the host, before a key is looked for.
function allowed(header: UnprovenHeader, algorithms: readonly string[]): Header {
  const { alg } = header
  if (!isText(alg)) throw new RefusedJwt('malformed')
  if (!algorithms.includes(alg)) throw new RefusedJwt('algorithm_refused')
  return { ...header, alg }
}

function expected(issuer: string, now: number, { audience, algorithms, clockTolerance }: JwtTerms) {
  const currentDate = new Date(now * 1000)
  return { issuer, audience: [...audience], algorithms: [...algorithms], clockTolerance, currentDate }
}

function registeredClaims(
  { iss: issuer, sub: subject, exp: expiresAt, iat }: JsonObject,
  latest: number,
): Pick<ProvenJwt, 'issuer' | 'subject' | 'expiresAt'> {
  if (!isText(issuer) || !isText(subject) || !isFiniteNumber(expiresAt)) throw new RefusedJwt('incomplete')
  if (typeof iat === 'number' && iat > latest) throw new RefusedJwt('not_yet_valid')
  return { issuer, subject, expiresAt }
}

// JSON can write a number that is none: 1e999.
const isFiniteNumber = (value: unknown): value is number => Number.isFinite(value)

/** What is wrong with a JWT. */
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

/** A JWT that is not taken. It holds nothing of the JWT: claims are not for logs. */
export class RefusedJwt extends Error {
  override readonly name = 'RefusedJwt'

  constructor(readonly fault: JwtFault) {
    super(`The JWT is refused: ${fault}.`)
  }
}

/** jose's reason in words of ours, without jose's error, which holds the claims; what is no reason stays as it is. */
export function refusedBy(jose: Jose, error: unknown): unknown {
  const fault = faultOf(jose, error)
  return fault === undefined ? error : new RefusedJwt(fault)
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

// RFC 7518 3.1 and RFC 8037 3.1, RFC 9864 2.2: signatures by a private key alone; neither `none` nor a shared secret.
const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')

/** Reads the option `algorithms`: all asymmetric ones, where it is left out. */
export function readAlgorithms(reading: OptionsReader): readonly string[] {
  const cure = `must be a list of ${algorithms.join(', ')}.`
  return reading.optional('algorithms', algorithms, isAlgorithms, cure)
}

const isAlgorithms = (value: unknown): value is readonly string[] =>
  isTexts(value) && value.length > 0 && value.every((name) => algorithms.includes(name))

/** Reads the option `audience`: one text, or a list of which each will do. */
export function readAudience(reading: OptionsReader, cure: string): readonly string[] {
  return [reading.required('audience', '', isAudience, cure)].flat()
}

const isAudience = (value: unknown): value is string | readonly string[] =>
  isText(value) || (isTexts(value) && value.length > 0)
