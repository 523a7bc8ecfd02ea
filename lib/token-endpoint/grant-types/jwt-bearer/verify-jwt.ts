import { isText } from '../../../protocol/configuration'
import { invalidGrant } from '../../../protocol/oauth-error'
import type { Assertion } from '../assertion/assertion'
import type { Header, KeySource } from './key-source'
import { loadJose, type Jose } from './load-jose'
import { incomplete, malformed, notYetValid, refusalOf } from './refusal'

/** What assertions of one server are held to. */
export interface JwtTerms {
  readonly issuers: ReadonlyMap<string, KeySource>
  readonly audience: readonly string[]
  /** Seconds. */
  readonly clockTolerance: number
  readonly algorithms: readonly string[]
}

/** Characters; what a token is at most before anything reads it. */
const maximumLength = 16 * 1024

/**
 * Proves a JWT by the keys of the issuer that it names, and by nothing that it brings itself (RFC 7523 3).
 *
 * @param now seconds since the epoch.
 * @throws OAuthError `invalid_grant`, or `temporarily_unavailable` when the issuer's keys cannot be had.
 */
export async function verifyJwt(
  token: string,
  now: number,
  { issuers, audience, clockTolerance, algorithms }: JwtTerms,
): Promise<Assertion> {
  if (!isCompact(token)) throw malformed()
  const jose = await loadJose()
  const { header, iss: issuer } = decode(jose, token)
  if (!isPlain(header))
    throw invalidGrant('assertion_header_refused', 'The assertion is of another kind or needs an extension.')
  if (!isText(issuer)) throw incomplete()
  const keys = issuers.get(issuer)
  if (keys === undefined)
    throw invalidGrant('assertion_issuer_unknown', 'The issuer of the assertion is not trusted.')
  const find = (protectedHeader: Header) => keys.find(jose, protectedHeader, now)
  const expected = { issuer, audience: [...audience], algorithms: [...algorithms], clockTolerance }
  const { payload } = await jose
    .jwtVerify(token, find, {
      ...expected,
      currentDate: new Date(now * 1000),
    })
    .catch((error: unknown) => {
      throw refusalOf(jose, error)
    })
  return assertionOf(payload, now + clockTolerance)
}

// RFC 7515 3.1: three parts in base64url. In one spelling only: no padding, no white space, no bits to spare.
function isCompact(token: string): boolean {
  if (token.length > maximumLength) return false
  const parts = token.split('.')
  return (
    parts.length === 3 &&
    parts.every((part) => part !== '' && Buffer.from(part, 'base64url').toString('base64url') === part)
  )
}

/** Nothing of this is proven yet: `iss` chooses the keys, and they must then bear it out. */
function decode(jose: Jose, token: string): { readonly header: JsonObject; readonly iss: unknown } {
  try {
    return { header: jose.decodeProtectedHeader(token), iss: jose.decodeJwt(token).iss }
  } catch {
    throw malformed()
  }
}

// RFC 8725 3.11: an access token (`at+jwt`) or a logout token of the same issuer is no grant. RFC 7515 4.1.11: no
// extension is understood here, so none may be critical; `b64` (RFC 7797) is one.
function isPlain({ typ = 'JWT', crit, b64 }: JsonObject): boolean {
  if (typeof typ !== 'string' || crit !== undefined || b64 !== undefined) return false
  return ['jwt', 'application/jwt'].includes(typ.toLowerCase())
}

type JsonObject = Readonly<Record<string, unknown>>

function assertionOf(payload: JsonObject, latest: number): Assertion {
  const { iss: issuer, sub: subject, jti: id, exp: expiresAt, ...claims } = payload
  if (!isText(issuer) || !isText(subject) || !isText(id) || !isFiniteNumber(expiresAt)) throw incomplete()
  const { iat } = claims
  if (typeof iat === 'number' && iat > latest) throw notYetValid()
  return { issuer, subject, id, expiresAt, claims }
}

// JSON can write a number that is none: 1e999.
const isFiniteNumber = (value: unknown): value is number => Number.isFinite(value)
