import type { Active } from '../authorization/authorization'
import type { Recipient } from '../authorization/complete-issue'
import type { Issued } from '../authorization/issue'
import type { Plugins } from '../doors/plug-ins'
import type { At } from '../protocol/acting-extensions'
import { type CompleteResult, revoked } from '../authorization/transition'
import { dataOf } from '../protocol/extension-data'
import type { ExtensionRefresh, RefreshVerdict } from '../protocol/extension-decision'
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'

/** Runs once the refresh token is known to be good, and before anything is signed or spent. */
export function checkingRefresh(
  extensions: Plugins['atRefresh'],
  recipient: Recipient,
  complete: CompleteResult<Issued> | undefined,
): CompleteResult<Issued> {
  return async (result, current) => {
    // A repetition without a write repeats tokens that the extensions allowed. The grant of another server has no
    // record yet.
    const refreshed = result.action === 'save' ? (current ?? result.authorization) : undefined
    if (refreshed?.state === 'active' && (await ends(extensions, recipient, refreshed)))
      return revoked(refreshed, 'no_longer_allowed')
    return complete === undefined ? result : complete(result, current)
  }
}

async function ends(
  extensions: Plugins['atRefresh'],
  { client }: Recipient,
  { id: authorizationId, subject, scope, grantedAt, extensionData }: Active,
): Promise<boolean> {
  const shared = { client, authorizationId, subject, scope, grantedAt }
  for (const extension of extensions) {
    const verdict = await verdictOf(extension, {
      ...shared,
      authorizationData: dataOf(extension.name, extensionData),
    })
    if (verdict === 'end') return true
  }
  return false
}

async function verdictOf(extension: At<'atRefresh'>, refresh: ExtensionRefresh): Promise<RefreshVerdict> {
  try {
    const verdict: unknown = await extension.atRefresh(refresh)
    if (verdict === 'keep' || verdict === 'end') return verdict
    throw new TypeError(`The extension "${extension.name}" must resolve to 'keep' or 'end' for a refresh.`)
  } catch (cause) {
    if (cause instanceof OAuthError) throw cause
    // The check may succeed later: the client must not lose its refresh token.
    throw refused('refresh_check_failed', {}, { cause })
  }
}
