import { ownerName } from '../authorization/owners'
import { endFound } from '../authorization/commit'
import { ignoreTombstone } from '../authorization/one-time-use'
import { confirmAbsence, type StoredAuthorization } from '../authorization/store'
import type { ListingContext } from './authorizations-options'

/** Forgets the consent first: once the record is gone, nothing names the owner. */
export function hostRevocation(server: ListingContext): (authorizationId: string) => Promise<void> {
  const { store } = server
  const { consents, owners, listsOwners } = store
  return async (authorizationId) => {
    // The event needs the record, and a one-time use must stay used. Unreadable records are revoked too,
    // unless the server remembers consents: the client could come back without a page.
    const read = await store.find(authorizationId).catch((error: unknown) => {
      if (consents !== undefined) throw error
      return 'unreadable' as const
    })
    // A record of another issuer may have this id: never remove it.
    if (read === undefined && (await confirmAbsence(store, authorizationId))) return
    const { subject, clientId, issuerDigest } =
      (read === 'unreadable' ? undefined : read?.authorization) ?? {}
    const owner =
      subject === undefined || issuerDigest === undefined ? undefined : ownerName(issuerDigest, subject)
    if (owner !== undefined && clientId !== undefined) await owners.forget(owner, clientId)
    await revokeFound(server, authorizationId, read)
    if (owner !== undefined && listsOwners) await owners.drop(owner, [authorizationId])
  }
}

export async function revokeFound(
  { store, audit, random }: ListingContext,
  authorizationId: string,
  read: StoredAuthorization | 'unreadable' | undefined,
): Promise<void> {
  const stored = read === 'unreadable' ? undefined : read?.authorization
  await endFound(store, authorizationId, stored, random)
  const found = ignoreTombstone(stored)
  if (found !== undefined || read === 'unreadable') audit.reportHostRevocation(authorizationId, found)
}

/** Also ends what is remembered of a client. Undefined if no client has a mark. */
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
 * For a removed client (RFC 7592 2.3). The mark lives only as long as an access token: without its client, no
 * endpoint takes a code. Anybody may register and remove clients: longer marks could fill the store.
 */
export function removedClientRevocation({
  store: { clientMarks },
  settings: { lifetimes },
}: ListingContext): ((clientId: string) => Promise<void>) | undefined {
  return clientMarks && ((clientId) => clientMarks.revoke(clientId, lifetimes.accessToken))
}
