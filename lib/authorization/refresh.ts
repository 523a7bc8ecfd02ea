import { genuineGeneration, hasDigest } from '../protocol/credential'
import type { Client } from '../protocol/client'
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { covers, malformedScope, parseScope, type Scope, scopeRefusal } from '../protocol/scope'
import type { Active, Authorization } from './authorization'
import { type Issued, saved } from './issue'
import { hasGrantEnded } from './lifetimes'
import { issueRepeatable, keepRefreshToken, lastResponseTo, repeat } from './repetition'
import { type IssueContext, revoked, type TransitionResult } from './transition'

interface Refresh {
  readonly refreshToken: string
  readonly clientId: string
  /** As received; undefined stands for the whole granted scope. */
  readonly scope: string | undefined
}

/**
 * RFC 9700 4.14.2: an old refresh token counts as stolen and revokes the authorization. During the grace, the previous
 * one gets the same tokens again: parallel refreshes, and retries after a lost response.
 */
export function rotateRefreshToken(
  current: Authorization | undefined,
  { refreshToken: text, clientId, scope: requested }: Refresh,
  context: IssueContext,
  superseded?: Authorization,
): TransitionResult<Issued> {
  // Confirms an absence that may not be durable yet.
  if (current === undefined) return { action: 'touch', refusal: refused('refresh_token_unknown') }
  const stored = current.state === 'active' ? current.refreshToken : undefined
  const standing = current.state === 'active' ? standingOf(text, current) : undefined
  if (current.state !== 'active' || stored === undefined || standing === undefined)
    return { action: 'none', refusal: refused('refresh_token_unknown') }
  if (clientId !== current.clientId)
    return { action: 'none', refusal: refused('refresh_token_of_another_client') }
  const last = standing === 'replaced' ? lastResponseTo(current, text, context) : undefined
  if (standing === 'replaced' && last === undefined) {
    // Current when this request first read the record, two rotations ago: slow, not stolen.
    const wasCurrent =
      superseded?.state === 'active' &&
      superseded.refreshToken !== undefined &&
      hasDigest(text, superseded.refreshToken.digest)
    return wasCurrent && context.lifetimes.refreshTokenGrace > 0
      ? { action: 'none', refusal: refused('refresh_token_superseded') }
      : revoked(current, 'refresh_token_reused')
  }
  // A server with a shorter lifetime of grants also ends the access tokens.
  if (hasGrantEnded(current.grantedAt, context)) return revoked(current, 'grant_expired')
  if (stored.expiresAt <= context.now) return { action: 'none', refusal: refused('refresh_token_expired') }
  const scope = refreshScope(current.scope, requested)
  const token = scope instanceof OAuthError ? scope : context.restrict(within(current, scope))
  if (token instanceof OAuthError) return { action: 'none', refusal: token }
  if (last !== undefined) return repeat(current, last, token, context)
  // A key of this request binds the next refresh token: this one may have been stolen before.
  return context.keepsRefreshToken?.(token) === true
    ? keepRefreshToken(current, { text, stored }, token, context, superseded)
    : saved('refreshed', issueRepeatable(current, text, token, true, context))
}

/** Undefined for a text that is no refresh token of the authorization. */
export function standingOf(
  text: string,
  { refreshToken, spentCode }: Active,
): 'current' | 'replaced' | undefined {
  if (refreshToken === undefined) return undefined
  if (hasDigest(text, refreshToken.digest)) return 'current'
  // The tag shows whether this server made a former token.
  const former = genuineGeneration(text, refreshToken.tagKey)
  if (former !== undefined) return former < refreshToken.generation ? 'replaced' : undefined
  // The refresh token of another server, with which the authorization began.
  return spentCode !== undefined && hasDigest(text, spentCode) ? 'replaced' : undefined
}

const within = (current: Active, scope: Scope): Active =>
  scope === current.scope ? current : { ...current, scope }

/** RFC 6749 6: at most, and by default, the granted scope. */
function refreshScope(granted: Scope, requested: string | undefined): Scope | OAuthError {
  if (requested === undefined) return granted
  const scope = parseScope(requested)
  if (scope === undefined) return malformedScope(requested)
  if (covers(granted, scope)) return scope
  return scopeRefusal('scope_exceeded', scope, granted, {
    'granted scope': granted,
  })
}

/**
 * RFC 9700 2.2.2: refresh tokens stay good only for a confidential client, which authenticates at each refresh, or
 * bound to a key by an extension. All others rotate, whatever the options say. Undefined for a client that always
 * rotates.
 */
export function keeperFor(
  { client_type, refresh_token_rotation }: Client,
  { refreshTokenRotation: rotates }: { readonly refreshTokenRotation: boolean },
): IssueContext['keepsRefreshToken'] {
  if (refresh_token_rotation ?? rotates) return undefined
  return client_type === 'confidential' ? always : ({ provesKey }) => provesKey === true
}

const always = () => true
