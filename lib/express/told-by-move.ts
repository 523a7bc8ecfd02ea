import type { Active, Approved, Authorization } from '../authorization/authorization'
import type { CommittedTransition } from '../authorization/witness'
import type { Scope } from '../protocol/scope'
import { fingerprintOfDigest } from './credential-mark'

/** What a move tells that went well. */
export interface GrantEventMembers {
  readonly event: 'approved' | 'issued' | 'refreshed' | 'revoked'
  readonly reason: string | undefined
  readonly scope: Scope | undefined
  /** Of what was issued; undefined when nothing was. */
  readonly credential: string | undefined
}

/** What is told of a move that a request or the host wanted; undefined when nothing came of it. */
export function grantEventOf({ found, write }: CommittedTransition): GrantEventMembers | undefined {
  if (write === 'nothing') return undefined
  if (write === 'removal') return found && revocationOf(found, 'client')
  if (write === 'confirmation' && found?.state === 'approved')
    return { ...approvalOf(found), reason: 'repeated' }
  const settled = write === 'confirmation' ? found : write
  if (settled?.state === 'approved') return approvalOf(settled)
  return settled?.state === 'active' ? issueOf(settled, found) : undefined
}

/** What is told of an authorization that ended. */
export function revocationOf(found: Authorization | undefined, reason: string): GrantEventMembers {
  const scope = found !== undefined && 'scope' in found ? found.scope : undefined
  return { event: 'revoked', reason, scope, credential: undefined }
}

function approvalOf({ code, scope, accessTokens }: Approved): GrantEventMembers {
  const [token] = accessTokens
  if (token === undefined)
    return { event: 'approved', reason: undefined, scope, credential: fingerprintOfDigest(code.digest) }
  return {
    event: 'issued',
    reason: undefined,
    scope: token.scope,
    credential: fingerprintOfDigest(token.digest),
  }
}

function issueOf(
  { scope, accessTokens, refreshToken }: Active,
  found: Authorization | undefined,
): GrantEventMembers {
  const token = accessTokens.at(-1)
  const isRefresh = found?.state === 'active'
  // Within the grace the refresh token stays what it is, whether or not a new access token comes with it.
  const isRepeated = isRefresh && found.refreshToken?.digest === refreshToken?.digest
  return {
    event: isRefresh ? 'refreshed' : 'issued',
    reason: isRepeated ? 'repeated' : undefined,
    scope: token?.scope ?? scope,
    credential: token && fingerprintOfDigest(token.digest),
  }
}
