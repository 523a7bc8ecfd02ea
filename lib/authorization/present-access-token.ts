import type { Json } from '../protocol/bindings'
import { digest } from '../protocol/credential'
import type { Scope } from '../protocol/scope'
import type { AccessToken, Authorization } from './authorization'

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
