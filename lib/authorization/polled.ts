import { createCredential, createId, digest, hasDigest } from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { type Login, withLogin } from '../protocol/resource-owner'
import { covers, type Scope } from '../protocol/scope'
import type { Active, Authorization, Polled } from './authorization'
import type { UnclaimedProposal } from './claim'
import {
  type ConsentDecision,
  requestExpired,
  requestNotOpen,
  requestOfAnotherOwner,
  requestUnknown,
} from './decision'
import { type Issued, saved, withoutTokens } from './issue'
import { hasGrantEnded } from './lifetimes'
import { issueRepeatable, lastResponseTo, repeat } from './repetition'
import { type IssueContext, type RecordContext, revoked, type TransitionResult } from './transition'

/** A valid request of a client without a redirection URI. */
export type PolledProposal = Omit<UnclaimedProposal, 'request'>

export interface PolledChoices {
  /**
   * 22 characters of base64url that no record has had, such as 16 bytes of a digest of the user code. Who knows the id
   * can claim the request. Default: random.
   */
  readonly id?: string
  /** Seconds. Default: the option `lifetimes.authorizationRequest`. */
  readonly lifetime?: number
}

/**
 * Begins an authorization of a client without a redirection URI, such as a device (RFC 8628): the record, and the
 * handle for the polls.
 */
export function createPolledAuthorization(
  { clientId, scope, tokenType, extensionData }: PolledProposal,
  { now, issuerDigest, random, lifetimes }: RecordContext,
  { id = createId(random), lifetime = lifetimes.authorizationRequest }: PolledChoices = {},
): { readonly polled: Polled; readonly handle: string } {
  const handle = createCredential('requestHandle', id, random)
  return {
    handle,
    polled: {
      state: 'polled',
      id,
      issuerDigest,
      clientId,
      subject: undefined,
      scope,
      tokenType,
      extensionData,
      handle: digest(handle),
      consentToken: undefined,
      decision: undefined,
      grantedAt: undefined,
      expiresAt: now + lifetime,
    },
  }
}

/**
 * A resource owner claims a request. The consent token is for the form alone, never for the client. The first claim
 * wins; later ones are refused.
 *
 * @param owner `scope`: what the owner is asked for, at most that of the request. Default: the whole. `login`: how the
 * owner has logged in. Default: unknown.
 */
export function claimPolled(
  current: Authorization | undefined,
  owner: { readonly subject: string; readonly scope?: Scope; readonly login?: Login | undefined },
  { now, random }: RecordContext,
): TransitionResult<{ readonly polled: Polled; readonly consentToken: string }> {
  if (current?.state !== 'polled' || current.subject !== undefined)
    return { action: 'none', refusal: requestNotOpen() }
  if (current.expiresAt <= now) return { action: 'none', refusal: requestExpired() }
  const { subject, scope = current.scope, login } = owner
  if (!covers(current.scope, scope))
    throw new TypeError('An owner cannot be asked for more than the request.')
  const consentToken = createCredential('authorizationRequest', current.id, random)
  const polled = withLogin({ ...current, subject, scope, consentToken: digest(consentToken) }, login)
  return { action: 'save', authorization: polled, outcome: { polled, consentToken } }
}

/** Only the owner decides, and only once. The same decision may come again; the opposite one may not. */
export function decidePolled(
  current: Authorization | undefined,
  decision: ConsentDecision,
  { now, lifetimes }: RecordContext,
): TransitionResult<'approved' | 'denied'> {
  if (current?.state !== 'polled' && current?.state !== 'active')
    return { action: 'none', refusal: requestNotOpen() }
  if (current.consentToken === undefined) return { action: 'none', refusal: requestNotOpen() }
  if (!hasDigest(decision.consentToken, current.consentToken))
    return { action: 'none', refusal: requestUnknown() }
  if (decision.subject !== current.subject) return { action: 'none', refusal: requestOfAnotherOwner() }
  const outcome = decision.approved ? 'approved' : 'denied'
  const earlier = current.state === 'active' ? 'approved' : current.decision
  if (earlier !== undefined)
    return earlier === outcome ? { action: 'touch', outcome } : { action: 'none', refusal: requestNotOpen() }
  if (current.state === 'active') return { action: 'none', refusal: requestNotOpen() }
  if (current.expiresAt <= now) return { action: 'none', refusal: requestExpired() }
  // An approval in the last second of the request would reach no poll.
  const expiresAt = Math.max(current.expiresAt, now + lifetimes.authorizationCode)
  const grantedAt = decision.approved ? decision.ownerReadAt : undefined
  const decided: Polled = { ...current, login: decision.login, decision: outcome, grantedAt, expiresAt }
  return { action: 'save', authorization: decided, outcome }
}

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
  if (current.state === 'active') return pollAgain(current, request, context)
  if (current.state !== 'polled') return { action: 'none', refusal: refused('handle_unknown') }
  const { subject, decision, expiresAt } = current
  if (expiresAt <= context.now) return { action: 'none', refusal: expired() }
  if (decision === 'denied') return { action: 'none', refusal: refused('owner_denied/poll') }
  if (decision === undefined || subject === undefined) return { action: 'none', refusal: pending() }
  const token = context.restrict({ ...current, subject })
  if (token instanceof OAuthError) return { action: 'none', refusal: token }
  const { id, consentToken, handle: spentCode } = current
  const granted = { ...withoutTokens(current, id, context.now), consentToken, spentCode }
  return saved('issued', issueRepeatable(granted, request.handle, token, request.refreshToken, context))
}

const handleOf = (current: Authorization) =>
  current.state === 'polled' ? current.handle : current.state === 'active' ? current.spentCode : undefined

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

const pending = (): OAuthError => refused('owner_has_not_decided')

const expired = (): OAuthError => refused('authorization_request_expired/poll')
