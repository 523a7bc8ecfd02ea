import { isDeepStrictEqual } from 'node:util'
import {
  createCredential,
  createId,
  derivedText,
  digest,
  hasDigest,
  type Random,
} from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { type Login, withLogin } from '../protocol/resource-owner'
import { covers, isSameScope, type Scope } from '../protocol/scope'
import { type AccessToken, findToken, newestToken } from './access-token'
import type { Active, Authorization, Polled } from './authorization'
import type { UnclaimedProposal } from './claim'
import {
  type ConsentDecision,
  requestExpired,
  requestNotOpen,
  requestOfAnotherOwner,
  requestUnknown,
} from './decision'
import { addAccessToken, type Issued, issuePair, withoutTokens } from './issue'
import { hasGrantEnded } from './lifetimes'
import { rederiveTokens, repeatRotation, rotate } from './refresh'
import { isWritable, refusalOfOtherKey } from './repeated-token'
import {
  type IssueContext,
  issueEvent,
  type NewAccessToken,
  nothingToKeep,
  type RecordContext,
  revocationEvent,
  type TransitionResult,
} from './transition'

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
  const { authorization, issued } = issueForHandle(current, token, request, context)
  const event = issueEvent('issued', newestToken(authorization))
  return { action: 'save', authorization, outcome: issued, event }
}

const handleOf = (current: Authorization) =>
  current.state === 'polled' ? current.handle : current.state === 'active' ? current.spentCode : undefined

function issueForHandle(
  polled: Polled,
  token: NewAccessToken,
  { handle, refreshToken }: Poll,
  context: IssueContext,
) {
  const { id, consentToken } = polled
  const granted = { ...withoutTokens(polled, id, context.now), consentToken, spentCode: polled.handle }
  // With a grace, the handle derives the tokens, to give them again. Its prefix keeps refresh tokens from deriving the
  // same bytes.
  const hasGrace = context.lifetimes.refreshTokenGrace > 0
  if (!refreshToken)
    return addAccessToken(granted, token, context, hasGrace ? secretsOf(handle) : context.random)
  return hasGrace ? rotate(granted, handle, token, context) : issuePair(granted, token, context)
}

// A handle derives one such access token, so it needs no salt.
const secretsOf = (handle: string): Random => derivedText(handle, 'access token of a poll')

function pollAgain(current: Active, { handle }: Poll, context: IssueContext): TransitionResult<Issued> {
  const { now } = context
  const token = context.restrict(current)
  const issuedAt = issueTimeOf(current)
  if (issuedAt === undefined || Math.abs(now - issuedAt) >= context.lifetimes.refreshTokenGrace)
    return { action: 'none', refusal: refused('handle_replayed') }
  if (hasGrantEnded(current.grantedAt, context)) {
    const event = revocationEvent(current, 'grant_expired')
    return { action: 'delete', refusal: refused('grant_expired/poll'), event }
  }
  if (token instanceof OAuthError) return { action: 'none', refusal: token }
  const { refreshToken } = current
  if (refreshToken === undefined) return repeatToken(current, handle, token, context)
  const { rotation } = refreshToken
  const pair = rederiveTokens(current, refreshToken, handle)
  if (rotation === undefined || pair === undefined)
    return { action: 'none', refusal: refused('handle_replayed') }
  const again = repeatRotation(current, handle, rotation, pair, token, context)
  return { ...again, event: again.event && { ...again.event, name: 'issued' } }
}

function repeatToken(
  current: Active,
  handle: string,
  token: NewAccessToken,
  context: IssueContext,
): TransitionResult<Issued> {
  const accessToken = createCredential('accessToken', current.id, secretsOf(handle))
  const stored = findToken(current, digest(accessToken))
  if (stored !== undefined && isRepeatable(stored, token, current, context)) {
    const { scope, expiresAt, tokenType = current.tokenType } = stored
    const outcome = { accessToken, tokenType, properties: {}, expiresAt, scope, refreshToken: undefined }
    return { action: 'touch', outcome, event: issueEvent('issued', stored, 'repeated') }
  }
  // The first response has settled the data of extensions.
  const keepingNothing = { ...token, authorizationData: nothingToKeep }
  const { authorization, issued } = addAccessToken(current, keepingNothing, context)
  const refusal = refusalOfOtherKey(stored, authorization, context)
  if (refusal !== undefined) return { action: 'none', refusal }
  const event = issueEvent('issued', newestToken(authorization), 'repeated')
  return { action: 'save', authorization, outcome: issued, event }
}

// Members that a token type added cannot be derived. A token with data of its type, and a request for another token,
// get a new one.
function isRepeatable(
  stored: AccessToken,
  token: NewAccessToken,
  { tokenType: usual }: Active,
  context: IssueContext,
): boolean {
  const { tokenData, expiresAt, scope, extensionData, tokenType } = stored
  return (
    tokenData === undefined &&
    expiresAt > context.now &&
    isSameScope(scope, token.scope) &&
    isDeepStrictEqual(extensionData, token.extensionData) &&
    (tokenType ?? usual) === (token.tokenType ?? usual) &&
    isWritable(stored, context)
  )
}

/** When a poll got its tokens; undefined for a refresh token without a grace. */
const issueTimeOf = ({ refreshToken, grantedAt }: Active): number | undefined =>
  refreshToken === undefined ? grantedAt : refreshToken.rotation?.at

const pending = (): OAuthError => refused('owner_has_not_decided')

const expired = (): OAuthError => refused('authorization_request_expired/poll')
