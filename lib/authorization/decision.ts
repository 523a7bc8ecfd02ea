import {
  createCredential,
  createId,
  createSalt,
  derivedText,
  digest,
  hasDigest,
} from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
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

export type AuthorizationProposal = Omit<RequestedAuthorization, 'id' | 'issuerDigest'>

/** Only the form knows the consent token. */
export interface OpenedAuthorization {
  readonly pending: Pending
  readonly consentToken: string
}

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
   * Seconds since the epoch, before the owner was read: `ownerReadAt` of the request at a page. It becomes the time of
   * the approval: an owner who takes everything back meanwhile takes back this one, too.
   */
  readonly ownerReadAt: number
  /** How this owner has logged in, for the tokens; undefined if the host does not say when. */
  readonly login: Login | undefined
  readonly approved: boolean
}

type Decidable = Exclude<Authorization, Unclaimed | Polled>

/** Only the owner decides, and only once. The same decision may come again; the opposite one may not. */
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

export function findAsked(current: Authorization | undefined, consentToken: string): Decidable | OAuthError {
  // A client knows the handle of an unclaimed request: it is no consent token. A polled request has its own page.
  if (current === undefined || current.state === 'unclaimed' || current.state === 'polled')
    return requestNotOpen()
  if (current.consentToken === undefined) return requestNotOpen()
  return hasDigest(consentToken, current.consentToken) ? current : requestUnknown()
}

export const requestNotOpen = (): OAuthError => refused('authorization_request_not_open')

export const requestUnknown = (): OAuthError => refused('authorization_request_unknown')

export const requestOfAnotherOwner = (): OAuthError => refused('authorization_request_of_another_owner')

export const requestExpired = (): OAuthError => refused('authorization_request_expired')

/**
 * Approves a request with an authorization code (RFC 6749 4.1.2). The record has the digest of the returned `code`,
 * which lives as long as the option `lifetimes.authorizationCode`: 60 seconds by default.
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
 * Approves a request with an access token at once, without a code or a refresh token (RFC 6749 4.2.2).
 *
 * @throws OAuthError if an extension refuses the token; `Throttled` over a limit of the option `limits.issuing`.
 */
export function approveWithAccessToken(proposed: RequestedAuthorization, context: IssueContext): Issuance {
  return issueAccessToken(withoutTokens(proposed, proposed.id, context.now), proposed.scope, context)
}

/** The record stays: the opposite decision is refused, and the same one gets the same response. */
export const deny = ({ named: _named, ...pending }: Pending): Denied => ({ ...pending, state: 'denied' })

const codeFrom = (salt: string, selected: string) =>
  `authorization code ${salt}${selected === '' ? '' : ` ${selected}`}`

interface RepeatableApproval {
  readonly salt: string
  readonly context: IssueContext
}

/**
 * Derives the code from the consent token and a salt. The record has only a digest of the consent token: the store
 * alone does not suffice to make the code again.
 *
 * @param salt that of the earlier approval. Default: a new one.
 * @param selected what the form selects, such as ticked boxes. Another selection derives another code, which no record
 * has.
 */
export function repeatable(
  consentToken: string,
  context: IssueContext,
  salt: string = createSalt(context.random),
  selected = '',
): RepeatableApproval {
  const codeSecrets = derivedText(consentToken, codeFrom(salt, selected))
  return { salt, context: { ...context, codeSecrets } }
}

/** Lets the server give the same code again. */
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

/** Undefined if the server cannot give the response of the client again. */
export function requestOf(decidable: Decidable): RequestedAuthorization | undefined {
  if (decidable.state === 'active') return undefined
  if (decidable.state !== 'approved') return decidable
  const { id, issuerDigest, clientId, subject, scope, tokenType, extensionData, login } = decidable
  const { code, accessTokens } = decidable
  const { redirectUri, redirectUriSent, repetition } = code
  // The server sends no access token twice.
  if (repetition === undefined || accessTokens.length > 0) return undefined
  const { responseType, requestState } = repetition
  const request = { responseType, redirectUri, redirectUriSent, requestState }
  return withLogin({ id, issuerDigest, clientId, subject, scope, tokenType, extensionData, request }, login)
}
