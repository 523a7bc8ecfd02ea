import { type JwtFault, type JwtTerms, verifyJwt } from '../../../jwt/verify-jwt'
import { isText } from '../../../primitives/values'
import { refused } from '../../../protocol/refusals'
import type { Assertion } from '../assertion'

const refusal = (fault: JwtFault) => refused(`assertion_${fault}`)

/** @param repeatable the issuers whose assertions may come again. */
export async function verifyAssertion(
  assertion: string,
  now: number,
  terms: Omit<JwtTerms, 'refusal'>,
  repeatable?: ReadonlySet<string>,
): Promise<Assertion> {
  const proven = await verifyJwt(assertion, now, { ...terms, isAssertion: true, refusal })
  const { issuer, subject, expiresAt } = proven
  const { iss: _iss, sub: _sub, exp: _exp, ...claims } = proven.claims
  if (repeatable?.has(issuer) === true) return { issuer, subject, id: undefined, expiresAt, claims }
  const { jti: id, ...others } = claims
  if (!isText(id)) throw refused('assertion_incomplete')
  return { issuer, subject, id, expiresAt, claims: others }
}
