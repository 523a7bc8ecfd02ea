import { digest } from '../protocol/credential'
import { findToken } from './access-token'
import type { Active, Approved, Authorization } from './authorization'
import type { FormattedToken } from './lookup'
import { standingOf } from './redeem'
import { revocationEvent, type TransitionResult } from './transition'

interface Revocation {
  readonly token: string | FormattedToken
  readonly clientId: string
}

/**
 * RFC 7009 2.1: one record, so all its tokens and an unredeemed code end. Only a genuine token of this client counts.
 */
export function revokeByToken(
  current: Authorization | undefined,
  { token, clientId }: Revocation,
): TransitionResult<'revoked' | 'nothing'> {
  // Confirms an absence that may not be durable yet.
  if (current === undefined) return { action: 'touch', outcome: 'nothing' }
  const isOwn = 'accessTokens' in current && current.clientId === clientId
  return isOwn && descendsFrom(current, token)
    ? { action: 'delete', outcome: 'revoked', event: revocationEvent(current, 'client') }
    : { action: 'none', outcome: 'nothing' }
}

// Old refresh tokens and listed expired tokens count: their client wants the end.
function descendsFrom(authorization: Approved | Active, token: Revocation['token']): boolean {
  if (typeof token !== 'string') {
    const found = findToken(authorization, token.tokenId)
    if (found !== undefined) return found.formatted?.format === token.format
    // The refresh token of another server, with which the authorization began.
    return authorization.state === 'active' && authorization.spentCode === token.tokenId
  }
  if (findToken(authorization, digest(token)) !== undefined) return true
  // RFC 7009 2.1 revokes tokens: a code is none, and before its redemption there is no refresh token.
  return authorization.state === 'active' && standingOf(token, authorization) !== undefined
}
