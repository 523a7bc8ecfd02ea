import type { Bindings } from '../protocol/bindings'
import { credentialId } from '../protocol/credential'
import type { AuthorizationStore } from '../stores/authorization-store'
import { presentAccessToken, type Access } from './present-access-token'

/** What an access token that is good right now stands for, and what is kept with its authorization. */
export interface FoundAccess {
  readonly access: Access
  readonly bindings: Bindings
}

/** Finds what an access token of this server stands for; undefined when it is unknown, expired or revoked. */
export async function findAccess(
  store: AuthorizationStore,
  accessToken: string,
  now: number,
): Promise<FoundAccess | undefined> {
  const id = credentialId('accessToken', accessToken)
  const authorization = id === undefined ? undefined : (await store.find(id))?.authorization
  const good = presentAccessToken(authorization, accessToken, now)
  if (good === undefined || authorization === undefined || !('bindings' in authorization)) return undefined
  return { access: good.access, bindings: authorization.bindings }
}
