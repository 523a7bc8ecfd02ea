import { hasDigest } from '../protocol/credential'
import { invalidGrant, OAuthError } from '../protocol/oauth-error'
import type { Reason } from '../protocol/reasons'
import type { Active, Approved, Authorization, Code } from './authorization'
import { issue, type Issued, withoutTokens } from './issue'
import {
  deleteRecord,
  type IssueContext,
  issueEvent,
  type NewAccessToken,
  revocationEvent,
  save,
  touch,
  type TransitionResult,
  unchanged,
} from './transition'

/** A redemption as its client asks for it. */
export interface Redemption {
  readonly code: string
  readonly clientId: string
  readonly redirectUri: string | undefined
  /** Whether the client may have a refresh token. */
  readonly refreshToken: boolean
}

const failuresThatBurn = 5

const refused = (reason: Reason<'invalid_grant'>) =>
  invalidGrant(reason, 'The authorization code is invalid, expired, revoked, or belongs to another request.')

/**
 * Redeems a code: everything is checked first, and the same write spends the code and brings the tokens. Of any
 * number of redemptions one wins; the next by the same client revokes what it won (RFC 6749 4.1.2).
 */
export function redeemCode(
  current: Authorization | undefined,
  redemption: Redemption,
  context: IssueContext,
): TransitionResult<Issued> {
  // A replay may have removed the record, without an answer that it is gone for good.
  if (current === undefined) return touch(refused('code_unknown'))
  if (current.state === 'active') return replay(current, redemption)
  if (current.state !== 'approved') return unchanged(refused('code_unknown'))
  const { code } = current
  if (!hasDigest(redemption.code, code.digest)) return unchanged(refused('code_unknown'))
  if (redemption.clientId !== current.clientId) return unchanged(refused('code_of_another_client'))
  if (code.expiresAt <= context.now) return unchanged(refused('code_expired'))
  if (isBurnt(code)) return unchanged(refused('code_burnt'))
  const token = redirectUriMismatch(code, redemption) ?? context.restrict({ ...current, begins: false })
  if (token instanceof OAuthError) return save(withFailure(current), token)
  return spend(current, token, redemption.refreshToken, context)
}

/** Whether nothing can be had for the code any more, because too much was wrong beside it. */
export function isBurnt({ failures }: Code): boolean {
  return failures >= failuresThatBurn
}

function replay(current: Active, redemption: Redemption): TransitionResult<Issued> {
  const { spentCode, clientId } = current
  if (spentCode === undefined || !hasDigest(redemption.code, spentCode))
    return unchanged(refused('code_unknown'))
  // Another client holds the code but was not the one it was issued to: it must not be able to revoke.
  if (redemption.clientId !== clientId) return unchanged(refused('code_of_another_client'))
  return deleteRecord(refused('code_replayed'), revocationEvent(current, 'code_replayed'))
}

function redirectUriMismatch(code: Code, { redirectUri }: Redemption): OAuthError | undefined {
  // RFC 6749 4.1.3: required, and identical, if it was in the authorization request.
  if (redirectUri === undefined) return code.redirectUriSent ? refused('redirect_uri_missing') : undefined
  return redirectUri === code.redirectUri ? undefined : refused('redirect_uri_mismatch')
}

function withFailure(approved: Approved): Approved {
  return { ...approved, code: { ...approved.code, failures: approved.code.failures + 1 } }
}

function spend(
  approved: Approved,
  token: NewAccessToken,
  refreshToken: boolean,
  context: IssueContext,
): TransitionResult<Issued> {
  const { handle, code, accessTokens } = approved
  // Tokens that came with the code descend from the same approval: a replay revokes them, too.
  const spent = { ...withoutTokens(approved, approved.id), handle, spentCode: code.digest, accessTokens }
  const { authorization, issued } = issue(spent, token, refreshToken, context)
  return save(authorization, issued, issueEvent('issued', authorization.accessTokens.at(-1)))
}
