import { genuineGeneration, hasDigest } from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import type { Authorization } from './authorization'
import type { Circumstances } from './circumstances'
import { issuePair, type Issued } from './issue'
import { presentAgain } from './present-refresh-token-again'
import { refreshRefused, refreshScope } from './refresh-refusal'
import { rotate } from './rotation'
import { confirm, keep, save, type Step } from './step'

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
  circumstances: Circumstances,
  superseded?: Authorization,
): Step<Issued> {
  // A reuse may have removed the record, without an answer that it is gone for good.
  if (current === undefined) return confirm(refreshRefused('refresh_token_unknown'))
  if (current.state !== 'active' || current.refreshToken === undefined)
    return keep(refreshRefused('refresh_token_unknown'))
  const { refreshToken } = current
  // The current one is known by its digest; of any other, the tag tells whether it was ever ours.
  const isCurrent = hasDigest(refresh.refreshToken, refreshToken.digest)
  const generation = isCurrent
    ? refreshToken.generation
    : genuineGeneration(refresh.refreshToken, refreshToken.tagKey)
  if (generation === undefined || generation > refreshToken.generation)
    return keep(refreshRefused('refresh_token_unknown'))
  if (refresh.clientId !== current.clientId) return keep(refreshRefused('refresh_token_of_another_client'))
  if (generation < refreshToken.generation)
    return presentAgain(current, refreshToken, { ...refresh, generation, superseded }, circumstances)
  if (!isCurrent) return keep(refreshRefused('refresh_token_unknown'))
  if (refreshToken.expiresAt <= circumstances.now) return keep(refreshRefused('refresh_token_expired'))
  const scope = refreshScope(current.scope, refresh.scope)
  if (scope instanceof OAuthError) return keep(scope)
  const isRepeatable = circumstances.lifetimes.refreshTokenGrace > 0
  const { authorization, issued } = isRepeatable
    ? rotate(current, refresh.refreshToken, scope, circumstances)
    : issuePair(current, scope, circumstances)
  return save(authorization, issued)
}
