import { createCredential, createSalt, derivedText, digest, hasDigest } from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import type { Login } from '../protocol/resource-owner'
import type { Approved, Authorization, Requested, RequestedAuthorization } from './authorization'
import { activeOf, type Issuance, issueAccessToken } from './issue'
import { isBurnt } from './redeem-code'
import { requestExpired, requestNotOpen, requestOfAnotherOwner, requestUnknown } from './requested'
import type { IssueContext, RecordContext } from './transition'

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

/** Only the owner decides, and only once. The same decision may come again; the opposite one may not. */
export function findDecidable(
  found: Authorization | undefined,
  decision: Pick<ConsentDecision, 'consentToken' | 'subject' | 'approved'>,
  now: number,
): Authorization | OAuthError {
  const current = findAsked(found, decision.consentToken)
  if (current instanceof OAuthError) return current
  if (decision.subject !== current.subject) return requestOfAnotherOwner()
  switch (current.state) {
    case 'requested':
      if (current.decision !== undefined && current.decision !== nameOf(decision)) return requestNotOpen()
      return current.expiresAt > now ? current : requestExpired()
    case 'approved':
      if (current.code.expiresAt <= now || isBurnt(current.code)) return requestNotOpen()
      return decision.approved ? current : requestNotOpen()
    case 'active':
      return decision.approved ? current : requestNotOpen()
  }
}

const nameOf = ({ approved }: Pick<ConsentDecision, 'approved'>) => (approved ? 'approved' : 'denied')

/** A handle is no consent token: its client knows it. */
export function findAsked(
  current: Authorization | undefined,
  consentToken: string,
): Authorization | OAuthError {
  if (current?.consentToken === undefined) return requestNotOpen()
  return hasDigest(consentToken, current.consentToken) ? current : requestUnknown()
}

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
      login,
    },
  }
}

/**
 * Approves a request with an access token at once, without a code or a refresh token (RFC 6749 4.2.2).
 *
 * @throws OAuthError if an extension refuses the token; `Throttled` over a limit of the option `limits.issuing`.
 */
export function approveWithAccessToken(proposed: RequestedAuthorization, context: IssueContext): Issuance {
  return issueAccessToken(activeOf(proposed, context.now), proposed.scope, context)
}

/** The record stays: the opposite decision is refused, and the same one gets the same response. */
export const deny = ({ parameters: _parameters, plugInData: _data, ...requested }: Requested): Requested => ({
  ...requested,
  decision: 'denied',
})

/** A request without a redirection URI gets no code: its client polls for the tokens. */
export function approveForPolls(
  { parameters: _parameters, plugInData: _data, ...requested }: Requested,
  { now, lifetimes }: RecordContext,
): Requested {
  // An approval in the last second of the request would reach no poll.
  const expiresAt = Math.max(requested.expiresAt, now + lifetimes.authorizationCode)
  return { ...requested, decision: 'approved', grantedAt: now, expiresAt }
}

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
  { consentToken, request: { responseType, requestState } }: OwnersRequest,
  salt: string,
): Authorization {
  if (authorization.state === 'active') return { ...authorization, consentToken }
  if (authorization.state !== 'approved') return authorization
  const repetition = { salt, responseType, requestState }
  return { ...authorization, consentToken, code: { ...authorization.code, repetition } }
}

export type OwnersRequest = Requested & RequestedAuthorization

/** A request that an owner has claimed, and whose client gets a redirect. */
export const isOwnersRequest = (current: Authorization): current is OwnersRequest =>
  current.state === 'requested' && current.subject !== undefined && current.request !== undefined

/** Undefined if no redirect answers the client, or the server cannot give it again. */
export function requestOf(decidable: Authorization): RequestedAuthorization | undefined {
  if (decidable.state !== 'approved') return isOwnersRequest(decidable) ? decidable : undefined
  const { id, issuerDigest, clientId, subject, scope, tokenType, extensionData, login } = decidable
  const { code, accessTokens } = decidable
  const { redirectUri, redirectUriSent, repetition } = code
  // The server sends no access token twice.
  if (repetition === undefined || accessTokens.length > 0) return undefined
  const { responseType, requestState } = repetition
  const request = { responseType, redirectUri, redirectUriSent, requestState }
  return { id, issuerDigest, clientId, subject, scope, tokenType, extensionData, request, login }
}
