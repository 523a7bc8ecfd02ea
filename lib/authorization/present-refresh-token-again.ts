import { createCredential } from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import type { Random } from '../protocol/random'
import { isSameScope, type Scope } from '../protocol/scope'
import type { AccessToken, Active, Authorization, RefreshToken } from './authorization'
import type { IssueContext } from './circumstances'
import { issueAccessToken, type Issued } from './issue'
import { refreshRefused, refreshScope } from './refresh-refusal'
import { storedAccessToken } from './present-access-token'
import { rederiveTokens, tokenSecretsForScope, type RotatedPair } from './rotation'
import { touch, unchanged, deleteRecord, save, type TransitionResult } from './step'

/** A genuine refresh token that is not the current one any more. */
export interface FormerRefreshToken {
  readonly refreshToken: string
  readonly generation: number
  readonly scope: string | undefined
  /** The record of the round before, when another writer was faster. */
  readonly superseded: Authorization | undefined
}

/** Gives the answer of its own rotation again, as long as that is the last one and the grace has not passed. */
export function replayRotation(
  current: Active,
  refreshToken: RefreshToken,
  former: FormerRefreshToken,
  context: IssueContext,
): TransitionResult<Issued> {
  const { generation, rotation, expiresAt } = refreshToken
  const { now, lifetimes } = context
  // Clocks of processes may differ either way; a rotation of an hour ahead is one of a clock that was wrong, and not fresh.
  const inGrace = rotation !== undefined && Math.abs(now - rotation.at) < lifetimes.refreshTokenGrace
  const isLast = former.generation === generation - 1
  const pair = isLast && inGrace ? rederiveTokens(current, refreshToken, former.refreshToken) : undefined
  if (rotation === undefined || pair === undefined) return outOfUse(former, lifetimes.refreshTokenGrace)
  if (expiresAt <= now) return unchanged(refreshRefused('refresh_token_expired'))
  const scope = refreshScope(current.scope, former.scope)
  if (scope instanceof OAuthError) return unchanged(scope)
  const { stored } = pair
  const isSame = stored === undefined || isSameScope(stored.scope, scope)
  if (!isSame) {
    const secrets = () => tokenSecretsForScope(former.refreshToken, rotation.salt, scope)
    return besidePair(current, pair, { scope, secrets }, context)
  }
  if (stored !== undefined && stored.expiresAt > now) return touch(answerOf(current.tokenType, pair, stored))
  // The grace may be longer than an access token lives: then a new one comes with the same refresh token.
  const { authorization, issued } = issueAccessToken(current, scope, context)
  return save(authorization, { ...issued, refreshToken: pair.refreshToken })
}

/**
 * Issues an access token of another scope beside the pair of the rotation, which stays as it is. Its secret is derived,
 * so that the same repetition gets the same token and the record does not grow with each one.
 */
function besidePair(
  current: Active,
  pair: RotatedPair,
  { scope, secrets }: { readonly scope: Scope; readonly secrets: () => Random },
  context: IssueContext,
): TransitionResult<Issued> {
  const accessToken = createCredential('accessToken', current.id, secrets())
  const stored = storedAccessToken(current.accessTokens, accessToken)
  const isGood = stored !== undefined && stored.expiresAt > context.now
  // What a token type gave to the client beside such a token cannot be derived: then a new one is issued.
  if (isGood && stored.tokenData === undefined)
    return touch(answerOf(current.tokenType, { ...pair, accessToken, properties: {} }, stored))
  const source = stored === undefined ? secrets() : context.random
  const { authorization, issued } = issueAccessToken(current, scope, context, source)
  return save(authorization, { ...issued, refreshToken: pair.refreshToken })
}

function answerOf(
  tokenType: string,
  { accessToken, properties, refreshToken }: RotatedPair,
  { expiresAt, scope }: AccessToken,
): Issued {
  return { accessToken, tokenType, properties, expiresAt, scope, refreshToken }
}

function outOfUse({ generation, superseded }: FormerRefreshToken, grace: number): TransitionResult<Issued> {
  // It was current when this request came, and others have rotated twice since: slow, not stolen.
  const wasCurrent = superseded?.state === 'active' && superseded.refreshToken?.generation === generation
  if (wasCurrent && grace > 0) return unchanged(refreshRefused('refresh_token_superseded'))
  return deleteRecord(refreshRefused('refresh_token_reused'))
}
