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
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import type { Authorization, DemandedLogin, Grant, PendingRequest, Requested } from './authorization'
import type { RecordContext, TransitionResult } from './transition'

/** A valid request, before the server stores it. */
export interface RequestProposal extends Omit<Grant, 'id' | 'issuerDigest' | 'subject'> {
  /** Undefined without a redirection URI: the client polls, such as a device (RFC 8628). */
  readonly request: PendingRequest | undefined
}

/** A valid request of an owner who is known. */
export interface OwnerProposal extends RequestProposal {
  readonly subject: string
}

export interface OpenChoices {
  /**
   * 22 characters of base64url that no record has had, such as 16 bytes of a digest of a user code. Who knows the id
   * of a request that is polled can claim it. Default: random.
   */
  readonly id?: string
  /**
   * The parameters of the request, in form encoding. The record has them until the decision. Default: none.
   */
  readonly parameters?: string
  /**
   * Seconds. A request with a redirection URI lives as long until a browser brings it, and from then on by the option
   * `lifetimes.authorizationRequest`. Default: this option.
   */
  readonly lifetime?: number
  /** What the plug-in keeps with the request until the decision. Default: nothing. */
  readonly pluginData?: ExtensionData
}

/** Opens a request without a known resource owner: makes its record, and the handle for the client. */
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

/**
 * The URL to which the login returns has the reference, which names no owner and approves nothing.
 *
 * @param parameters a digest, for which alone the reference is good.
 */
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

/** Nothing names the request of an owner who is known: its form comes once. */
export function openForOwner(proposal: OwnerProposal, context: RecordContext): OpenedForm {
  const id = createId(context.random)
  const consentToken = createCredential('authorizationRequest', id, context.random)
  const requested = requestedOf(proposal, id, context, { consentToken: digest(consentToken) })
  return { consentToken, requested }
}

function requestedOf(
  {
    clientId,
    subject,
    scope,
    tokenType,
    extensionData,
    request,
    login,
  }: RequestProposal & Partial<OwnerProposal>,
  id: string,
  { now, issuerDigest, lifetimes }: RecordContext,
  {
    handle,
    consentToken,
    demandedLogin,
  }: Partial<Pick<Requested, 'handle' | 'consentToken' | 'demandedLogin'>>,
): Requested {
  return {
    state: 'requested',
    id,
    issuerDigest,
    clientId,
    subject,
    scope,
    tokenType,
    extensionData,
    request,
    handle,
    consentToken,
    decision: undefined,
    grantedAt: undefined,
    demandedLogin,
    expiresAt: now + lifetimes.authorizationRequest,
    login,
  }
}

/**
 * The id of the authorization of a handle or a consent token; undefined for another text. The id proves nothing:
 * compare the digest of the text with the record.
 */
export const authorizationIdOf = (text: string): string | undefined =>
  credentialId('requestHandle', text) ?? credentialId('authorizationRequest', text)

/** What names a request to be claimed. */
export interface Presented {
  readonly clientId: string
  /** The handle of the client, or the login reference. Undefined for a request that is polled: its id names it. */
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
  // The handle of a request that is polled is for the polls alone.
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
  /** Whether this owner has claimed the request before. */
  readonly isAgain: boolean
}

/**
 * The request gets a consent token, which the client does not know. The first owner wins; every other one is refused.
 * The owner gets the same form again while it shows the same (two tabs have one form), and else another form in its
 * place. `proposal`, as parsed for this owner, replaces what the record has.
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
  if (claimable instanceof OAuthError) return { action: 'none', refusal: claimable }
  const isAgain = claimable.subject !== undefined
  const isSame = isAgain && isDeepStrictEqual(shownOf(claimable), shownOf(proposal))
  const salt = (isSame ? claimable.salt : undefined) ?? createSalt(context.random)
  // Neither the secret nor the store, which has only the salt, suffices alone to make the consent token.
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

/** From now on, the request lives as long as every request. @param demands whether the server demands the login. */
export function awaitLogin(
  current: Authorization | undefined,
  presented: Presented,
  { now, lifetimes }: RecordContext,
  demands: boolean,
): TransitionResult<undefined> {
  const claimable = findClaimable(current, presented, now)
  if (claimable instanceof OAuthError) return { action: 'none', refusal: claimable }
  const { lifetimeUntilSeen, demandedLogin: before, ...request } = claimable
  const demandedLogin: DemandedLogin | undefined = demands
    ? { at: now, parameters: before?.parameters }
    : before
  const expiresAt = lifetimeUntilSeen === undefined ? request.expiresAt : now + lifetimes.authorizationRequest
  return { action: 'save', authorization: { ...request, demandedLogin, expiresAt }, outcome: undefined }
}

/** Opens a claimed request for another account of its owner. */
export function release(
  current: Authorization | undefined,
  { consentToken, subject }: { readonly consentToken: string; readonly subject: string },
): TransitionResult<undefined> {
  if (current?.state !== 'requested' || current.decision !== undefined || current.handle === undefined)
    return { action: 'none', refusal: requestNotOpen() }
  const isOfForm = current.consentToken !== undefined && hasDigest(consentToken, current.consentToken)
  if (!isOfForm || current.subject !== subject) return { action: 'none', refusal: requestUnknown() }
  const { login: _login, salt: _salt, ...others } = current
  const authorization = { ...others, subject: undefined, consentToken: undefined }
  return { action: 'save', authorization, outcome: undefined }
}

export const requestNotOpen = (): OAuthError => refused('authorization_request_not_open')

export const requestUnknown = (): OAuthError => refused('authorization_request_unknown')

export const requestOfAnotherOwner = (): OAuthError => refused('authorization_request_of_another_owner')

export const requestExpired = (): OAuthError => refused('authorization_request_expired')
