import { isText } from '../protocol/configuration'
import type { Header, Jose, UnprovenHeader } from './jose'
import type { KeySet } from './key-set'
import { findKey, type KeySource } from './key-source'
import { loadJose } from './load-jose'
import { RefusedJwt, refusedBy } from './refused-jwt'

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
