import { presentAccessToken, type Access } from '../authorization/present-access-token'
import { credentialId } from '../protocol/credential'
import { covers, intersects, type Scope } from '../protocol/scope'
import type { AuthorizationStore } from '../stores/authorization-store'
import type { TokenType } from '../token-types/token-type'
import { AccessRefusal } from './access-refusal'
import type { Requirement } from './requirement'

/** What the decision looks at. */
export interface Admission {
  readonly store: AuthorizationStore
  readonly tokenType: TokenType
  /** Seconds since the epoch. */
  readonly now: number
}

/**
 * Decides whether a request with these `Authorization` headers may use the resource (RFC 6749 7).
 *
 * @throws AccessRefusal when it may not.
 * @throws OAuthError `temporarily_unavailable` when the store is in trouble.
 */
export async function admit(
  authorization: readonly string[],
  requirement: Requirement,
  { store, tokenType, now }: Admission,
): Promise<Access> {
  const token = presentedToken(authorization, tokenType, requirement.scope)
  const id = credentialId('accessToken', token)
  const found = id === undefined ? undefined : await store.find(id)
  const access = presentAccessToken(found?.authorization, token, now)
  if (access === undefined) throw AccessRefusal.badToken(requirement.scope)
  if (!satisfies(access.scope, requirement)) throw AccessRefusal.insufficientScope(requirement.scope)
  return access
}

function presentedToken(authorization: readonly string[], tokenType: TokenType, scope: Scope): string {
  const [header, second] = authorization
  if (second !== undefined) throw AccessRefusal.malformed('several_authorization_headers', scope)
  const [scheme = '', token, rest] = header?.split(/ +/) ?? []
  if (scheme.toLowerCase() !== tokenType.scheme.toLowerCase()) throw AccessRefusal.noToken(scope)
  if (token === undefined || token === '' || rest !== undefined)
    throw AccessRefusal.malformed('token_malformed', scope)
  return token
}

function satisfies(granted: Scope, { scope, match }: Requirement): boolean {
  return match === 'all' || scope.length === 0 ? covers(granted, scope) : intersects(granted, scope)
}
