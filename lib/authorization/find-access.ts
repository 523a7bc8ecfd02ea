import type { Bindings } from '../protocol/bindings'
import { credentialId } from '../protocol/credential'
import type { AuthorizationStore } from '../stores/authorization-store'
import type { Authorization } from './authorization'
import { presentAccessToken, type Access, type GoodAccessToken } from './present-access-token'

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
  const authorization = await authorizationOf(store, accessToken)
  const good = presentAccessToken(authorization, accessToken, now)
  if (good === undefined || authorization === undefined || !('bindings' in authorization)) return undefined
  return { access: good.access, bindings: authorization.bindings }
}

/** The same with what the token's type kept, for whoever checks a request: no one else has a use for it. */
export async function findAccessToken(
  store: AuthorizationStore,
  accessToken: string,
  now: number,
): Promise<GoodAccessToken | undefined> {
  return presentAccessToken(await authorizationOf(store, accessToken), accessToken, now)
}

async function authorizationOf(
  store: AuthorizationStore,
  accessToken: string,
): Promise<Authorization | undefined> {
  const id = credentialId('accessToken', accessToken)
  return id === undefined ? undefined : (await store.find(id))?.authorization
}
