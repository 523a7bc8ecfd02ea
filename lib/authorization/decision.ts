import { createCredential, digest, hasDigest } from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import type { Approved, Authorization, Requested, RequestedAuthorization } from './authorization'
import { activeOf, type Issuance, issueAccessToken } from './issue'
import { isBurnt } from './redeem-code'
import { requestExpired, requestNotOpen, requestOfAnotherOwner, requestUnknown } from './requested'
import type { IssueContext, RecordContext } from './transition'

/** Of the resource owner who is logged in now. */
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

const nameOf = ({ approved }: OwnersDecision): Answer => (approved ? 'approved' : 'denied')

/** A handle is no consent token: its client knows it. @param asked without a subject for any owner. */
export function findAsked(
  current: Authorization | undefined,
  { consentToken, subject }: Pick<OwnersDecision, 'consentToken'> & Partial<OwnersDecision>,
): Authorization | OAuthError {
  if (current?.consentToken === undefined) return requestNotOpen()
  if (!hasDigest(consentToken, current.consentToken)) return requestUnknown()
  return subject === undefined || subject === current.subject ? current : requestOfAnotherOwner()
}

/** What the owner of a request that is polled has decided; undefined if the decision is still to come. */
export function answerIn(current: Authorization): Answer | undefined {
  if (current.state === 'requested') return current.decision
  return current.state === 'active' && current.spentCode !== undefined ? 'approved' : undefined
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
 * Approves a request with an access token at once, without a code or a refresh token (RFC 6749 4.2.2).
 *
 * @throws OAuthError if an extension refuses the token; `Throttled` over a limit of the option `limits.issuing`.
 */
export function approveWithAccessToken(proposed: RequestedAuthorization, context: IssueContext): Issuance {
  return issueAccessToken(activeOf(proposed, context.now), proposed.scope, context)
}

/** The record stays: the opposite decision is refused, and the same one gets the same response. */
export const deny = ({ parameters: _parameters, pluginData: _data, ...requested }: Requested): Requested => ({
  ...requested,
  decision: 'denied',
})

/** A request without a redirection URI gets no code: its client polls for the tokens. */
export function approveForPolls(
  { parameters: _parameters, pluginData: _data, ...requested }: Requested,
  { now, lifetimes }: RecordContext,
): Requested {
  // An approval in the last second of the request would reach no poll.
  const expiresAt = Math.max(requested.expiresAt, now + lifetimes.authorizationCode)
  return { ...requested, decision: 'approved', grantedAt: now, expiresAt }
}

export type OwnersRequest = Requested & RequestedAuthorization

/** A request that an owner has claimed, and whose client gets a redirect. */
const isOwnersRequest = (current: Authorization): current is OwnersRequest =>
  current.state === 'requested' && current.subject !== undefined && current.request !== undefined

export type RepeatableApproval = Approved & { readonly code: { readonly salt: string } }

/** A redirect answers the client, and the server can give it again: it sends no access token twice. */
export const isRedirectable = (decidable: Authorization): decidable is OwnersRequest | RepeatableApproval =>
  decidable.state === 'approved'
    ? decidable.code.salt !== undefined && decidable.accessTokens.length === 0
    : isOwnersRequest(decidable)
