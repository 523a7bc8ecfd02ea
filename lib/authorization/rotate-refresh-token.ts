import { genuineGeneration, hasDigest } from '../protocol/credential'
import { invalidGrant, invalidScope } from '../protocol/oauth-error'
import { covers, parseScope, type Scope } from '../protocol/scope'
import type { Active, Authorization, RefreshToken } from './authorization'
import type { Circumstances } from './circumstances'
import { issue, type Issued } from './issue'
import { seal, unseal } from './sealed-answer'
import { keep, remove, save, type Step } from './step'

/** A refresh as its client asks for it. */
export interface Refresh {
  readonly refreshToken: string
  readonly clientId: string
  /** The scope parameter as it came; undefined means all that was granted. */
  readonly scope: string | undefined
}

const refused = (reason: string) =>
  invalidGrant(reason, 'The refresh token is invalid, expired, revoked, or was issued to another client.')

/**
 * Rotates a refresh token. The one that was just rotated out gets the same answer again during the grace, so that
 * parallel refreshes and lost answers converge; any older one was stolen or leaked, and revokes (RFC 9700 4.14.2).
 */
export function rotateRefreshToken(
  current: Authorization | undefined,
  refresh: Refresh,
  circumstances: Circumstances,
): Step<Issued> {
  if (current?.state !== 'active' || current.refreshToken === undefined)
    return keep(refused('refresh_token_unknown'))
  const { refreshToken } = current
  const generation = genuineGeneration(refresh.refreshToken, refreshToken.tagKey)
  if (generation === undefined || generation > refreshToken.generation)
    return keep(refused('refresh_token_unknown'))
  if (refresh.clientId !== current.clientId) return keep(refused('refresh_token_of_another_client'))
  if (generation < refreshToken.generation)
    return repeat(current, refreshToken, generation, refresh, circumstances)
  if (!hasDigest(refresh.refreshToken, refreshToken.digest)) return keep(refused('refresh_token_unknown'))
  if (refreshToken.expiresAt <= circumstances.now) return keep(refused('refresh_token_expired'))
  const scope = refresh.scope === undefined ? current.scope : parseScope(refresh.scope)
  if (scope === undefined) return keep(invalidScope('scope_malformed', 'The scope is malformed.'))
  // RFC 6749 6: never beyond the original grant, which stays as it is when an access token asks for less.
  if (!covers(current.scope, scope))
    return keep(invalidScope('scope_exceeded', 'The scope exceeds what was granted.'))
  return rotate(current, refresh, scope, circumstances)
}

function repeat(
  current: Active,
  { generation, rotation, expiresAt }: RefreshToken,
  presented: number,
  { refreshToken }: Refresh,
  circumstances: Circumstances,
): Step<Issued> {
  const { now, lifetimes } = circumstances
  const inGrace = rotation !== undefined && now < rotation.at + lifetimes.refreshTokenGrace
  const answer =
    presented === generation - 1 && inGrace ? unseal(rotation.sealedAnswer, refreshToken) : undefined
  if (answer === undefined) return remove(refused('refresh_token_reused'))
  if (expiresAt <= now) return keep(refused('refresh_token_expired'))
  if (answer.expiresAt > now) return keep(answer)
  // The grace may be longer than an access token lives: then a new one comes with the same refresh token.
  const { authorization, issued } = issue(
    current,
    { scope: answer.scope, refreshToken: false },
    circumstances,
  )
  return save(authorization, { ...issued, refreshToken: answer.refreshToken })
}

function rotate(
  current: Active,
  { refreshToken }: Refresh,
  scope: Scope,
  circumstances: Circumstances,
): Step<Issued> {
  const { authorization, issued } = issue(current, { scope, refreshToken: true }, circumstances)
  const next = authorization.refreshToken
  if (next === undefined || circumstances.lifetimes.refreshTokenGrace === 0)
    return save(authorization, issued)
  const rotation = { at: circumstances.now, sealedAnswer: seal(issued, refreshToken, circumstances.random) }
  return save({ ...authorization, refreshToken: { ...next, rotation } }, issued)
}
