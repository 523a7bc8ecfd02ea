import {
  createCredential,
  createId,
  createSalt,
  credentialId,
  derivedText,
  digest,
  hasDigest,
} from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import type { Authorization, Claim, DemandedLogin, NamedRequest, Pending, Unclaimed } from './authorization'
import {
  type AuthorizationProposal,
  createPendingAuthorization,
  type OpenedAuthorization,
  requestExpired,
  requestNotOpen,
  requestOfAnotherOwner,
  requestUnknown,
} from './decision'
import type { RecordContext, TransitionResult } from './transition'

export type UnclaimedProposal = Omit<AuthorizationProposal, 'subject'>

export interface UnclaimedChoices {
  /**
   * The parameters of the request, in form encoding. The record has them as `pushed` until the decision. Default: none.
   */
  readonly parameters?: string
  /**
   * Seconds within which a browser has to bring the request. From then on, the option `lifetimes.authorizationRequest`
   * counts. Default: this option.
   */
  readonly lifetime?: number
}

/** Makes the record without a known resource owner, and the handle for the client. */
export function createUnclaimedAuthorization(
  proposal: UnclaimedProposal,
  context: RecordContext,
  { parameters: pushed, lifetime }: UnclaimedChoices = {},
): { readonly unclaimed: Unclaimed; readonly handle: string } {
  const id = createId(context.random)
  const handle = createCredential('requestHandle', id, context.random)
  const unclaimed = unclaimedOf(proposal, id, handle, undefined, context)
  return {
    handle,
    unclaimed: {
      ...unclaimed,
      ...(pushed !== undefined && { pushed }),
      ...(lifetime !== undefined && { lifetimeUntilSeen: lifetime, expiresAt: context.now + lifetime }),
    },
  }
}

/**
 * The URL to which the login returns has the reference, which names no owner and approves nothing.
 *
 * @param parameters a digest, for which alone the reference is good.
 */
export function createDemandedLogin(
  proposal: UnclaimedProposal,
  parameters: string,
  context: RecordContext,
): { readonly unclaimed: Unclaimed; readonly reference: string } {
  const id = createId(context.random)
  const reference = createCredential('loginReference', id, context.random)
  const demandedLogin = { at: context.now, parameters }
  return { reference, unclaimed: unclaimedOf(proposal, id, reference, demandedLogin, context) }
}

function unclaimedOf(
  { clientId, scope, tokenType, extensionData, request }: UnclaimedProposal,
  id: string,
  handle: string,
  demandedLogin: Unclaimed['demandedLogin'],
  { now, issuerDigest, lifetimes }: RecordContext,
): Unclaimed {
  return {
    state: 'unclaimed',
    id,
    issuerDigest,
    clientId,
    subject: undefined,
    scope,
    tokenType,
    extensionData,
    request,
    handle: digest(handle),
    expiresAt: now + lifetimes.authorizationRequest,
    demandedLogin,
  }
}

/**
 * The id of the authorization of a handle or a consent token; undefined for another text. The id proves nothing:
 * compare the digest of the text with the record.
 */
export const authorizationIdOf = (text: string): string | undefined =>
  credentialId('requestHandle', text) ?? credentialId('authorizationRequest', text)

interface PresentedHandle {
  /** The handle of the client, or the login reference. */
  readonly handle: string
  readonly clientId: string
}

/** The same owner may open it again. */
type Claimed = Pending & { readonly named: Claim }

export type Claimable = Unclaimed | Claimed

export function findClaimable(
  current: Authorization | undefined,
  { handle, clientId }: PresentedHandle,
  now: number,
): Claimable | OAuthError {
  if (current === undefined || !isNamed(current)) return requestNotOpen()
  if (!hasDigest(handle, namedIn(current).handle)) return requestUnknown()
  // RFC 9126 2.2: bound to the client that pushed it.
  if (clientId !== current.clientId) return refused('authorization_request_of_another_client')
  return current.expiresAt > now ? current : requestExpired()
}

const isNamed = (current: Authorization): current is Claimable =>
  current.state === 'unclaimed' || (current.state === 'pending' && current.named !== undefined)

export const namedIn = (claimable: Claimable): NamedRequest =>
  claimable.state === 'unclaimed' ? claimable : claimable.named

export function refusalForOwner(claimable: Claimable, subject: string | undefined): OAuthError | undefined {
  const isOfAnother = claimable.state === 'pending' && subject !== undefined && subject !== claimable.subject
  return isOfAnother ? requestOfAnotherOwner() : undefined
}

export interface ClaimedForm extends OpenedAuthorization {
  /** Whether this owner has claimed the request before. */
  readonly isAgain: boolean
}

/**
 * The request gets a consent token, which the client does not know. The first owner wins; every other one is refused.
 * The owner gets the same form again while it shows the same (two tabs have one form), and else another form in its
 * place. `proposal`, as parsed for this owner, replaces what the record has.
 */
export function claim(
  current: Authorization | undefined,
  handle: string,
  proposal: AuthorizationProposal,
  context: RecordContext,
): TransitionResult<ClaimedForm> {
  const { clientId, subject } = proposal
  const claimable = findClaimable(current, { handle, clientId }, context.now)
  if (claimable instanceof OAuthError) return { action: 'none', refusal: claimable }
  const refusal = refusalForOwner(claimable, subject)
  if (refusal !== undefined) return { action: 'none', refusal }
  if (claimable.state === 'unclaimed') {
    const opened = formOf(claimable, handle, createSalt(context.random), proposal, context)
    return { action: 'save', authorization: opened.pending, outcome: { ...opened, isAgain: false } }
  }
  const isSame = isSamePage(claimable, proposal)
  const salt = isSame ? claimable.named.salt : createSalt(context.random)
  const { pending, consentToken } = formOf(claimable, handle, salt, proposal, context)
  // No reload lengthens the life of a request.
  const again = { ...pending, expiresAt: claimable.expiresAt }
  const outcome = { pending: again, consentToken, isAgain: true }
  return isSame && JSON.stringify(claimable.login) === JSON.stringify(proposal.login)
    ? { action: 'none', outcome }
    : { action: 'save', authorization: again, outcome }
}

const isSamePage = (claimed: Claimed, proposal: AuthorizationProposal): boolean =>
  JSON.stringify(shownOf(claimed)) === JSON.stringify(shownOf(proposal))

function shownOf({ scope, tokenType, extensionData, request }: AuthorizationProposal) {
  const { responseType, redirectUri, redirectUriSent, requestState } = request
  return [scope, tokenType, extensionData, responseType, redirectUri, redirectUriSent, requestState]
}

// Neither the handle nor the store, which has only the salt, suffices alone to make the consent token.
function formOf(
  claimable: Claimable,
  handle: string,
  salt: string,
  proposal: AuthorizationProposal,
  context: RecordContext,
): OpenedAuthorization {
  const random = derivedText(handle, `consent token ${salt}`)
  const { pending, consentToken } = createPendingAuthorization(proposal, { ...context, random }, claimable.id)
  const { handle: handleDigest, demandedLogin, pushed } = namedIn(claimable)
  const named = { handle: handleDigest, demandedLogin, ...(pushed !== undefined && { pushed }), salt }
  return { pending: { ...pending, named }, consentToken }
}

/** From now on, the request lives as long as every request. */
export function noteArrival(
  current: Authorization | undefined,
  presented: PresentedHandle,
  context: RecordContext,
): TransitionResult<undefined> {
  const claimable = findClaimable(current, presented, context.now)
  if (claimable instanceof OAuthError) return { action: 'none', refusal: claimable }
  if (claimable.state === 'pending' || claimable.lifetimeUntilSeen === undefined)
    return { action: 'none', outcome: undefined }
  return { action: 'save', authorization: seen(claimable, context), outcome: undefined }
}

export function demandLogin(
  current: Authorization | undefined,
  presented: PresentedHandle,
  context: RecordContext,
): TransitionResult<undefined> {
  const claimable = findClaimable(current, presented, context.now)
  if (claimable instanceof OAuthError) return { action: 'none', refusal: claimable }
  const { parameters } = namedIn(claimable).demandedLogin ?? {}
  const demandedLogin: DemandedLogin = { at: context.now, parameters }
  const authorization: Claimable =
    claimable.state === 'unclaimed'
      ? { ...seen(claimable, context), demandedLogin }
      : { ...claimable, named: { ...claimable.named, demandedLogin } }
  return { action: 'save', authorization, outcome: undefined }
}

function seen({ lifetimeUntilSeen, ...request }: Unclaimed, { now, lifetimes }: RecordContext): Unclaimed {
  return lifetimeUntilSeen === undefined
    ? request
    : { ...request, expiresAt: now + lifetimes.authorizationRequest }
}
