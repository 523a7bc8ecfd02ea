import type { ServerContext } from './context'

/** Ends what a client has got so far, and what is remembered of it; undefined without the option `authorizations`. */
export function clientRevocation({
  clientMarks,
  settings: { lifetimes, rememberConsent },
}: Pick<ServerContext, 'clientMarks' | 'settings'>): ((clientId: string) => Promise<void>) | undefined {
  const { refreshToken, accessToken, authorizationCode, authorizationRequest } = lifetimes
  // Twice the longest lifetime: tokens from before a change of the lifetimes may live longer than today's.
  const longest = Math.max(refreshToken, accessToken) + authorizationCode + authorizationRequest
  const seconds = Math.max(2 * longest, rememberConsent?.seconds ?? 0)
  return clientMarks && ((clientId) => clientMarks.revoke(clientId, seconds))
}

/**
 * Ends what a removed client has got so far. The mark lives as long as an access token alone: without its client, no
 * endpoint takes a code, a refresh token or an access token. Anybody may register and remove clients, so that longer
 * marks could fill the store. Undefined without the option `authorizations`.
 */
export function removedClientRevocation({
  clientMarks,
  settings: { lifetimes },
}: Pick<ServerContext, 'clientMarks' | 'settings'>): ((clientId: string) => Promise<void>) | undefined {
  return clientMarks && ((clientId) => clientMarks.revoke(clientId, lifetimes.accessToken))
}
