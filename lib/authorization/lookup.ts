import { credentialId, digest, hasDigest } from '../protocol/credential'
import type { Json, KeptExtensionData } from '../protocol/extension'
import type { Scope } from '../protocol/scope'
import type { AuthorizationStore } from '../stores/authorization-store'
import type { AccessToken, Authorization } from './authorization'

/** A valid access token of this server: the access, and the data that plug-ins keep with the token. */
export interface FoundAccess extends KeptExtensionData {
  readonly access: Access
  /** The data that the token type keeps with the token. */
  readonly tokenData: Json | undefined
}

/** The access that a token gives: for which client and resource owner, with which scope, and until when. */
export interface Access {
  /** 22 characters of base64url. To revoke the token, pass the id to `oauth.revoke()`. */
  readonly authorizationId: string
  readonly clientId: string
  /** The resource owner; undefined if the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: Scope
  /** `token_type` of the access tokens (RFC 6749 7.1). */
  readonly tokenType: string
  /** Seconds since the epoch. */
  readonly expiresAt: number
}

/** Finds an access token at a time, in seconds since the epoch; undefined if the token is not valid. */
export type FindAccess = (accessToken: string, now: number) => Promise<FoundAccess | undefined>

/** Finds an access token of this server; undefined if the token is unknown, expired or revoked. */
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
 * Finds an access token for a guard. A cached record is enough to accept a token. Before the guard refuses a token,
 * this function reads the store, because the token may be newer than the cached record.
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

/**
 * The access of a presented access token; undefined if the record does not hold the token, or the token has expired.
 */
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

/** The stored form of an access token, even of an expired one; undefined if the record does not hold the token. */
export function storedAccessToken(
  accessTokens: readonly AccessToken[],
  accessToken: string,
): AccessToken | undefined {
  const presented = digest(accessToken)
  // Clients mostly present the newest token. A plain comparison is safe: its timing could reveal a digest at most,
  // and a digest gives no access.
  return accessTokens.findLast((token) => token.digest === presented)
}

/** The access behind a refresh token; undefined if the token is expired, or not the current one of the record. */
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
