import {
  createCredential,
  createId,
  createSalt,
  derivedBytes,
  digest,
  hasDigest,
} from '../protocol/credential'
import { invalidRequest, type OAuthError } from '../protocol/oauth-error'
import type {
  Approved,
  Authorization,
  Denied,
  Pending,
  RequestedAuthorization,
  Unclaimed,
} from './authorization'
import { type Issuance, issueAccessToken, withoutTokens } from './issue'
import { isBurnt } from './redeem-code'
import { type IssueContext, save, type TransitionResult, unchanged } from './transition'

/** A valid authorization request of a known resource owner, before the server has made a record with an id. */
export type AuthorizationProposal = Omit<RequestedAuthorization, 'id' | 'issuerDigest'>

/** Begins an authorization: makes the record to store, and the handle that only the consent form holds. */
export function createPendingAuthorization(
  proposal: AuthorizationProposal,
  context: IssueContext,
): OpenedAuthorization {
  const id = createId(context.random)
  const { issuerDigest } = context
  const { handle, stored } = handleOf(id, context)
  return { handle, pending: { state: 'pending', id, issuerDigest, ...stored, ...proposal } }
}

/** Makes the handle of a request, and the members of the record that belong to it: its digest and its end. */
function handleOf(id: string, { now, random, lifetimes }: IssueContext) {
  const handle = createCredential('authorizationRequest', id, random)
  const expiresAt = now + lifetimes.authorizationRequest
  return { handle, stored: { handle: digest(handle), expiresAt } }
}

/** A valid authorization request without a known resource owner. */
export type UnclaimedProposal = Omit<AuthorizationProposal, 'subject'>

/**
 * Begins an authorization without a known resource owner: makes the record to store, and the handle for the client.
 */
export function createUnclaimedAuthorization(
  proposal: UnclaimedProposal,
  context: IssueContext,
): { readonly unclaimed: Unclaimed; readonly handle: string } {
  const id = createId(context.random)
  const { issuerDigest } = context
  const { handle, stored } = handleOf(id, context)
  return {
    handle,
    unclaimed: { ...proposal, state: 'unclaimed', id, issuerDigest, subject: undefined, ...stored },
  }
}

/** A pending authorization, and the handle that only its consent form holds. */
export interface OpenedAuthorization {
  readonly pending: Pending
  readonly handle: string
}

/**
 * The transition of a resource owner who claims a request. The request becomes pending and gets a new handle, which the
 * client does not know. The first claim wins, and the server refuses every later claim.
 */
export function claim(
  current: Authorization | undefined,
  { handle, subject }: Pick<ConsentDecision, 'handle' | 'subject'>,
  context: IssueContext,
): TransitionResult<OpenedAuthorization> {
  if (current?.state !== 'unclaimed') return unchanged(requestNotOpen())
  if (!hasDigest(handle, current.handle))
    return unchanged(
      invalidRequest('authorization_request_unknown', 'The authorization request is not known.'),
    )
  if (current.expiresAt <= context.now) return unchanged(requestExpired())
  const { handle: newHandle, stored } = handleOf(current.id, context)
  const pending: Pending = { ...current, state: 'pending', subject, ...stored }
  return save(pending, { pending, handle: newHandle })
}

/** A decision as the server received it. */
export interface ConsentDecision {
  /** The handle inside the consent form. */
  readonly handle: string
  /** The resource owner who is logged in now. */
  readonly subject: string
  readonly approved: boolean
}

/**
 * Checks whether a decision may settle the authorization: only the owner of the request decides, and only once. The
 * same decision may come again; the opposite decision may not.
 *
 * @returns the authorization, pending or already settled by the same decision; otherwise the refusal.
 */
export function requireAnswerable(
  current: Authorization | undefined,
  answer: ConsentDecision,
  now: number,
): Exclude<Authorization, Unclaimed> | OAuthError {
  // The client knows the handle of an unclaimed request, so this handle proves no consent form.
  if (current?.handle === undefined || current.state === 'unclaimed') return requestNotOpen()
  if (!hasDigest(answer.handle, current.handle))
    return invalidRequest('authorization_request_unknown', 'The authorization request is not known.')
  if (answer.subject !== current.subject)
    return invalidRequest('authorization_request_of_another_owner', 'The authorization request is not known.')
  switch (current.state) {
    case 'pending':
      return current.expiresAt > now ? current : requestExpired()
    case 'denied':
      if (answer.approved) return requestNotOpen()
      return current.expiresAt > now ? current : requestExpired()
    case 'approved':
      if (current.code.expiresAt <= now || isBurnt(current.code)) return requestNotOpen()
      return answer.approved ? current : requestNotOpen()
    case 'active':
      return answer.approved ? current : requestNotOpen()
  }
}

/** The refusal of a decision on a request that is already settled, or that the server no longer has. */
export function requestNotOpen(): OAuthError {
  return invalidRequest('authorization_request_not_open', 'The authorization request is not open any more.')
}

function requestExpired(): OAuthError {
  return invalidRequest('authorization_request_expired', 'The authorization request has expired.')
}

/**
 * Approves a request with an authorization code (RFC 6749 4.1.2). Only the returned `code` is in clear; the record
 * holds its digest. The code lives as long as the option `authorizationCodeLifetime` says: 60 seconds by default.
 */
export function approveWithCode(
  { id, issuerDigest, clientId, subject, scope, tokenType, extensionData, request }: RequestedAuthorization,
  { now, random, codeSecrets = random, lifetimes }: IssueContext,
): { readonly authorization: Approved; readonly code: string } {
  const code = createCredential('authorizationCode', id, codeSecrets)
  const { redirectUri, redirectUriSent } = request
  const expiresAt = now + lifetimes.authorizationCode
  return {
    code,
    authorization: {
      state: 'approved',
      id,
      issuerDigest,
      handle: undefined,
      clientId,
      subject,
      scope,
      tokenType,
      extensionData,
      code: {
        digest: digest(code),
        redirectUri,
        redirectUriSent,
        failures: 0,
        expiresAt,
        repetition: undefined,
      },
      accessTokens: [],
    },
  }
}

/**
 * Approves a request with an access token at once, without a code and without a refresh token (RFC 6749 4.2.2).
 *
 * @throws OAuthError if an extension of the server refuses the token; `Throttled` over a limit of the option
 * `issueLimits`.
 */
export function approveWithAccessToken(proposed: RequestedAuthorization, context: IssueContext): Issuance {
  return issueAccessToken(withoutTokens(proposed, proposed.id), proposed.scope, context)
}

/**
 * Denies a request. The record stays in the store: a second, opposite decision is refused, and the same decision gets
 * the same response.
 */
export function deny(pending: Pending): Denied {
  return { ...pending, state: 'denied' }
}

const codeFrom = (salt: string) => `authorization code ${salt}`

/** An approval by a consent form. The server can issue the same code again, but only with the handle of the form. */
export interface RepeatableApproval {
  /** The salt that the record keeps. */
  readonly salt: string
  /** The context with which the response type issues the code. */
  readonly context: IssueContext
}

/**
 * Makes an approval repeatable: derives the secret of the code from the handle of the form and a salt. The record keeps
 * the salt, but only a digest of the handle. So the store alone does not suffice to make the code.
 *
 * @param salt the salt of the earlier approval. Default: a new salt, for a first approval.
 */
export function repeatable(
  handle: string,
  context: IssueContext,
  salt: string = createSalt(context.random),
): RepeatableApproval {
  return { salt, context: { ...context, codeSecrets: derivedBytes(handle, codeFrom(salt)) } }
}

/**
 * Adds the consent form to the record of an approval: the digest of its handle, to recognize the form, and for a code
 * the data with which the server gives the same code again.
 */
export function withForm(
  authorization: Authorization,
  { handle, request: { responseType, requestState } }: Pending,
  salt: string,
): Authorization {
  if (authorization.state === 'active') return { ...authorization, handle }
  if (authorization.state !== 'approved') return authorization
  const repetition = { salt, responseType, requestState }
  return { ...authorization, handle, code: { ...authorization.code, repetition } }
}

/** The request behind an approval; undefined if the server cannot give the same response again. */
export function requestOfApproval(approved: Approved): RequestedAuthorization | undefined {
  const { id, issuerDigest, clientId, subject, scope, tokenType, extensionData, code, accessTokens } =
    approved
  const { redirectUri, redirectUriSent, repetition } = code
  // The response held an access token, and the server sends no access token twice.
  if (repetition === undefined || accessTokens.length > 0) return undefined
  const { responseType, requestState } = repetition
  const request = { responseType, redirectUri, redirectUriSent, requestState }
  return { id, issuerDigest, clientId, subject, scope, tokenType, extensionData, request }
}
