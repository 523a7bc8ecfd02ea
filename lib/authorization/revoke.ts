import { genuineGeneration, hasDigest } from '../protocol/credential'
import type { Active, Approved, Authorization } from './authorization'
import { type FormattedToken, storedAccessToken } from './lookup'
import { revocationEvent, type TransitionResult } from './transition'

/** A revocation, as the client requests it (RFC 7009 2.1). */
interface Revocation {
  /** An opaque access token, a refresh token, or an access token that a format has read, of any client. */
  readonly token: string | FormattedToken
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
  if (current === undefined) return { action: 'touch', outcome: 'nothing' }
  const isOwn = 'accessTokens' in current && current.clientId === clientId
  return isOwn && descendsFrom(current, token)
    ? { action: 'delete', outcome: 'revoked', event: revocationEvent(current, 'client') }
    : { action: 'none', outcome: 'nothing' }
}

// Old refresh tokens count, too, and expired tokens as long as the record lists them: their client wants to end the
// authorization.
function descendsFrom(authorization: Approved | Active, token: Revocation['token']): boolean {
  if (typeof token !== 'string')
    return authorization.accessTokens.some(
      ({ digest, formatted }) => digest === token.tokenId && formatted?.format === token.format,
    )
  if (storedAccessToken(authorization.accessTokens, token) !== undefined) return true
  // RFC 7009 2.1 revokes tokens. A code is no token, and an authorization with an unredeemed code has no refresh token.
  if (authorization.state === 'approved' || authorization.refreshToken === undefined) return false
  const { refreshToken } = authorization
  const generation = genuineGeneration(token, refreshToken.tagKey)
  if (generation === undefined || generation > refreshToken.generation) return false
  return generation < refreshToken.generation || hasDigest(token, refreshToken.digest)
}
