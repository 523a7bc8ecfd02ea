import type { Active, Approved, Authorization, Pending } from '../../../lib/authorization/authorization'
import {
  approveWithCode,
  type AuthorizationProposal,
  createPendingAuthorization,
  repeatable,
  withForm,
} from '../../../lib/authorization/decision'
import { createUnclaimedAuthorization } from '../../../lib/authorization/claim'
import type { DirectAuthorization, Issued } from '../../../lib/authorization/issue'
import { redeemCode, type Redemption } from '../../../lib/authorization/redeem-code'
import { type Refresh, rotateRefreshToken } from '../../../lib/authorization/refresh'
import type { IssueContext, TransitionResult } from '../../../lib/authorization/transition'
import { context } from './issue-context'
import { answerOf, written } from './step'

/** The canonical request: the photo printer asks alice for her photos, with a code challenge. */
export const proposal: AuthorizationProposal = {
  clientId: 'photo-printer',
  subject: 'alice',
  scope: ['photos.read', 'photos.write'],
  tokenType: 'bearer',
  extensionData: { pkce: 'challenge' },
  request: {
    responseType: 'code',
    redirectUri: 'https://printer.example/callback',
    redirectUriSent: true,
    requestState: 'af0ifjsldkj',
  },
}

/** A client acts for itself. */
export const nightlyExport: DirectAuthorization = {
  clientId: 'nightly-export',
  subject: undefined,
  scope: ['photos.read'],
  tokenType: 'bearer',
  refreshToken: false,
  extensionData: {},
}

/** The photo printer has stored its request before anybody is logged in. */
export function unclaimedAuthorization(at: IssueContext = context()) {
  const { subject: _subject, ...withoutOwner } = proposal
  return createUnclaimedAuthorization(withoutOwner, at)
}

/** Alice is looking at the consent page. */
export function pendingAuthorization(
  bend: Partial<AuthorizationProposal> = {},
  at: IssueContext = context(),
): { readonly pending: Pending; readonly consentToken: string } {
  return createPendingAuthorization({ ...proposal, ...bend }, at)
}

/** Alice has approved. */
export function approvedAuthorization(
  bend: Partial<AuthorizationProposal> = {},
  at: IssueContext = context(),
): { readonly approved: Approved; readonly code: string } {
  const { pending, consentToken } = pendingAuthorization(bend, at)
  return approvalOf(pending, consentToken, at)
}

/** Alice has approved this request by its form. */
export function approvalOf(
  pending: Pending,
  consentToken: string,
  at: IssueContext = context(),
): { readonly approved: Approved; readonly code: string } {
  const { salt, context: repeated } = repeatable(consentToken, at)
  const { authorization, code } = approveWithCode(pending, repeated)
  const approved = withForm(authorization, pending, salt)
  if (approved.state !== 'approved') throw new Error('The approval issued no code.')
  return { approved, code }
}

/** The photo printer redeems a code as it should. */
export function redemption(code: string, bend: Partial<Redemption> = {}): Redemption {
  const { clientId, request } = proposal
  return {
    code,
    clientId,
    redirectUri: request.redirectUri,
    refreshToken: true,
    ...bend,
  }
}

/** The photo printer has redeemed its code. */
export function activeAuthorization(
  bend: Partial<Redemption> = {},
  at: IssueContext = context(),
): { readonly active: Active; readonly code: string; readonly issued: Issued } {
  const { approved, code } = approvedAuthorization({}, at)
  const step = redeemCode(approved, redemption(code, bend), at)
  return { active: asActive(written(step)), code, issued: answerOf(step) }
}

/** The photo printer refreshes with a token as it should. */
export function refreshWith(refreshToken: string | undefined, bend: Partial<Refresh> = {}): Refresh {
  if (refreshToken === undefined) throw new Error('There is no refresh token.')
  return { refreshToken, clientId: proposal.clientId, scope: undefined, ...bend }
}

/** A refresh that goes well: the record after it, and the new tokens. */
export function refreshed(
  current: Authorization,
  refreshToken: string | undefined,
  at: IssueContext = context(),
): { readonly active: Active; readonly issued: Issued } {
  const step: TransitionResult<Issued> = rotateRefreshToken(current, refreshWith(refreshToken), at)
  return { active: asActive(written(step)), issued: answerOf(step) }
}

export function asActive(authorization: Authorization): Active {
  if (authorization.state !== 'active') throw new Error(`The authorization is ${authorization.state}.`)
  return authorization
}
