import { createCredential, digest, hasDigest } from '../protocol/credential'
import { invalidRequest, type OAuthError } from '../protocol/oauth-error'
import type { Approved, Authorization, Denied, Pending, Proposed } from './authorization'
import type { Circumstances } from './circumstances'
import { issueAccessToken, withoutTokens, type Issuance } from './issue'

/** A decision as it came in: the handle of the form, and who is logged in now. */
export interface Answer {
  readonly handle: string
  readonly subject: string
}

/** The request that this answer settles, or why it settles none: only its own owner answers it, and once. */
export function answered(
  current: Authorization | undefined,
  answer: Answer,
  now: number,
): Pending | OAuthError {
  if (current?.state !== 'pending') return requestNotOpen()
  if (!hasDigest(answer.handle, current.handle))
    return invalidRequest('authorization_request_unknown', 'The authorization request is not known.')
  if (answer.subject !== current.subject)
    return invalidRequest('authorization_request_of_another_owner', 'The authorization request is not known.')
  if (current.expiresAt <= now)
    return invalidRequest('authorization_request_expired', 'The authorization request has expired.')
  return current
}

/** The refusal of a decision on a request that was settled, or is gone. */
export function requestNotOpen(): OAuthError {
  return invalidRequest('authorization_request_not_open', 'The authorization request is not open any more.')
}

/** Approval with a code, which exists in clear only in what this returns (RFC 6749 4.1.2). */
export function approveWithCode(
  { id, clientId, subject, scope, tokenType, bindings, request }: Proposed,
  { now, random, lifetimes }: Circumstances,
): { readonly authorization: Approved; readonly code: string } {
  const code = createCredential('authorizationCode', id, random)
  const { redirectUri, redirectUriSent } = request
  const expiresAt = now + lifetimes.authorizationCode
  return {
    code,
    authorization: {
      state: 'approved',
      id,
      clientId,
      subject,
      scope,
      tokenType,
      bindings,
      code: { digest: digest(code), redirectUri, redirectUriSent, failures: 0, expiresAt },
      accessTokens: [],
    },
  }
}

/** Approval with an access token at once: no code, and never a refresh token (RFC 6749 4.2.2). */
export function approveWithAccessToken(proposed: Proposed, circumstances: Circumstances): Issuance {
  return issueAccessToken(withoutTokens(proposed, proposed.id), proposed.scope, circumstances)
}

/** Denial. It stays on record, so that a decision sent twice cannot end both ways. */
export function deny({ id, expiresAt }: Pending): Denied {
  return { state: 'denied', id, expiresAt }
}
