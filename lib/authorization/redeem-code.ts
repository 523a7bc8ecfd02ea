import { hasDigest } from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import type { Active, Approved, Authorization, Code, PendingRequest } from './authorization'
import { activeOf, issue, type Issued, saved } from './issue'
import { hasGrantEnded } from './lifetimes'
import { type IssueContext, revoked, type TransitionResult } from './transition'

export interface Redemption {
  readonly code: string
  readonly clientId: string
  readonly redirectUri: string | undefined
  readonly refreshToken: boolean
}

const failuresThatBurn = 5

/**
 * RFC 6749 4.1.2: one write spends the code and adds the tokens, so one of parallel redemptions wins. The next one by
 * the same client is a replay, and revokes all tokens.
 */
export function redeemCode(
  current: Authorization | undefined,
  redemption: Redemption,
  context: IssueContext,
): TransitionResult<Issued> {
  // A replay may have removed the record before the removal was durable: this request confirms the absence.
  if (current === undefined) return { action: 'touch', refusal: refused('code_unknown') }
  if (current.state === 'active') return replay(current, redemption)
  if (current.state !== 'approved') return { action: 'none', refusal: refused('code_unknown') }
  const { code } = current
  if (!hasDigest(redemption.code, code.digest)) return { action: 'none', refusal: refused('code_unknown') }
  if (redemption.clientId !== current.clientId)
    return { action: 'none', refusal: refused('code_of_another_client') }
  if (code.expiresAt <= context.now)
    return {
      action: 'none',
      refusal: refused('code_expired', { 'seconds since its end': context.now - code.expiresAt }),
    }
  if (hasGrantEnded(current.grantedAt, context))
    return revoked(current, 'grant_expired', refused('grant_expired/code'))
  if (isBurnt(code)) return { action: 'none', refusal: refused('code_burnt') }
  const token = redirectUriMismatch(current.request, redemption) ?? context.restrict(current)
  if (token instanceof OAuthError)
    return isAttempt(token)
      ? { action: 'save', authorization: withFailure(current), refusal: token }
      : { action: 'none', refusal: token }
  const { consentToken, accessTokens, grantedAt } = current
  // A replay also revokes the access tokens that came together with the code.
  const active = activeOf(current, grantedAt, { consentToken, spentCode: code.digest, accessTokens })
  return saved('issued', issue(active, token, redemption.refreshToken, context))
}

/** Five redemptions had a wrong redirection URI or failed a check of an extension. */
export const isBurnt = ({ failures }: Code): boolean => failures >= failuresThatBurn

function replay(current: Active, redemption: Redemption): TransitionResult<Issued> {
  const { spentCode, clientId } = current
  if (spentCode === undefined || !hasDigest(redemption.code, spentCode))
    return { action: 'none', refusal: refused('code_unknown') }
  // A client that got hold of a foreign code must not revoke tokens.
  if (redemption.clientId !== clientId) return { action: 'none', refusal: refused('code_of_another_client') }
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

// Only a wrong proof is an attempt at the code. After a wrong target the client may ask again, and a lost scope may
// come back.
const isAttempt = ({ code }: OAuthError): boolean => code !== 'invalid_target' && code !== 'invalid_scope'

function withFailure(approved: Approved): Approved {
  return { ...approved, code: { ...approved.code, failures: approved.code.failures + 1 } }
}
