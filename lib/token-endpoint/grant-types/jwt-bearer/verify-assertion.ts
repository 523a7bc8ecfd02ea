import { verifyJwt, type JwtTerms } from '../../../jwt/verify-jwt'
import { isText } from '../../../protocol/configuration'
import type { Assertion } from '../assertion/assertion'
import { incomplete, refusalOf } from './refusal'

// RFC 8725 3.11: an access token (`at+jwt`) or a logout token of the same issuer is no grant.
const types = ['jwt', 'application/jwt']

/**
 * Proves an assertion by the keys of the issuer that it names (RFC 7523 3).
 *
 * @param now seconds since the epoch.
 * @throws OAuthError `invalid_grant`, or `temporarily_unavailable` when the issuer's keys cannot be had.
 */
export async function verifyAssertion(
  assertion: string,
  now: number,
  terms: Omit<JwtTerms, 'types'>,
): Promise<Assertion> {
  const proven = await verifyJwt(assertion, now, { ...terms, types }).catch((error: unknown) => {
    throw refusalOf(error)
  })
  const { issuer, subject, expiresAt } = proven
  const { iss: _iss, sub: _sub, exp: _exp, jti: id, ...claims } = proven.claims
  if (!isText(id)) throw incomplete()
  return { issuer, subject, id, expiresAt, claims }
}
