import { createCredential, digest, hasDigest } from '../protocol/credential'
import { invalidRequest, type OAuthError } from '../protocol/oauth-error'
import type { Approved, Authorization, Denied, Pending, RequestedAuthorization } from './authorization'
import type { IssueContext } from './circumstances'
import { issueAccessToken, withoutTokens, type Issuance } from './issue'
import { isBurnt } from './redeem-code'

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
): Authorization | OAuthError {
  if (current?.handle === undefined) return requestNotOpen()
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
