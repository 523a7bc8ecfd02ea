import { credentialId, digest, hasDigest } from '../protocol/credential'
import type { Json, KeptExtensionData } from '../protocol/extension'
import type { Scope } from '../protocol/scope'
import type { AuthorizationStore } from '../stores/authorization-store'
import type { AccessToken, Authorization } from './authorization'

/** A good access token of this server: what it gives, and what plug-ins keep with it. */
export interface FoundAccess extends KeptExtensionData {
  readonly access: Access
  /** What the token type keeps with the token. */
  readonly tokenData: Json | undefined
}

/** What an access token gives. */
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

/** Finds an access token of this server; undefined when the token is unknown, expired or revoked. */
export async function findAccess(
  store: AuthorizationStore,
  accessToken: string,
  now: number,
): Promise<FoundAccess | undefined> {
  const id = credentialId('accessToken', accessToken)
  if (id === undefined) return undefined
  return presentAccessToken((await store.find(id))?.authorization, accessToken, now)
}

/**
 * Finds an access token for a guard. A cached record suffices to let a token pass, never to refuse it, because the token may
 * be newer than the cached record.
 */
export async function findAccessToken(
  store: AuthorizationStore,
  accessToken: string,
  now: number,
): Promise<FoundAccess | undefined> {
  const id = credentialId('accessToken', accessToken)
  if (id === undefined) return undefined
  const cached = presentAccessToken(store.getCached?.(id)?.authorization, accessToken, now)
  return cached ?? presentAccessToken((await store.find(id))?.authorization, accessToken, now)
}

/** What a presented access token gives; undefined when it is unknown, expired or revoked. */
export function presentAccessToken(
  current: Authorization | undefined,
  accessToken: string,
  now: number,
): FoundAccess | undefined {
  if (current?.state !== 'active' && current?.state !== 'approved') return undefined
  const { id: authorizationId, clientId, subject, tokenType, extensionData } = current
  const found = storedAccessToken(current.accessTokens, accessToken)
  if (found === undefined || found.expiresAt <= now) return undefined
  const { scope, expiresAt, tokenData, extensionData: tokenExtensionData } = found
  const access = { authorizationId, clientId, subject, scope, tokenType, expiresAt }
  return { access, tokenData, extensionData, tokenExtensionData }
}

/** The stored form of an access token, expired or not; undefined when the record does not have the token. */
export function storedAccessToken(
  accessTokens: readonly AccessToken[],
  accessToken: string,
): AccessToken | undefined {
  const presented = digest(accessToken)
  // Clients mostly present the newest token. A plain comparison is safe: its timing reveals a digest, which opens nothing.
  return accessTokens.findLast((token) => token.digest === presented)
}

/** What a refresh token gives; undefined when it is unknown, expired, rotated or revoked. */
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
