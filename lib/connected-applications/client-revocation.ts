import type { ListingContext } from './listing-context'

/** Also ends what is remembered of a client. Undefined without the option `authorizations`. */
export function clientRevocation({
  store: { clientMarks },
  settings: { lifetimes, rememberConsent },
}: ListingContext): ((clientId: string) => Promise<void>) | undefined {
  const { refreshToken, accessToken, authorizationCode, authorizationRequest } = lifetimes
  // Twice the longest lifetime: tokens from before a change of the lifetimes may live longer.
  const longest = Math.max(refreshToken, accessToken) + authorizationCode + authorizationRequest
  const seconds = Math.max(2 * longest, rememberConsent?.seconds ?? 0)
  return clientMarks && ((clientId) => clientMarks.revoke(clientId, seconds))
}

/**
 * For a removed client. The mark lives only as long as an access token: without its client, no endpoint takes
 * a code or a token. Anybody may register and remove clients: longer marks could fill the store.
 */
export function removedClientRevocation({
  store: { clientMarks },
  settings: { lifetimes },
}: ListingContext): ((clientId: string) => Promise<void>) | undefined {
  return clientMarks && ((clientId) => clientMarks.revoke(clientId, lifetimes.accessToken))
}
