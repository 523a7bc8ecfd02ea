import { commit, end } from './authorization/commit'
import { isUsedOnce, unlessRemains } from './authorization/one-time-use'
import { deleteRecord } from './authorization/step'
import { confirmAbsence } from './stores/authorization-store'
import type { ServerContext } from './wiring'

/** Revokes an authorization in the host's own name. */
export function hostRevocation({
  store,
  reports,
  context,
}: Pick<ServerContext, 'store' | 'reports' | 'context'>): (authorizationId: string) => Promise<void> {
  return async (authorizationId) => {
    // Read for the event, and for a one-time use that must stay used. A record that cannot be read is revoked all the same.
    const read = await store.find(authorizationId).catch(() => 'unreadable' as const)
    // Where this issuer has nothing, the record of another one may stand, which is no business of this host.
    if (read === undefined && (await confirmAbsence(store, authorizationId))) return
    const stored = read === 'unreadable' ? undefined : read?.authorization
    if (isUsedOnce(stored))
      await commit(store, authorizationId, () => deleteRecord(undefined), context().random)
    else await end(store, authorizationId)
    const found = unlessRemains(stored)
    if (found !== undefined || read === 'unreadable') reports.reportHostRevocation(authorizationId, found)
  }
}
