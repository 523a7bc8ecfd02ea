import {
  createCredential,
  createId,
  createSalt,
  derivedBytes,
  digest,
  hasDigest,
} from '../protocol/credential'
import { invalidRequest, OAuthError } from '../protocol/oauth-error'
import { type Login, withLogin } from '../protocol/resource-owner'
import type {
  Approved,
  Authorization,
  Denied,
  Pending,
  Polled,
  RequestedAuthorization,
  Unclaimed,
} from './authorization'
import { type Issuance, issueAccessToken, withoutTokens } from './issue'
import { isBurnt } from './redeem-code'
import type { IssueContext, RecordContext } from './transition'

/** A valid authorization request of a known resource owner, before the server has made a record with an id. */
export type AuthorizationProposal = Omit<RequestedAuthorization, 'id' | 'issuerDigest'>

/** A pending authorization, and the random value that only its consent form knows. */
export interface OpenedAuthorization {
  readonly pending: Pending
  readonly consentToken: string
}

/**
 * Begins an authorization: makes the record to store, and the consent token.
 *
 * @param id the id of the authorization. Default: a random id.
 */
export function createPendingAuthorization(
  proposal: AuthorizationProposal,
  { now, issuerDigest, random, lifetimes }: RecordContext,
  id: string = createId(random),
): OpenedAuthorization {
  const consentToken = createCredential('authorizationRequest', id, random)
  const expiresAt = now + lifetimes.authorizationRequest
  return {
    consentToken,
    pending: {
      ...proposal,
      state: 'pending',
      id,
      issuerDigest,
      consentToken: digest(consentToken),
      expiresAt,
    },
  }
}

/** A decision as the server received it. */
export interface ConsentDecision {
  readonly consentToken: string
  /** The resource owner who is logged in now. */
  readonly subject: string
  /**
   * Seconds since the epoch, before the resource owner was read: `ownerReadAt` of the request at a page. It is the time of
   * the approval, so that an owner who takes everything back meanwhile also takes back this one.
   */
  readonly ownerReadAt: number
  /** How this owner has logged in, which the tokens say; undefined if the host does not say when. */
  readonly login: Login | undefined
  readonly approved: boolean
}

/** A request that waits for a decision, or that a decision has ended. */
type Decidable = Exclude<Authorization, Unclaimed | Polled>

/**
 * Finds the authorization that a decision is about: only the owner of the request decides, and only once. The same
 * decision may come again; the opposite decision may not.
 *
 * @returns the authorization, pending or already ended by the same decision; otherwise the refusal.
 */
export function findDecidable(
  found: Authorization | undefined,
  decision: Pick<ConsentDecision, 'consentToken' | 'subject' | 'approved'>,
  now: number,
): Decidable | OAuthError {
  const current = findAsked(found, decision.consentToken)
  if (current instanceof OAuthError) return current
  if (decision.subject !== current.subject) return requestOfAnotherOwner()
  switch (current.state) {
    case 'pending':
      return current.expiresAt > now ? current : requestExpired()
    case 'denied':
      if (decision.approved) return requestNotOpen()
      return current.expiresAt > now ? current : requestExpired()
    case 'approved':
      if (current.code.expiresAt <= now || isBurnt(current.code)) return requestNotOpen()
      return decision.approved ? current : requestNotOpen()
    case 'active':
      return decision.approved ? current : requestNotOpen()
  }
}

/** The authorization whose consent form has this token; otherwise the refusal. */
export function findAsked(current: Authorization | undefined, consentToken: string): Decidable | OAuthError {
  // The client knows the handle of an unclaimed request, so the handle is no consent token. The page of a polled request
  // decides by itself.
  if (current === undefined || current.state === 'unclaimed' || current.state === 'polled')
    return requestNotOpen()
  if (current.consentToken === undefined) return requestNotOpen()
  return hasDigest(consentToken, current.consentToken) ? current : requestUnknown()
}

/** The refusal of a decision on a request that has ended, or that the server no longer has. */
export function requestNotOpen(): OAuthError {
  return invalidRequest('authorization_request_not_open', 'The authorization request is not open any more.')
}

export function requestUnknown(): OAuthError {
  return invalidRequest('authorization_request_unknown', 'The authorization request is not known.')
}

export function requestOfAnotherOwner(): OAuthError {
  return invalidRequest('authorization_request_of_another_owner', 'The authorization request is not known.')
}

export function requestExpired(): OAuthError {
  return invalidRequest('authorization_request_expired', 'The authorization request has expired.')
}

/**
 * Approves a request with an authorization code (RFC 6749 4.1.2). Only the returned `code` is in clear; the record
 * holds its digest. The code lives as long as the option `lifetimes.authorizationCode` says: 60 seconds by default.
 */
export function approveWithCode(
  requested: RequestedAuthorization,
  { now, random, codeSecrets = random, lifetimes }: IssueContext,
): { readonly authorization: Approved; readonly code: string } {
  const { id, issuerDigest, clientId, subject, scope, tokenType, extensionData, login, request } = requested
  const code = createCredential('authorizationCode', id, codeSecrets)
  const { redirectUri, redirectUriSent } = request
  const expiresAt = now + lifetimes.authorizationCode
  return {
    code,
    authorization: withLogin(
      {
        state: 'approved',
        id,
        issuerDigest,
        consentToken: undefined,
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
        grantedAt: now,
        accessTokens: [],
      },
      login,
    ),
  }
}

/**
 * Approves a request with an access token at once, without a code and without a refresh token (RFC 6749 4.2.2).
 *
 * @throws OAuthError if an extension of the server refuses the token; `Throttled` over a limit of the option
 * `limits.issuing`.
 */
export function approveWithAccessToken(proposed: RequestedAuthorization, context: IssueContext): Issuance {
  return issueAccessToken(withoutTokens(proposed, proposed.id), proposed.scope, context)
}

/**
 * Denies a request. The record stays in the store: a second, opposite decision is refused, and the same decision gets
 * the same response.
 */
export function deny({ named: _named, ...pending }: Pending): Denied {
  return { ...pending, state: 'denied' }
}

const codeFrom = (salt: string, selected: string) =>
  `authorization code ${salt}${selected === '' ? '' : ` ${selected}`}`

/** An approval by a consent form. The server can issue the same code again, but only with the consent token. */
interface RepeatableApproval {
  /** The salt that the record keeps. */
  readonly salt: string
  /** The context with which the response type issues the code. */
  readonly context: IssueContext
}

/**
 * Makes an approval repeatable: derives the secret of the code from the consent token and a salt. The record keeps the
 * salt, but only a digest of the consent token. So the store alone does not suffice to make the code.
 *
 * @param salt the salt of the earlier approval. Default: a new salt, for a first approval.
 * @param selected what the form selects, such as its ticked boxes, as a text. The same form with another selection
 * derives another code, which no record has. Default: the form has only the buttons.
 */
export function repeatable(
  consentToken: string,
  context: IssueContext,
  salt: string = createSalt(context.random),
  selected = '',
): RepeatableApproval {
  const codeSecrets = derivedBytes(consentToken, codeFrom(salt, selected))
  return { salt, context: { ...context, codeSecrets } }
}

/**
 * Adds the consent form to the record of an approval: the digest of the consent token, to recognize the form, and for
 * a code the data with which the server gives the same code again.
 */
export function withForm(
  authorization: Authorization,
  { consentToken, request: { responseType, requestState } }: Pending,
  salt: string,
): Authorization {
  if (authorization.state === 'active') return { ...authorization, consentToken }
  if (authorization.state !== 'approved') return authorization
  const repetition = { salt, responseType, requestState }
  return { ...authorization, consentToken, code: { ...authorization.code, repetition } }
}

/** The request of a decision; undefined if its client has a response that the server cannot give again. */
export function requestOf(decidable: Decidable): RequestedAuthorization | undefined {
  if (decidable.state === 'active') return undefined
  if (decidable.state !== 'approved') return decidable
  const { id, issuerDigest, clientId, subject, scope, tokenType, extensionData, login } = decidable
  const { code, accessTokens } = decidable
  const { redirectUri, redirectUriSent, repetition } = code
  // The response held an access token, and the server sends no access token twice.
  if (repetition === undefined || accessTokens.length > 0) return undefined
  const { responseType, requestState } = repetition
  const request = { responseType, redirectUri, redirectUriSent, requestState }
  return withLogin({ id, issuerDigest, clientId, subject, scope, tokenType, extensionData, request }, login)
}
