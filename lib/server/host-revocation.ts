import { indexOwner } from '../authorization/authorization-index'
import { commit, end } from '../authorization/commit'
import { ignoreTombstone, isUsedOnce } from '../authorization/one-time-use'
import { confirmAbsence } from '../authorization/store'
import type { ServerContext } from './context'

/**
 * Revokes an authorization for the host. Forgets first that the owner has allowed this client anything: once the record is
 * gone, nothing names the owner.
 */
export function hostRevocation({
  store,
  audit,
  issueContext,
  consentStore,
}: Pick<ServerContext, 'store' | 'audit' | 'issueContext' | 'consentStore'>): (
  authorizationId: string,
) => Promise<void> {
  return async (authorizationId) => {
    // The event needs the record, and a one-time use must stay used. If the store cannot read the record, the
    // revocation continues.
    const read = await store.find(authorizationId).catch(() => 'unreadable' as const)
    // Another issuer may have a record under this id. This host must not remove such a record.
    if (read === undefined && (await confirmAbsence(store, authorizationId))) return
    const stored = read === 'unreadable' ? undefined : read?.authorization
    const { subject, clientId, issuerDigest } = stored ?? {}
    if (consentStore !== undefined && subject !== undefined && issuerDigest !== undefined)
      await consentStore.forget(indexOwner(issuerDigest, subject), clientId)
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
