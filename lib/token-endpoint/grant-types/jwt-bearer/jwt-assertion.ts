import { aTextThat } from '../../../primitives/fields'
import { type Field, type Fields, group, needed, optional, someRows } from '../../../primitives/schema'
import { keysAt, keySet, type KeySource } from '../../../jwt/key-source'
import { type JwtFault, type JwtTerms, verifyJwt } from '../../../jwt/verify-jwt'
import { isText } from '../../../primitives/values'
import { refused } from '../../../protocol/refusals'
import type { Assertion } from '../assertion'

export type TrustedIssuer = {
  /** The claim `iss` of its assertions, letter by letter. */
  readonly issuer: string
} & (
  | {
      /** A JWK set (RFC 7517 5) of public keys. */
      readonly jwks: { readonly keys: readonly object[] }
      readonly jwks_uri?: undefined
    }
  | {
      /**
       * The URL of the issuer's JWK set: https, or http on a loopback host. The server fetches it at first use,
       * again after 10 minutes, and for an unknown key, but at most once in 10 seconds. It follows no
       * redirects, accepts at most 256 KiB and waits at most 5 seconds.
       */
      readonly jwks_uri: string
      readonly jwks?: undefined
    }
)

const trustedIssuer = group(
  {
    issuer: needed('', aTextThat('must be the claim iss of its assertions.')),
    jwks: optional(keySet),
    // At `invalid_grant`, the client would discard an assertion that may be valid.
    jwks_uri: optional(keysAt('assertion_keys_unavailable')),
  } satisfies Fields<TrustedIssuer>,
  { check: (_issuer, at) => at.requireOne('jwks', 'jwks_uri') },
)
const listed = someRows(trustedIssuer, '{ issuer, jwks } or { issuer, jwks_uri }')

export const trustedIssuers: Field<ReadonlyMap<string, KeySource>> = (given, at, name) => {
  const issuers = new Map<string, KeySource>()
  for (const [index, { issuer, jwks, jwks_uri }] of listed(given, at, name).entries()) {
    if (issuers.has(issuer))
      at.wrong(`${name}[${index}].issuer`, `is "${issuer}", which is in the list already.`)
    const keys = jwks ?? jwks_uri
    if (keys !== undefined) issuers.set(issuer, keys)
  }
  return issuers
}

const refusal = (fault: JwtFault) => refused(`assertion_${fault}`)

export async function verifyAssertion(assertion: string, now: number, terms: JwtTerms): Promise<Assertion> {
  const proven = await verifyJwt(assertion, now, { ...terms, isAssertion: true, refusal })
  const { issuer, subject, expiresAt } = proven
  const { iss: _iss, sub: _sub, exp: _exp, jti: id, ...claims } = proven.claims
  if (!isText(id)) throw refused('assertion_incomplete')
  return { issuer, subject, id, expiresAt, claims }
}
