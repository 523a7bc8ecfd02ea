import { genuineGeneration, hasDigest } from '../protocol/credential'
import type { Active, Approved, Authorization } from './authorization'
import { storedAccessToken } from './lookup'
import { deleteRecord, revocationEvent, touch, type TransitionResult, unchanged } from './transition'

/** A revocation as its client asks for it (RFC 7009 2.1). */
export interface Revocation {
  /** An access token or a refresh token, of any client. */
  readonly token: string
  readonly clientId: string
}

/**
 * Revokes the authorization that a token descends from, whichever of the two kinds it is: one authorization is one
 * record, and RFC 7009 2.1 lets an access token take its refresh token along, and a code that still waits beside it. Only
 * the client's own genuine tokens do; everything else changes nothing.
 */
export function revokeByToken(
  current: Authorization | undefined,
  { token, clientId }: Revocation,
): TransitionResult<'revoked' | 'nothing'> {
  // An earlier revocation may have removed the record, without an answer that it is gone for good.
  if (current === undefined) return touch('nothing')
  if (!('accessTokens' in current) || current.clientId !== clientId) return unchanged('nothing')
  return descendsFrom(current, token)
    ? deleteRecord('revoked', revocationEvent(current, 'client'))
    : unchanged('nothing')
}

// An expired token, or a refresh token of an earlier generation, still names what its client is done with.
function descendsFrom(authorization: Approved | Active, token: string): boolean {
  if (storedAccessToken(authorization.accessTokens, token) !== undefined) return true
  // RFC 7009 2.1 revokes tokens: a code that waits is none, and has no refresh token beside it.
  if (authorization.state === 'approved' || authorization.refreshToken === undefined) return false
  const { refreshToken } = authorization
  const generation = genuineGeneration(token, refreshToken.tagKey)
  if (generation === undefined || generation > refreshToken.generation) return false
  return generation < refreshToken.generation || hasDigest(token, refreshToken.digest)
}
