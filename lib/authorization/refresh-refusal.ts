import { invalidGrant, invalidScope, type OAuthError } from '../protocol/oauth-error'
import { covers, parseScope, type Scope } from '../protocol/scope'
import type { Reason } from '../protocol/reasons'

/** One answer to every refresh token that is no good: only the reason, which stays here, tells them apart. */
export function refreshRefused(reason: Reason<'invalid_grant'>): OAuthError {
  return invalidGrant(
    reason,
    'The refresh token is invalid, expired, revoked, or was issued to another client.',
  )
}

/** The scope of a refresh (RFC 6749 6): never beyond the original grant, and all of it when none is named. */
export function refreshScope(granted: Scope, requested: string | undefined): Scope | OAuthError {
  if (requested === undefined) return granted
  const scope = parseScope(requested)
  if (scope === undefined) return invalidScope('scope_malformed', 'The scope is malformed.')
  return covers(granted, scope)
    ? scope
    : invalidScope('scope_exceeded', 'The scope exceeds what was granted.')
}
