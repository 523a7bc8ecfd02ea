import { createCredential, createId, credentialId, digest, hasDigest } from '../protocol/credential'
import { invalidRequest, OAuthError } from '../protocol/oauth-error'
import type { Authorization, Unclaimed } from './authorization'
import {
  type AuthorizationProposal,
  createPendingAuthorization,
  type OpenedAuthorization,
  requestExpired,
  requestNotOpen,
  requestUnknown,
} from './decision'
import type { RecordContext, TransitionResult } from './transition'

/** A valid authorization request without a known resource owner. */
export type UnclaimedProposal = Omit<AuthorizationProposal, 'subject'>

/**
 * Begins an authorization without a known resource owner: makes the record to store, and the handle for the client.
 */
export function createUnclaimedAuthorization(
  proposal: UnclaimedProposal,
  context: RecordContext,
): { readonly unclaimed: Unclaimed; readonly handle: string } {
  const id = createId(context.random)
  const handle = createCredential('requestHandle', id, context.random)
  return { handle, unclaimed: unclaimedOf(proposal, id, handle, undefined, context) }
}

/**
 * Begins an authorization whose owner the server sends to the login: makes the record to store, and the reference to it
 * for the URL to which the login returns. The reference names no owner, and approves nothing.
 *
 * @param parameters the digest of the parameters of the request. The reference is good for the same parameters alone.
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
 * The id of the authorization that a handle or a consent token belongs to; undefined if the text is neither. The id
 * proves nothing: compare the digest of the text with the record.
 */
export function authorizationIdOf(text: string): string | undefined {
  return credentialId('requestHandle', text) ?? credentialId('authorizationRequest', text)
}

/** What names an unclaimed request, and the client of the request that presents it. */
interface PresentedHandle {
  /** The handle of the client, or the login reference. */
  readonly handle: string
  readonly clientId: string
}

/** Finds the unclaimed request that a handle names; otherwise the refusal. */
export function findClaimable(
  current: Authorization | undefined,
  { handle, clientId }: PresentedHandle,
  now: number,
): Unclaimed | OAuthError {
  if (current?.state !== 'unclaimed') return requestNotOpen()
  if (!hasDigest(handle, current.handle)) return requestUnknown()
  // RFC 9126 2.2: a request is bound to the client that pushed it.
  if (clientId !== current.clientId)
    return invalidRequest(
      'authorization_request_of_another_client',
      'The authorization request is not known.',
    )
  return current.expiresAt > now ? current : requestExpired()
}

/**
 * The transition of a resource owner who claims a request. The request becomes pending and gets a consent token, which
 * the client does not know. The first claim wins, and the server refuses every later claim.
 *
 * @param proposal the request as the server has parsed it for this owner. It replaces what the record has.
 */
export function claim(
  current: Authorization | undefined,
  handle: string,
  proposal: AuthorizationProposal,
  context: RecordContext,
): TransitionResult<OpenedAuthorization> {
  const { clientId } = proposal
  const claimable = findClaimable(current, { handle, clientId }, context.now)
  if (claimable instanceof OAuthError) return { action: 'none', refusal: claimable }
  const opened = createPendingAuthorization(proposal, context, claimable.id)
  return { action: 'save', authorization: opened.pending, outcome: opened }
}

/**
 * The transition that keeps in a request of a client that the server has demanded a login. The first demand counts: a
 * login after it satisfies the demand.
 */
export function demandLogin(
  current: Authorization | undefined,
  presented: PresentedHandle,
  now: number,
): TransitionResult<undefined> {
  const claimable = findClaimable(current, presented, now)
  if (claimable instanceof OAuthError) return { action: 'none', refusal: claimable }
  if (claimable.demandedLogin !== undefined) return { action: 'none', outcome: undefined }
  const authorization = { ...claimable, demandedLogin: { at: now, parameters: undefined } }
  return { action: 'save', authorization, outcome: undefined }
}
