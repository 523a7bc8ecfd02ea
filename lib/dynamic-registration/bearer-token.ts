import { digest, isSameText } from '../protocol/credential'
import { invalidToken, type OAuthError } from '../protocol/oauth-error'
import type { ResourceRequest } from '../protocol/token-type'

// RFC 6750 2.1
const credentials = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i

/** The bearer token of a request (RFC 6750 2.1); undefined if the request does not carry exactly one. */
export function bearerTokenOf({ headers }: ResourceRequest): string | undefined {
  const [header = '', second] = headers['authorization'] ?? []
  return second === undefined ? credentials.exec(header)?.[1] : undefined
}

/** Whether one of the digests is the digest of the token. Compares in constant time, and compares all of them. */
export function hasOneOf(digests: readonly string[], token: string): boolean {
  const presented = digest(token)
  return digests.filter((each) => isSameText(each, presented)).length > 0
}

/** The refusal of a wrong initial access token (RFC 7591 3). */
export function initialAccessTokenRefused(): OAuthError {
  return invalidToken('initial_access_token_refused', 'Registration needs an initial access token.')
}

/** The refusal of a wrong registration access token. An unknown client gets the same refusal (RFC 7592 2.1). */
export function registrationAccessTokenRefused(): OAuthError {
  return invalidToken(
    'registration_access_token_refused',
    'The request does not carry the registration access token of this client.',
  )
}
