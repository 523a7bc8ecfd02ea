import { commit, end } from '../authorization/commit'
import { ignoreTombstone, isUsedOnce } from '../authorization/one-time-use'
import { confirmAbsence } from '../authorization/store'
import type { ServerContext } from './context'

/** Revokes an authorization for the host. */
export function hostRevocation({
  store,
  audit,
  issueContext,
}: Pick<ServerContext, 'store' | 'audit' | 'issueContext'>): (authorizationId: string) => Promise<void> {
  return async (authorizationId) => {
    // The event needs the record, and a one-time use must stay used. If the store cannot read the record, the
    // revocation continues.
    const read = await store.find(authorizationId).catch(() => 'unreadable' as const)
    // Another issuer may have a record under this id. This host must not remove such a record.
    if (read === undefined && (await confirmAbsence(store, authorizationId))) return
    const stored = read === 'unreadable' ? undefined : read?.authorization
    if (isUsedOnce(stored))
      await commit(
        store,
        authorizationId,
        () => ({ action: 'delete', outcome: undefined }),
        issueContext().random,
      )
    else await end(store, authorizationId)
    const found = ignoreTombstone(stored)
    if (found !== undefined || read === 'unreadable') audit.reportHostRevocation(authorizationId, found)
  }
}
