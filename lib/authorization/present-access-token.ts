import { hasDigest } from '../protocol/credential'
import type { Scope } from '../protocol/scope'
import type { Authorization } from './authorization'

/** What an access token that is good right now stands for. */
export interface Access {
  readonly authorizationId: string
  readonly clientId: string
  /** The resource owner; undefined when the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: Scope
  /** Seconds since the epoch. */
  readonly expiresAt: number
}

/** The access that a presented token gives; undefined when it is unknown, expired or revoked. */
export function presentAccessToken(
  current: Authorization | undefined,
  accessToken: string,
  now: number,
): Access | undefined {
  if (current?.state !== 'active' && current?.state !== 'approved') return undefined
  const { id: authorizationId, clientId, subject } = current
  const found = current.accessTokens.find((token) => hasDigest(accessToken, token.digest))
  if (found === undefined || found.expiresAt <= now) return undefined
  return { authorizationId, clientId, subject, scope: found.scope, expiresAt: found.expiresAt }
}
