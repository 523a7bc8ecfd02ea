import { genuineGeneration, hasDigest } from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import type { Authorization } from './authorization'
import type { IssueContext } from './circumstances'
import { issuePair, type Issued } from './issue'
import { replayRotation } from './present-refresh-token-again'
import { refreshRefused, refreshScope } from './refresh-refusal'
import { rotate } from './rotation'
import { touch, unchanged, save, type TransitionResult } from './step'

/** A refresh as its client asks for it. */
export interface Refresh {
  readonly refreshToken: string
  readonly clientId: string
  /** The scope parameter as it came; undefined means all that was granted. */
  readonly scope: string | undefined
}

/**
 * Rotates a refresh token. The one that was just rotated out gets the same answer again during the grace, so that
 * parallel refreshes and lost answers converge; any older one was stolen or leaked, and revokes (RFC 9700 4.14.2).
 *
 * @param superseded the record of the round before, when another writer was faster.
 */
export function rotateRefreshToken(
  current: Authorization | undefined,
  refresh: Refresh,
  context: IssueContext,
  superseded?: Authorization,
): TransitionResult<Issued> {
  // A reuse may have removed the record, without an answer that it is gone for good.
  if (current === undefined) return touch(refreshRefused('refresh_token_unknown'))
  if (current.state !== 'active' || current.refreshToken === undefined)
    return unchanged(refreshRefused('refresh_token_unknown'))
  const { refreshToken } = current
  // The current one is known by its digest; of any other, the tag tells whether it was ever ours.
  const isCurrent = hasDigest(refresh.refreshToken, refreshToken.digest)
  const generation = isCurrent
    ? refreshToken.generation
    : genuineGeneration(refresh.refreshToken, refreshToken.tagKey)
  if (generation === undefined || generation > refreshToken.generation)
    return unchanged(refreshRefused('refresh_token_unknown'))
  if (refresh.clientId !== current.clientId)
    return unchanged(refreshRefused('refresh_token_of_another_client'))
  if (generation < refreshToken.generation)
    return replayRotation(current, refreshToken, { ...refresh, generation, superseded }, context)
  if (!isCurrent) return unchanged(refreshRefused('refresh_token_unknown'))
  if (refreshToken.expiresAt <= context.now) return unchanged(refreshRefused('refresh_token_expired'))
  const scope = refreshScope(current.scope, refresh.scope)
  if (scope instanceof OAuthError) return unchanged(scope)
  const isRepeatable = context.lifetimes.refreshTokenGrace > 0
  const { authorization, issued } = isRepeatable
    ? rotate(current, refresh.refreshToken, scope, context)
    : issuePair(current, scope, context)
  return save(authorization, issued)
}
