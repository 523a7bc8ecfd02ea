import { findAccessToken } from '../authorization/find-access'
import type { Access, GoodAccessToken } from '../authorization/present-access-token'
import { covers, intersects, type Scope } from '../protocol/scope'
import type { PresentedToken, ResourceRequest, TokenCheck, TokenType } from '../protocol/token-type'
import type { AuthorizationStore } from '../stores/authorization-store'
import { AccessRefusal } from './access-refusal'
import type { Requirement } from './requirement'

/** What the decision looks at. */
export interface Admission {
  readonly store: AuthorizationStore
  readonly tokenTypes: readonly TokenType[]
  readonly useOnce: TokenCheck['useOnce']
  /** Seconds since the epoch. */
  readonly now: number
  /** Is told which token the request shows and what that stands for, for events alone. */
  readonly witness?: (accessToken: string, access: Access | undefined) => void
}

/**
 * Decides whether a request may use the resource (RFC 6749 7).
 *
 * @throws AccessRefusal when it may not.
 * @throws OAuthError `temporarily_unavailable` when the store is in trouble.
 */
export async function admit(
  request: ResourceRequest,
  requirement: Requirement,
  admission: Admission,
): Promise<Access> {
  const { store, tokenTypes, now } = admission
  const { tokenType, presented } = tokenOf(request, tokenTypes, requirement.scope)
  const good = await findAccessToken(store, presented.accessToken, now)
  admission.witness?.(presented.accessToken, good?.access)
  if (good === undefined) throw AccessRefusal.badToken('token_invalid', requirement.scope)
  // RFC 6749 7.1: the type says how a token is used, so no token passes by the scheme of another type.
  if (good.access.tokenType !== tokenType.name)
    throw AccessRefusal.badToken('token_of_another_type', requirement.scope)
  await prove(presented, good, request, requirement, admission)
  if (!satisfies(good.access.scope, requirement)) throw AccessRefusal.insufficientScope(requirement.scope)
  return good.access
}

interface CarriedToken {
  readonly tokenType: TokenType
  readonly presented: PresentedToken
}

function tokenOf({ headers }: ResourceRequest, tokenTypes: readonly TokenType[], scope: Scope): CarriedToken {
  const [header = '', second] = headers['authorization'] ?? []
  if (second !== undefined) throw AccessRefusal.malformed('several_authorization_headers', scope)
  const [scheme = ''] = header.split(' ', 1)
  const tokenType = tokenTypes.find((type) => type.scheme.toLowerCase() === scheme.toLowerCase())
  if (tokenType === undefined) throw AccessRefusal.noToken(scope)
  const presented = tokenType.read(header.slice(scheme.length).replace(/^ +/, ''))
  if (presented === undefined) throw AccessRefusal.malformed('token_malformed', scope)
  return { tokenType, presented }
}

async function prove(
  presented: PresentedToken,
  { kept }: GoodAccessToken,
  request: ResourceRequest,
  { scope }: Requirement,
  { now, useOnce }: Admission,
): Promise<void> {
  const reason = await presented.objection?.({ request, kept, now, useOnce })
  if (reason !== undefined) throw AccessRefusal.unproven(reason, scope)
}

function satisfies(granted: Scope, { scope, match }: Requirement): boolean {
  return match === 'all' || scope.length === 0 ? covers(granted, scope) : intersects(granted, scope)
}
