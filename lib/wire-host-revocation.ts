import type { Wiring } from './wiring'

/** Revokes an authorization in the host's own name. */
export function hostRevocation({
  store,
  reports,
}: Pick<Wiring, 'store' | 'reports'>): (authorizationId: string) => Promise<void> {
  return async (authorizationId) => {
    // Read for the event alone: nobody pays for it where nobody listens, and trouble with it keeps nobody from revoking.
    const read = reports.hears('revoked')
      ? await store.find(authorizationId).catch(() => 'unreadable' as const)
      : undefined
    await store.remove(authorizationId)
    if (read === 'unreadable') reports.reportHostRevocation(authorizationId, undefined)
    else if (read !== undefined) reports.reportHostRevocation(authorizationId, read.authorization)
  }
}
