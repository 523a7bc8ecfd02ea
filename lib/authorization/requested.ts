import { isDeepStrictEqual } from 'node:util'
import {
  createCredential,
  createId,
  createSalt,
  credentialId,
  derivedText,
  digest,
  hasDigest,
} from '../protocol/credential'
import type { ExtensionData } from '../protocol/extension-data'
import { refused } from '../protocol/refusals'
import type {
  Authorization,
  DemandedLogin,
  Grant,
  PendingRequest,
  Requested,
  Approved,
  RequestedAuthorization,
} from './authorization'
import { type RecordContext, type TransitionResult, type IssueContext, unchanged } from './transition'
import { OAuthError } from '../protocol/oauth-error'
import { activeOf, type Issuance, issueAccessToken } from './issue'
import { isBurnt } from './redeem'

/** A valid request, before the server stores it. */
export interface RequestProposal extends Omit<Grant, 'id' | 'issuerDigest' | 'subject'> {
  /** Undefined without a redirection URI: the client polls, such as a device (RFC 8628). */
  readonly request: PendingRequest | undefined
}

export interface OwnerProposal extends RequestProposal {
  readonly subject: string
}

export interface OpenChoices {
  /**
   * 22 characters of base64url that no record has had. Who knows the id of a polled request can claim it. Default:
   * random.
   */
  readonly id?: string
  /** The parameters in form encoding, kept until the decision. Default: none. */
  readonly parameters?: string
  /**
   * Seconds until a browser must bring a request with a redirection URI; then `lifetimes.authorizationRequest` counts.
   * Default: this option.
   */
  readonly lifetime?: number
  /** Kept until the decision. Default: nothing. */
  readonly pluginData?: ExtensionData
}

/** Opens a request without a known resource owner, and makes the handle for the client. */
export function openRequest(
  proposal: RequestProposal,
  context: RecordContext,
  { id = createId(context.random), parameters, lifetime, pluginData }: OpenChoices = {},
): { readonly requested: Requested; readonly handle: string } {
  const handle = createCredential('requestHandle', id, context.random)
  const requested = requestedOf(proposal, id, context, { handle: digest(handle) })
  const expiresAt = lifetime === undefined ? requested.expiresAt : context.now + lifetime
  return {
    handle,
    requested: {
      ...requested,
      expiresAt,
      ...((parameters ?? '') !== '' && { parameters }),
      ...(pluginData !== undefined && { pluginData }),
      ...(proposal.request !== undefined && { lifetimeUntilSeen: lifetime }),
    },
  }
}

/** The login reference names no owner and approves nothing. @param parameters a digest, for which alone it is good. */
export function openForLogin(
  proposal: RequestProposal,
  parameters: string,
  context: RecordContext,
): { readonly requested: Requested; readonly reference: string } {
  const id = createId(context.random)
  const reference = createCredential('loginReference', id, context.random)
  const demandedLogin = { at: context.now, parameters }
  const requested = requestedOf(proposal, id, context, { handle: digest(reference), demandedLogin })
  return { reference, requested }
}

/** Only the form knows the consent token. */
interface OpenedForm {
  readonly requested: Requested
  readonly consentToken: string
}

/** Its form comes once, because nothing names the request. */
export function openForOwner(proposal: OwnerProposal, context: RecordContext): OpenedForm {
  const id = createId(context.random)
  const consentToken = createCredential('authorizationRequest', id, context.random)
  const requested = requestedOf(proposal, id, context, { consentToken: digest(consentToken) })
  return { consentToken, requested }
}

const requestedOf = (
  proposal: RequestProposal | OwnerProposal,
  id: string,
  { now, issuerDigest, lifetimes }: RecordContext,
  named: Partial<Pick<Requested, 'handle' | 'consentToken' | 'demandedLogin'>>,
): Requested => ({
  subject: undefined,
  ...proposal,
  state: 'requested',
  id,
  issuerDigest,
  handle: undefined,
  consentToken: undefined,
  decision: undefined,
  grantedAt: undefined,
  demandedLogin: undefined,
  expiresAt: now + lifetimes.authorizationRequest,
  ...named,
})

/**
 * The id of the authorization of a handle or a consent token; undefined for another text. It proves nothing: compare
 * the digest with the record.
 */
export const authorizationIdOf = (text: string): string | undefined =>
  credentialId('requestHandle', text) ?? credentialId('authorizationRequest', text)

export interface Presented {
  readonly clientId: string
  /** The handle of the client, or the login reference. Undefined for a polled request: its id names it. */
  readonly handle: string | undefined
}

/** Until the decision, its owner may open it again. @param subject undefined for any owner. */
export function findClaimable(
  current: Authorization | undefined,
  { handle, clientId }: Presented,
  now: number,
  subject?: string,
): Requested | OAuthError {
  if (current?.state !== 'requested' || current.decision !== undefined) return requestNotOpen()
  // The handle of a polled request is for the polls alone.
  if (current.handle === undefined || (handle === undefined) !== (current.request === undefined))
    return requestNotOpen()
  if (handle !== undefined && !hasDigest(handle, current.handle)) return requestUnknown()
  // RFC 9126 2.2: bound to the client that pushed it.
  if (clientId !== current.clientId) return refused('authorization_request_of_another_client')
  if (current.expiresAt <= now) return requestExpired()
  return refusalForOwner(current, subject) ?? current
}

export const refusalForOwner = (
  { subject: claimedBy }: Requested,
  subject: string | undefined,
): OAuthError | undefined =>
  claimedBy === undefined || subject === undefined || subject === claimedBy
    ? undefined
    : requestOfAnotherOwner()

export interface ClaimedForm extends OpenedForm {
  readonly isAgain: boolean
}

/**
 * Gives a consent token that the client does not know. The first owner wins, and gets the same form again while it
 * shows the same, else another one. `proposal`, as parsed for this owner, replaces what the record has.
 *
 * @param secret with a salt, it derives the consent token: the handle, or a text that only the server knows.
 */
export function claim(
  current: Authorization | undefined,
  presented: Presented,
  secret: string,
  proposal: OwnerProposal,
  context: RecordContext,
): TransitionResult<ClaimedForm> {
  const claimable = findClaimable(current, presented, context.now, proposal.subject)
  if (claimable instanceof OAuthError) return unchanged(claimable)
  const isAgain = claimable.subject !== undefined
  const isSame = isAgain && isDeepStrictEqual(shownOf(claimable), shownOf(proposal))
  const salt = (isSame ? claimable.salt : undefined) ?? createSalt(context.random)
  // Neither the secret nor the store's salt suffices alone.
  const random = derivedText(secret, `consent token ${salt}`)
  const consentToken = createCredential('authorizationRequest', claimable.id, random)
  const { lifetimeUntilSeen: _seen, ...open } = claimable
  const { now, lifetimes } = context
  // No reload lengthens the life of a request, and no claim that of a user code.
  const keepsEnd = isAgain || claimable.request === undefined
  const expiresAt = keepsEnd ? claimable.expiresAt : now + lifetimes.authorizationRequest
  const { login } = proposal
  const requested = { ...open, ...proposal, login, consentToken: digest(consentToken), salt, expiresAt }
  const outcome = { requested, consentToken, isAgain }
  return isSame && isDeepStrictEqual(claimable.login, proposal.login)
    ? { action: 'none', outcome }
    : { action: 'save', authorization: requested, outcome }
}

const shownOf = ({ scope, tokenType, extensionData, request }: RequestProposal) => [
  scope,
  tokenType,
  extensionData,
  request,
]

export function awaitLogin(
  current: Authorization | undefined,
  presented: Presented,
  { now, lifetimes }: RecordContext,
  demands: boolean,
): TransitionResult<undefined> {
  const claimable = findClaimable(current, presented, now)
  if (claimable instanceof OAuthError) return unchanged(claimable)
  const { lifetimeUntilSeen, demandedLogin: before, ...request } = claimable
  const demandedLogin: DemandedLogin | undefined = demands
    ? { at: now, parameters: before?.parameters }
    : before
  const expiresAt = lifetimeUntilSeen === undefined ? request.expiresAt : now + lifetimes.authorizationRequest
  return { action: 'save', authorization: { ...request, demandedLogin, expiresAt }, outcome: undefined }
}

/** For another account of its owner. */
export function release(
  current: Authorization | undefined,
  { consentToken, subject }: { readonly consentToken: string; readonly subject: string },
): TransitionResult<undefined> {
  if (current?.state !== 'requested' || current.decision !== undefined || current.handle === undefined)
    return unchanged(requestNotOpen())
  const isOfForm = current.consentToken !== undefined && hasDigest(consentToken, current.consentToken)
  if (!isOfForm || current.subject !== subject) return unchanged(requestUnknown())
  const { login: _login, salt: _salt, ...others } = current
  const authorization = { ...others, subject: undefined, consentToken: undefined }
  return { action: 'save', authorization, outcome: undefined }
}

export const requestNotOpen = (): OAuthError => refused('authorization_request_not_open')

export const requestUnknown = (): OAuthError => refused('authorization_request_unknown')

const requestOfAnotherOwner = (): OAuthError => refused('authorization_request_of_another_owner')

export const requestExpired = (): OAuthError => refused('authorization_request_expired')

export interface OwnersDecision {
  readonly consentToken: string
  readonly subject: string
  readonly approved: boolean
}

export type Answer = 'approved' | 'denied'

/** Only the owner decides, and only once. The same decision may come again; the opposite one may not. */
export function findDecidable(
  found: Authorization | undefined,
  decision: OwnersDecision,
  now: number,
): Authorization | OAuthError {
  const current = findAsked(found, decision)
  if (current instanceof OAuthError) return current
  const answer: Answer = decision.approved ? 'approved' : 'denied'
  if (current.state === 'requested') {
    if (current.decision !== undefined && current.decision !== answer) return requestNotOpen()
    return current.expiresAt > now ? current : requestExpired()
  }
  const isSpent = current.state === 'approved' && (current.code.expiresAt <= now || isBurnt(current.code))
  return answer === 'denied' || isSpent ? requestNotOpen() : current
}

/** A handle is no consent token: its client knows it. @param asked without a subject for any owner. */
export function findAsked(
  current: Authorization | undefined,
  { consentToken, subject }: Pick<OwnersDecision, 'consentToken'> & Partial<OwnersDecision>,
): Authorization | OAuthError {
  if (current?.consentToken === undefined) return requestNotOpen()
  if (!hasDigest(consentToken, current.consentToken)) return requestUnknown()
  return subject === undefined || subject === current.subject ? current : requestOfAnotherOwner()
}

/** Undefined before the decision of a polled request. */
export function answerIn(current: Authorization): Answer | undefined {
  if (current.state === 'requested') return current.decision
  return current.state === 'active' && current.spentCode !== undefined ? 'approved' : undefined
}

/**
 * Approves a request with an authorization code (RFC 6749 4.1.2) that lives for `lifetimes.authorizationCode`: 60
 * seconds by default.
 */
export function approveWithCode(
  requested: RequestedAuthorization,
  { now, random, codeSecrets = random, lifetimes }: IssueContext,
): { readonly authorization: Approved; readonly code: string } {
  const { id, issuerDigest, clientId, subject, scope, tokenType, extensionData, login, request } = requested
  const code = createCredential('authorizationCode', id, codeSecrets)
  return {
    code,
    authorization: {
      state: 'approved',
      id,
      issuerDigest,
      consentToken: undefined,
      clientId,
      subject,
      scope,
      tokenType,
      extensionData,
      request,
      code: {
        digest: digest(code),
        failures: 0,
        expiresAt: now + lifetimes.authorizationCode,
        salt: undefined,
      },
      grantedAt: now,
      accessTokens: [],
      login,
    },
  }
}

/**
 * Approves a request with an access token at once, without a refresh token (RFC 6749 4.2.2).
 *
 * @throws OAuthError if an extension refuses the token; `Throttled` over a limit of the option `limits.issuing`.
 */
export function approveWithAccessToken(proposed: RequestedAuthorization, context: IssueContext): Issuance {
  return issueAccessToken(activeOf(proposed, context.now), proposed.scope, context)
}

/** The record stays, to repeat the response and to refuse the opposite decision. */
export const deny = ({ parameters: _parameters, pluginData: _data, ...requested }: Requested): Requested => ({
  ...requested,
  decision: 'denied',
})

export function approveForPolls(
  { parameters: _parameters, pluginData: _data, ...requested }: Requested,
  { now, lifetimes }: RecordContext,
): Requested {
  // An approval in the last second of the request would reach no poll.
  const expiresAt = Math.max(requested.expiresAt, now + lifetimes.authorizationCode)
  return { ...requested, decision: 'approved', grantedAt: now, expiresAt }
}

/** Claimed, and its client gets a redirect. */
export type OwnersRequest = Requested & RequestedAuthorization

export type RepeatableApproval = Approved & { readonly code: { readonly salt: string } }

/** The server can give a redirect again: it sends no access token twice. */
export const isRedirectable = (decidable: Authorization): decidable is OwnersRequest | RepeatableApproval =>
  decidable.state === 'approved'
    ? decidable.code.salt !== undefined && decidable.accessTokens.length === 0
    : decidable.state === 'requested' && decidable.subject !== undefined && decidable.request !== undefined
