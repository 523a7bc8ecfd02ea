import { genuineGeneration, hasDigest } from '../protocol/credential'
import type { Active, Approved, Authorization } from './authorization'
import { storedAccessToken } from './lookup'
import { deleteRecord, revocationEvent, touch, type TransitionResult, unchanged } from './transition'

/** A revocation, as the client requests it (RFC 7009 2.1). */
export interface Revocation {
  /** An access token or a refresh token, of any client. */
  readonly token: string
  readonly clientId: string
}

/**
 * The transition that revokes the authorization of an access token or a refresh token. RFC 7009 2.1 allows the
 * revocation of an access token to revoke the refresh token, too. One authorization is one record, so the revocation
 * ends all its tokens, and an unredeemed code. Only a genuine token of this client has this effect; any other text
 * changes nothing.
 */
export function revokeByToken(
  current: Authorization | undefined,
  { token, clientId }: Revocation,
): TransitionResult<'revoked' | 'nothing'> {
  // An earlier revocation may have removed the record, and its request may have failed before the removal was durable.
  // So this request confirms the absence.
  if (current === undefined) return touch('nothing')
  if (!('accessTokens' in current) || current.clientId !== clientId) return unchanged('nothing')
  return descendsFrom(current, token)
    ? deleteRecord('revoked', revocationEvent(current, 'client'))
    : unchanged('nothing')
}

// Expired tokens and old refresh tokens count, too: their client wants to end the authorization.
function descendsFrom(authorization: Approved | Active, token: string): boolean {
  if (storedAccessToken(authorization.accessTokens, token) !== undefined) return true
  // RFC 7009 2.1 revokes tokens. A code is no token, and an authorization with an unredeemed code has no refresh token.
  if (authorization.state === 'approved' || authorization.refreshToken === undefined) return false
  const { refreshToken } = authorization
  const generation = genuineGeneration(token, refreshToken.tagKey)
  if (generation === undefined || generation > refreshToken.generation) return false
  return generation < refreshToken.generation || hasDigest(token, refreshToken.digest)
}
