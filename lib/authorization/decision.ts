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

/** A valid authorization request of a known resource owner, before it is a record with an id. */
export type AuthorizationProposal = Omit<RequestedAuthorization, 'id' | 'issuerDigest'>

/** Begins an authorization: the record to store, and the handle that only the consent form knows. */
export function createPendingAuthorization(
  proposal: AuthorizationProposal,
  { now, issuerDigest, random, lifetimes }: IssueContext,
): { readonly pending: Pending; readonly handle: string } {
  const id = createId(random)
  const handle = createCredential('authorizationRequest', id, random)
  const expiresAt = now + lifetimes.authorizationRequest
  return {
    handle,
    pending: { state: 'pending', id, issuerDigest, handle: digest(handle), expiresAt, ...proposal },
  }
}

/** A valid authorization request whose resource owner is not known yet. */
export type UnclaimedProposal = Omit<AuthorizationProposal, 'subject'>

/** Begins an authorization before its resource owner is known: the record to store, and the handle for the client. */
export function createUnclaimedAuthorization(
  proposal: UnclaimedProposal,
  { now, issuerDigest, random, lifetimes }: IssueContext,
): { readonly unclaimed: Unclaimed; readonly handle: string } {
  const id = createId(random)
  const handle = createCredential('authorizationRequest', id, random)
  const expiresAt = now + lifetimes.authorizationRequest
  const grant = { ...proposal, id, issuerDigest, subject: undefined }
  return { handle, unclaimed: { ...grant, state: 'unclaimed', handle: digest(handle), expiresAt } }
}

/** A pending authorization, and the handle that only its consent form knows. */
export interface ClaimedAuthorization {
  readonly pending: Pending
  readonly handle: string
}

/**
 * A resource owner claims a request: from now on it is pending, with a new handle that the client does not know. One claim
 * wins; every other one is refused.
 */
export function claim(
  current: Authorization | undefined,
  { handle, subject }: Pick<ConsentDecision, 'handle' | 'subject'>,
  { now, random, lifetimes }: IssueContext,
): TransitionResult<ClaimedAuthorization> {
  if (current?.state !== 'unclaimed') return unchanged(requestNotOpen())
  if (!hasDigest(handle, current.handle))
    return unchanged(
      invalidRequest('authorization_request_unknown', 'The authorization request is not known.'),
    )
  if (current.expiresAt <= now) return unchanged(requestExpired())
  const own = createCredential('authorizationRequest', current.id, random)
  const expiresAt = now + lifetimes.authorizationRequest
  const pending: Pending = { ...current, state: 'pending', subject, handle: digest(own), expiresAt }
  return save(pending, { pending, handle: own })
}

/** A decision as it came in: the handle of the form, who is logged in now, and what they decide. */
export interface ConsentDecision {
  readonly handle: string
  readonly subject: string
  readonly approved: boolean
}

/**
 * The authorization that this answer settles, or that the same answer settled before; or why it settles none: only its own
 * owner answers a request, and one way.
 */
export function requireAnswerable(
  current: Authorization | undefined,
  answer: ConsentDecision,
  now: number,
): Exclude<Authorization, Unclaimed> | OAuthError {
  // The client knows the handle of a request that nobody has claimed.
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

/** The refusal of a decision on a request that was settled, or is gone. */
export function requestNotOpen(): OAuthError {
  return invalidRequest('authorization_request_not_open', 'The authorization request is not open any more.')
}

function requestExpired(): OAuthError {
  return invalidRequest('authorization_request_expired', 'The authorization request has expired.')
}

/** Approval with a code, which exists in clear only in what this returns (RFC 6749 4.1.2). */
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

/** Approval with an access token at once: no code, and never a refresh token (RFC 6749 4.2.2). */
export function approveWithAccessToken(proposed: RequestedAuthorization, context: IssueContext): Issuance {
  return issueAccessToken(withoutTokens(proposed, proposed.id), proposed.scope, context)
}

/** Denial. It stays on record, so that a decision sent twice cannot end both ways, and ends twice the same way. */
export function deny(pending: Pending): Denied {
  return { ...pending, state: 'denied' }
}

const codeFrom = (salt: string) => `authorization code ${salt}`

/** An approval by a consent form, whose code can be issued again with the handle of the form, and with nothing else. */
export interface RepeatableApproval {
  readonly salt: string
  /** The circumstances in which the approval issues its code. */
  readonly context: IssueContext
}

/**
 * An approval that can be repeated: the secret of its code is derived from the handle and from a salt, which is all that
 * the record keeps of it.
 *
 * @param salt of the approval that is repeated; left out for a first one.
 */
export function repeatable(
  handle: string,
  context: IssueContext,
  salt: string = createSalt(context.random),
): RepeatableApproval {
  return { salt, context: { ...context, codeSecrets: derivedBytes(handle, codeFrom(salt)) } }
}

/** The record of an approval with what it takes to know its form again, and to answer it again as long as it may be. */
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

/** The request that was approved, as it was proposed; undefined when its answer cannot be given again. */
export function requestOfApproval(approved: Approved): RequestedAuthorization | undefined {
  const { id, issuerDigest, clientId, subject, scope, tokenType, extensionData, code, accessTokens } =
    approved
  const { redirectUri, redirectUriSent, repetition } = code
  // An access token was in the answer: no token goes out twice.
  if (repetition === undefined || accessTokens.length > 0) return undefined
  const { responseType, requestState } = repetition
  const request = { responseType, redirectUri, redirectUriSent, requestState }
  return { id, issuerDigest, clientId, subject, scope, tokenType, extensionData, request }
}
