import { hasDigest } from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { type Active, type Authorization, handleForPolls } from './authorization'
import { activeOf, type Issued, saved } from './issue'
import { hasGrantEnded } from './lifetimes'
import { issueRepeatable, lastResponseTo, repeat } from './repetition'
import { type IssueContext, revoked, type TransitionResult } from './transition'

export interface Poll {
  readonly handle: string
  readonly clientId: string
  readonly refreshToken: boolean
}

/**
 * Gives the client its tokens once the owner has approved. Within the option `lifetimes.refreshTokenGrace` after the
 * first tokens, a repeated poll gets them again, because the response may be lost. A later poll is refused and changes
 * nothing: unlike a code, a handle passes through no browser, and a client that polls in several places must not lose
 * its tokens.
 *
 * Refusals: `authorization_pending`, `access_denied` and `expired_token` of RFC 8628 3.5, and `invalid_grant`.
 */
export function pollAuthorization(
  current: Authorization | undefined,
  request: Poll,
  context: IssueContext,
): TransitionResult<Issued> {
  if (current === undefined) return { action: 'none', refusal: refused('handle_unknown') }
  const expected = handleOf(current)
  if (expected === undefined || !hasDigest(request.handle, expected))
    return { action: 'none', refusal: refused('handle_unknown') }
  if (request.clientId !== current.clientId)
    return { action: 'none', refusal: refused('handle_of_another_client') }
  if (current.state !== 'requested')
    return current.state === 'active'
      ? pollAgain(current, request, context)
      : { action: 'none', refusal: refused('handle_unknown') }
  const { subject, decision, expiresAt } = current
  if (expiresAt <= context.now)
    return { action: 'none', refusal: refused('authorization_request_expired/poll') }
  if (decision === 'denied') return { action: 'none', refusal: refused('owner_denied/poll') }
  if (decision === undefined || subject === undefined)
    return { action: 'none', refusal: refused('owner_has_not_decided') }
  const token = context.restrict({ ...current, subject })
  if (token instanceof OAuthError) return { action: 'none', refusal: token }
  const { consentToken, handle: spentCode } = current
  const granted = activeOf(current, context.now, { consentToken, spentCode })
  return saved('issued', issueRepeatable(granted, request.handle, token, request.refreshToken, context))
}

const handleOf = (current: Authorization) =>
  current.state === 'active'
    ? current.spentCode
    : current.state === 'requested'
      ? handleForPolls(current)
      : undefined

function pollAgain(current: Active, { handle }: Poll, context: IssueContext): TransitionResult<Issued> {
  const last = lastResponseTo(current, handle, context)
  if (last === undefined) return { action: 'none', refusal: refused('handle_replayed') }
  if (hasGrantEnded(current.grantedAt, context))
    return revoked(current, 'grant_expired', refused('grant_expired/poll'))
  const token = context.restrict(current)
  if (token instanceof OAuthError) return { action: 'none', refusal: token }
  const again = repeat(current, last, token, context)
  return { ...again, event: again.event && { ...again.event, name: 'issued' } }
}
