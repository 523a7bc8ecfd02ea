import type { Client } from './client'
import { invalidScope } from './oauth-error'
import { covers, parseScope, type Scope } from './scope'

/**
 * The scope that a request may ask of the server: what it names, or the server's default (RFC 6749 3.3).
 *
 * @throws OAuthError `invalid_scope` when it is malformed, unknown or not this client's to ask for.
 */
export function grantableScope(requested: string | undefined, client: Client, defaultScope: Scope): Scope {
  if (requested === undefined) {
    const scope = defaultScope.filter((token) => client.scope.includes(token))
    if (scope.length === 0)
      throw invalidScope('scope_missing', 'The request names no scope and there is no default.')
    return scope
  }
  const scope = parseScope(requested)
  if (scope === undefined) throw invalidScope('scope_malformed', 'The scope is malformed.')
  requireScope(client, scope)
  return scope
}

/** Refuses a scope that is not, or no longer, the client's to ask for. @throws OAuthError `invalid_scope` */
export function requireScope(client: Client, scope: Scope): void {
  if (!covers(client.scope, scope))
    throw invalidScope('scope_not_allowed', 'The scope is unknown or not open to the client.')
}
