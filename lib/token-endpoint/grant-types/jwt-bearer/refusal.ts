import { invalidGrant, type OAuthError } from '../../../protocol/oauth-error'
import type { Jose } from './load-jose'

/** jose's reason in words of ours, without jose's error: that one holds the claims, which are not for logs. */
export function refusalOf({ errors }: Jose, error: unknown): unknown {
  if (error instanceof errors.JWTExpired)
    return invalidGrant('assertion_expired', 'The assertion has expired.')
  if (error instanceof errors.JWTClaimValidationFailed) return claimRefusal(error)
  if (error instanceof errors.JOSEAlgNotAllowed)
    return invalidGrant('assertion_algorithm_refused', 'The assertion is not signed by its issuer.')
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
    return invalidGrant('assertion_key_unknown', 'The assertion is not signed by its issuer.')
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return invalidGrant('assertion_signature_wrong', 'The assertion is not signed by its issuer.')
  return error instanceof errors.JOSEError ? malformed() : error
}

function claimRefusal({ claim, reason }: { readonly claim: string; readonly reason: string }): OAuthError {
  if (reason !== 'check_failed') return incomplete()
  if (claim === 'nbf') return notYetValid()
  return invalidGrant('assertion_audience_wrong', 'The assertion is meant for another server.')
}

export const malformed = () => invalidGrant('assertion_malformed', 'The assertion is malformed.')
export const incomplete = () =>
  invalidGrant('assertion_incomplete', 'The assertion lacks a claim, or has one of a wrong type.')
export const notYetValid = () => invalidGrant('assertion_not_yet_valid', 'The assertion is not valid yet.')
