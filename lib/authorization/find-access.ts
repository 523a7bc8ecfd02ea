import type { ExtensionData } from '../protocol/bindings'
import { credentialId } from '../protocol/credential'
import type { AuthorizationStore } from '../stores/authorization-store'
import { presentAccessToken, type Access, type GoodAccessToken } from './present-access-token'

/** What an access token that is good right now stands for, and what is kept with its authorization. */
export interface FoundAccess {
  readonly access: Access
  readonly extensionData: ExtensionData
}

/** Finds what an access token of this server stands for; undefined when it is unknown, expired or revoked. */
export async function findAccess(
  store: AuthorizationStore,
  accessToken: string,
  now: number,
): Promise<FoundAccess | undefined> {
  const id = credentialId('accessToken', accessToken)
  if (id === undefined) return undefined
  const authorization = (await store.find(id))?.authorization
  const good = presentAccessToken(authorization, accessToken, now)
  if (good === undefined || authorization === undefined || !('extensionData' in authorization))
    return undefined
  return { access: good.access, extensionData: authorization.extensionData }
}

/**
 * The same with what the token's type kept, for whoever checks a request: no one else has a use for it. What the store
 * recalls suffices to let a token pass, never to refuse it: the token may be newer.
 */
export async function findAccessToken(
  store: AuthorizationStore,
  accessToken: string,
  now: number,
): Promise<GoodAccessToken | undefined> {
  const id = credentialId('accessToken', accessToken)
  if (id === undefined) return undefined
  const recalled = presentAccessToken(store.getCached?.(id)?.authorization, accessToken, now)
  return recalled ?? presentAccessToken((await store.find(id))?.authorization, accessToken, now)
}
