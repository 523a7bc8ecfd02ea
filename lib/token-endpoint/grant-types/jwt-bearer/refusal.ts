import { KeysUnavailable } from '../../../jwt/key-source'
import { RefusedJwt, type JwtFault } from '../../../jwt/refused-jwt'
import { invalidGrant, temporarilyUnavailable, type OAuthError } from '../../../protocol/oauth-error'

/** What a client is told of an assertion that was not taken; what is no fault of it stays as it is. */
export function refusalOf(error: unknown): unknown {
  if (error instanceof RefusedJwt) return refusals[error.fault]()
  if (!(error instanceof KeysUnavailable)) return error
  // The assertion may be good: the client shall not throw it away.
  return temporarilyUnavailable(
    'assertion_keys_unavailable',
    'The keys of the issuer of the assertion cannot be had.',
    { cause: error.cause },
  )
}

export const incomplete = () =>
  invalidGrant('assertion_incomplete', 'The assertion lacks a claim, or has one of a wrong type.')

const refusals: Readonly<Record<JwtFault, () => OAuthError>> = {
  malformed: () => invalidGrant('assertion_malformed', 'The assertion is malformed.'),
  header_refused: () =>
    invalidGrant('assertion_header_refused', 'The assertion is of another kind or needs an extension.'),
  issuer_unknown: () =>
    invalidGrant('assertion_issuer_unknown', 'The issuer of the assertion is not trusted.'),
  algorithm_refused: () =>
    invalidGrant('assertion_algorithm_refused', 'The assertion is not signed by its issuer.'),
  key_unknown: () => invalidGrant('assertion_key_unknown', 'The assertion is not signed by its issuer.'),
  signature_wrong: () =>
    invalidGrant('assertion_signature_wrong', 'The assertion is not signed by its issuer.'),
  incomplete,
  audience_wrong: () =>
    invalidGrant('assertion_audience_wrong', 'The assertion is meant for another server.'),
  expired: () => invalidGrant('assertion_expired', 'The assertion has expired.'),
  not_yet_valid: () => invalidGrant('assertion_not_yet_valid', 'The assertion is not valid yet.'),
}
