import { hasDigest } from '../protocol/credential'
import type { Authorization } from './authorization'
import type { Access } from './present-access-token'

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
