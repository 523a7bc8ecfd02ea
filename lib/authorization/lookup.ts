import { credentialId, digest, hasDigest } from '../protocol/credential'
import type { ExtensionData, Json } from '../protocol/extension'
import type { Scope } from '../protocol/scope'
import type { AuthorizationStore } from '../stores/authorization-store'
import type { AccessToken, Authorization } from './authorization'

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
 * Finds an access token for a guard, with what its token type keeps for the check of a request. A cached record suffices to
 * let a token pass, never to refuse it, because the token may be newer.
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

/** What an access token that is good right now stands for. */
export interface Access {
  readonly authorizationId: string
  readonly clientId: string
  /** The resource owner; undefined when the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: Scope
  /** `token_type` of the access tokens. */
  readonly tokenType: string
  /** Seconds since the epoch. */
  readonly expiresAt: number
}

/** A good access token: what it stands for, and what its type kept for the check. */
export interface GoodAccessToken {
  readonly access: Access
  readonly tokenData: Json | undefined
}

/** The access that a presented token gives; undefined when it is unknown, expired or revoked. */
export function presentAccessToken(
  current: Authorization | undefined,
  accessToken: string,
  now: number,
): GoodAccessToken | undefined {
  if (current?.state !== 'active' && current?.state !== 'approved') return undefined
  const { id: authorizationId, clientId, subject, tokenType } = current
  const found = storedAccessToken(current.accessTokens, accessToken)
  if (found === undefined || found.expiresAt <= now) return undefined
  const { scope, expiresAt, tokenData } = found
  return { access: { authorizationId, clientId, subject, scope, tokenType, expiresAt }, tokenData }
}

/** What the record has of an access token, expired or not; undefined when it is none of these. */
export function storedAccessToken(
  accessTokens: readonly AccessToken[],
  accessToken: string,
): AccessToken | undefined {
  const presented = digest(accessToken)
  // The newest is presented most. A plain comparison is safe: its timing tells of a digest, which opens nothing.
  return accessTokens.findLast((token) => token.digest === presented)
}

/** What a refresh token could be traded for right now; undefined when it is unknown, expired, rotated or revoked. */
export function presentRefreshToken(
  current: Authorization | undefined,
  refreshToken: string,
  now: number,
): Access | undefined {
  if (current?.state !== 'active' || current.refreshToken === undefined) return undefined
  const { id: authorizationId, clientId, subject, scope, tokenType } = current
  const { expiresAt } = current.refreshToken
  if (!hasDigest(refreshToken, current.refreshToken.digest) || expiresAt <= now) return undefined
  return { authorizationId, clientId, subject, scope, tokenType, expiresAt }
}
