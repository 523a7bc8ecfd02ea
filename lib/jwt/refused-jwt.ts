import type { Jose } from './jose'

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
