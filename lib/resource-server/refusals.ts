import { isText } from '../primitives/values'
import type { OAuthError, Observed } from '../protocol/oauth-error'
import { refusedBy } from '../protocol/refusals'
import { formatScope, type Scope } from '../protocol/scope'

// RFC 6750 3.1. Each challenge names the scope of the guard.

export const badToken = (reason: string, scope: Scope, observed?: Observed): OAuthError =>
  refusedBy(reason, 'token_invalid', observed, { challenge: scopeIn(scope) })

/** @param sent `aud` of the token, as anything may have written it. */
export function otherAudience(sent: unknown, expected: readonly string[]): Observed {
  const [only = 'none', second] = [sent ?? []].flat().filter(isText)
  return { sent: second === undefined ? only : [sent].flat().filter(isText), expected }
}

export const scopeIn = (scope: Scope): { readonly scope?: string } =>
  scope.length === 0 ? {} : { scope: formatScope(scope) }
