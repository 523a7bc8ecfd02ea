import { isText } from '../primitives/options-reader'
import { OAuthError, type Observed } from '../protocol/oauth-error'
import type { Reason } from '../protocol/reasons'
import { formatScope, type Scope } from '../protocol/scope'

// RFC 6750 3.1. Each challenge names the scope of the guard.

/** RFC 6750 2.1 */
export function malformedRequest(reason: Reason<'invalid_request'>, scope: Scope): OAuthError {
  return new OAuthError(
    'invalid_request',
    reason,
    'The request does not carry one access token in one Authorization header.',
    { status: 400, challenge: scopeIn(scope) },
  )
}

export function missingToken(scope: Scope, cause: 'scheme' | 'query' | undefined): OAuthError {
  return new OAuthError(
    'invalid_token',
    'token_missing',
    'The request has no access token in the Authorization header.',
    { status: 401, challenge: scopeIn(scope), ...(cause && { observed: { cause } }) },
  )
}

export function badToken(reason: string, scope: Scope, observed?: Observed): OAuthError {
  return new OAuthError('invalid_token', reason, 'The access token is unknown, expired or revoked.', {
    status: 401,
    challenge: scopeIn(scope),
    ...(observed && { observed }),
  })
}

/** @param sent `aud` of the token, as anything may have written it. */
export function otherAudience(sent: unknown, expected: readonly string[]): Observed {
  const [only = 'none', second] = [sent ?? []].flat().filter(isText)
  return { sent: second === undefined ? only : [sent].flat().filter(isText), expected }
}

export function unprovenToken(reason: string, scope: Scope, scheme: string): OAuthError {
  return new OAuthError(
    'invalid_token',
    reason,
    'The request does not prove that it may use the access token.',
    { status: 401, challenge: scopeIn(scope), schemes: [scheme] },
  )
}

export function insufficientScope(scope: Scope, granted?: Scope): OAuthError {
  return new OAuthError(
    'insufficient_scope',
    'token_scope_insufficient',
    'The access token does not have the scope that this resource needs.',
    {
      status: 403,
      challenge: scopeIn(scope),
      observed: { 'scope of the guard': scope, 'scope of the token': granted },
    },
  )
}

export function unboundToken(scope: Scope, schemes: readonly string[]): OAuthError {
  return new OAuthError('invalid_token', 'token_unbound', 'The access token is bound to no key.', {
    status: 401,
    challenge: scopeIn(scope),
    schemes,
  })
}

export const scopeIn = (scope: Scope): { readonly scope?: string } =>
  scope.length === 0 ? {} : { scope: formatScope(scope) }
