import type { Client } from '../protocol/client'
import { genuineGeneration, hasDigest } from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { covers, malformedScope, parseScope, type Scope, scopeRefusal } from '../protocol/scope'
import {
  type Active,
  type Authorization,
  type Code,
  handleForPolls,
  type PendingRequest,
} from './authorization'
import { activeOf, issue, type Issued, saved } from './issue'
import { hasGrantEnded } from './lifetimes'
import { issueRepeatable, keepRefreshToken, lastResponseTo, repeat } from './repetition'
import { type IssueContext, revoked, type TransitionResult, unchanged } from './transition'

export interface Redemption {
  readonly code: string
  readonly clientId: string
  readonly redirectUri: string | undefined
  readonly refreshToken: boolean
}

const failuresThatBurn = 5

/**
 * RFC 6749 4.1.2: one write spends the code, so one of parallel redemptions wins. The next one by the same client is a
 * replay, and revokes all tokens.
 */
export function redeemCode(
  current: Authorization | undefined,
  redemption: Redemption,
  context: IssueContext,
): TransitionResult<Issued> {
  // A replay may have removed the record, not yet durably: this request confirms the absence.
  if (current === undefined) return { action: 'touch', refusal: refused('code_unknown') }
  if (current.state === 'active') return replay(current, redemption)
  if (current.state !== 'approved') return unchanged(refused('code_unknown'))
  const { code } = current
  if (!hasDigest(redemption.code, code.digest)) return unchanged(refused('code_unknown'))
  if (redemption.clientId !== current.clientId) return unchanged(refused('code_of_another_client'))
  if (code.expiresAt <= context.now)
    return unchanged(refused('code_expired', { 'seconds since its end': context.now - code.expiresAt }))
  if (hasGrantEnded(current.grantedAt, context))
    return revoked(current, 'grant_expired', refused('grant_expired/code'))
  if (isBurnt(code)) return unchanged(refused('code_burnt'))
  const token = redirectUriMismatch(current.request, redemption) ?? context.restrict(current)
  if (token instanceof OAuthError) {
    if (!isAttempt(token)) return unchanged(token)
    const authorization = { ...current, code: { ...code, failures: code.failures + 1 } }
    return { action: 'save', authorization, refusal: token }
  }
  const { consentToken, accessTokens, grantedAt } = current
  // A replay also revokes the access tokens that came together with the code.
  const active = activeOf(current, grantedAt, { consentToken, spentCode: code.digest, accessTokens })
  return saved('issued', issue(active, token, redemption.refreshToken, context))
}

export const isBurnt = ({ failures }: Code): boolean => failures >= failuresThatBurn

function replay(current: Active, redemption: Redemption): TransitionResult<Issued> {
  const { spentCode, clientId } = current
  if (spentCode === undefined || !hasDigest(redemption.code, spentCode))
    return unchanged(refused('code_unknown'))
  // A client that got hold of a foreign code must not revoke tokens.
  if (redemption.clientId !== clientId) return unchanged(refused('code_of_another_client'))
  return revoked(current, 'code_replayed')
}

function redirectUriMismatch(
  { redirectUri: registered, redirectUriSent }: PendingRequest,
  { redirectUri }: Redemption,
): OAuthError | undefined {
  // RFC 6749 4.1.3: required and identical, if the authorization request had the parameter.
  if (redirectUri === undefined)
    return redirectUriSent ? refused('redirect_uri_missing/code', { registered }) : undefined
  return redirectUri === registered
    ? undefined
    : refused('redirect_uri_mismatch/code', { sent: redirectUri, registered })
}

// Only a wrong proof burns the code: a wrong target or a lost scope does not.
const isAttempt = ({ code }: OAuthError): boolean => code !== 'invalid_target' && code !== 'invalid_scope'

export interface Poll {
  readonly handle: string
  readonly clientId: string
  readonly refreshToken: boolean
}

/**
 * Gives the client its tokens once the owner has approved. Within `lifetimes.refreshTokenGrace` after the first tokens,
 * a repeated poll gets them again. A later one is refused and changes nothing: unlike a code, a handle passes through
 * no browser.
 *
 * Refusals: `authorization_pending`, `access_denied` and `expired_token` of RFC 8628 3.5, and `invalid_grant`.
 */
export function pollAuthorization(
  current: Authorization | undefined,
  request: Poll,
  context: IssueContext,
): TransitionResult<Issued> {
  if (current === undefined || current.state === 'approved') return unchanged(refused('handle_unknown'))
  const expected = current.state === 'active' ? current.spentCode : handleForPolls(current)
  if (expected === undefined || !hasDigest(request.handle, expected))
    return unchanged(refused('handle_unknown'))
  if (request.clientId !== current.clientId) return unchanged(refused('handle_of_another_client'))
  if (current.state === 'active') return pollAgain(current, request, context)
  const { subject, decision, expiresAt } = current
  if (expiresAt <= context.now) return unchanged(refused('authorization_request_expired/poll'))
  if (decision === 'denied') return unchanged(refused('owner_denied/poll'))
  if (decision === undefined || subject === undefined) return unchanged(refused('owner_has_not_decided'))
  const token = context.restrict({ ...current, subject })
  if (token instanceof OAuthError) return unchanged(token)
  const { consentToken, handle: spentCode } = current
  const granted = activeOf(current, context.now, { consentToken, spentCode })
  return saved('issued', issueRepeatable(granted, request.handle, token, request.refreshToken, context))
}

function pollAgain(current: Active, { handle }: Poll, context: IssueContext): TransitionResult<Issued> {
  const last = lastResponseTo(current, handle, context)
  if (last === undefined) return unchanged(refused('handle_replayed'))
  if (hasGrantEnded(current.grantedAt, context))
    return revoked(current, 'grant_expired', refused('grant_expired/poll'))
  const token = context.restrict(current)
  if (token instanceof OAuthError) return unchanged(token)
  const again = repeat(current, last, token, context)
  return { ...again, event: again.event && { ...again.event, name: 'issued' } }
}

interface Refresh {
  readonly refreshToken: string
  readonly clientId: string
  /** Default: the whole granted scope. */
  readonly scope: string | undefined
}

/**
 * RFC 9700 4.14.2: an old refresh token counts as stolen and revokes. During the grace, the previous one gets the same
 * tokens again, for parallel refreshes and lost responses.
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
    return unchanged(refused('refresh_token_unknown'))
  if (clientId !== current.clientId) return unchanged(refused('refresh_token_of_another_client'))
  const last = standing === 'replaced' ? lastResponseTo(current, text, context) : undefined
  if (standing === 'replaced' && last === undefined) {
    // Current when this request first read the record, two rotations ago: slow, not stolen.
    const wasCurrent =
      superseded?.state === 'active' &&
      superseded.refreshToken !== undefined &&
      hasDigest(text, superseded.refreshToken.digest)
    return wasCurrent && context.lifetimes.refreshTokenGrace > 0
      ? unchanged(refused('refresh_token_superseded'))
      : revoked(current, 'refresh_token_reused')
  }
  // A server with a shorter lifetime of grants also ends the access tokens.
  if (hasGrantEnded(current.grantedAt, context)) return revoked(current, 'grant_expired')
  if (stored.expiresAt <= context.now) return unchanged(refused('refresh_token_expired'))
  const scope = refreshScope(current.scope, requested)
  const token = scope instanceof OAuthError ? scope : context.restrict(within(current, scope))
  if (token instanceof OAuthError) return unchanged(token)
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
  const former = genuineGeneration(text, refreshToken.tagKey)
  if (former !== undefined) return former < refreshToken.generation ? 'replaced' : undefined
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
  return scopeRefusal('scope_exceeded', scope, granted, { 'granted scope': granted })
}

/**
 * RFC 9700 2.2.2: refresh tokens stay good only for a confidential client, or bound to a key. All others rotate,
 * whatever the options say. Undefined for a client that always rotates.
 */
export function keeperFor(
  { client_type, refresh_token_rotation }: Client,
  { refreshTokenRotation: rotates }: { readonly refreshTokenRotation: boolean },
): IssueContext['keepsRefreshToken'] {
  if (refresh_token_rotation ?? rotates) return undefined
  return client_type === 'confidential' ? always : ({ provesKey }) => provesKey === true
}

const always = () => true
