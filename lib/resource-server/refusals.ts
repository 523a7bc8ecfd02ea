import { isText } from '../primitives/options-reader'
import { OAuthError, type Observed } from '../protocol/oauth-error'
import type { Reason } from '../protocol/reasons'
import { formatScope, type Scope } from '../protocol/scope'

// The refusals of a request with a token by a guard (RFC 6750 3.1). Each names the scope of the guard in its challenge.

/** The request does not carry its token as RFC 6750 2.1 demands. */
export function malformedRequest(reason: Reason<'invalid_request'>, scope: Scope): OAuthError {
  return new OAuthError(
    'invalid_request',
    reason,
    'The request does not carry one access token in one Authorization header.',
    { status: 400, challenge: scopeIn(scope) },
  )
}

/** @param cause what stands in the place of the token, such as a header with another scheme. */
export function missingToken(scope: Scope, cause: 'scheme' | 'query' | undefined): OAuthError {
  return new OAuthError(
    'invalid_token',
    'token_missing',
    'The request has no access token in the Authorization header.',
    { status: 401, challenge: scopeIn(scope), ...(cause && { observed: { cause } }) },
  )
}

/** @param reason a reason of the suite, or of an extension of the host. */
export function badToken(reason: string, scope: Scope, observed?: Observed): OAuthError {
  return new OAuthError('invalid_token', reason, 'The access token is unknown, expired or revoked.', {
    status: 401,
    challenge: scopeIn(scope),
    ...(observed && { observed }),
  })
}

/** What a warning says of a token for another audience. @param sent `aud` of the token, as anything may have written it. */
export function otherAudience(sent: unknown, expected: readonly string[]): Observed {
  const [only = 'none', second] = [sent ?? []].flat().filter(isText)
  return { sent: second === undefined ? only : [sent].flat().filter(isText), expected }
}

/**
 * The token is valid, but the request lacks the proof that its token type demands.
 *
 * @param scheme that of the token type.
 */
export function unprovenToken(reason: string, scope: Scope, scheme: string): OAuthError {
  return new OAuthError(
    'invalid_token',
    reason,
    'The request does not prove that it may use the access token.',
    { status: 401, challenge: scopeIn(scope), schemes: [scheme] },
  )
}

/** @param granted the scope of the token. */
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

/**
 * The token is valid, but the guard takes tokens of other types alone.
 *
 * @param schemes those of the types that it takes.
 */
export function unboundToken(scope: Scope, schemes: readonly string[]): OAuthError {
  return new OAuthError('invalid_token', 'token_unbound', 'The access token is bound to no key.', {
    status: 401,
    challenge: scopeIn(scope),
    schemes,
  })
}

/** The scope of a guard, as an attribute of its challenge. */
export const scopeIn = (scope: Scope): { readonly scope?: string } =>
  scope.length === 0 ? {} : { scope: formatScope(scope) }
