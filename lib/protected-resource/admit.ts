import type { Json } from '../protocol/bindings'
import type { Reason } from '../protocol/reasons'
import { covers, intersects, type Scope } from '../protocol/scope'
import type { PresentedToken, ResourceRequest, TokenCheck, TokenType } from '../protocol/token-type'
import { AccessRefusal } from './access-refusal'
import type { GuardedAccess } from './guarded-access'
import type { Requirement } from './requirement'

/** A good access token: what it stands for, and what its type kept for the check. */
export interface GoodToken {
  readonly access: GuardedAccess
  readonly tokenData: Json | undefined
  readonly rejectReason?: undefined
}

/** What a look-up of a token comes to: undefined when it is unknown, or a stable word that says why it is no good. */
export type FoundToken = GoodToken | { readonly rejectReason: Reason<'invalid_token'> } | undefined

/**
 * What a guard looks tokens up in; `now` in seconds since the epoch.
 *
 * @throws OAuthError `temporarily_unavailable` when it cannot be told.
 */
export type FindToken = (accessToken: string, now: number) => FoundToken | Promise<FoundToken>

/** A request to a protected resource. */
export interface GuardedRequest extends ResourceRequest {
  /** Each `Authorization` header: all that most token types need of the headers. */
  readonly authorization: readonly string[]
}

/** What the decision looks at. */
export interface GuardedLookup {
  readonly find: FindToken
  readonly tokenTypes: readonly TokenType[]
  /** As {@link TokenCheck.useOnce}, for the client of the token. */
  readonly useOnce: (key: string, seconds: number, clientId: string) => Promise<boolean>
  /** Seconds since the epoch. */
  readonly now: number
  /** Is told which token the request shows and what that stands for, for events alone. */
  readonly witness?: (accessToken: string, access: GuardedAccess | undefined) => void
}

/**
 * Decides whether a request may use the resource (RFC 6749 7).
 *
 * @throws AccessRefusal when it may not.
 * @throws OAuthError `temporarily_unavailable` when the token cannot be looked up.
 */
export async function authorizeRequest(
  request: GuardedRequest,
  requirement: Requirement,
  admission: GuardedLookup,
): Promise<GuardedAccess> {
  const { find, tokenTypes, now } = admission
  const { scope } = requirement
  const { tokenType, presented } = tokenOf(request, tokenTypes, scope)
  const found = await find(presented.accessToken, now)
  const good = found?.rejectReason === undefined ? found : undefined
  admission.witness?.(presented.accessToken, good?.access)
  if (found === undefined) throw AccessRefusal.badToken('token_invalid', scope)
  if (found.rejectReason !== undefined) throw AccessRefusal.badToken(found.rejectReason, scope)
  // RFC 6749 7.1: the type says how a token is used, so no token passes by the scheme of another type.
  if (found.access.tokenType !== tokenType.name) throw AccessRefusal.badToken('token_of_another_type', scope)
  if (presented.rejectReason !== undefined) await prove(presented, found, request, requirement, admission)
  if (!satisfies(found.access.scope, requirement)) throw AccessRefusal.insufficientScope(scope)
  return found.access
}

interface CarriedToken {
  readonly tokenType: TokenType
  readonly presented: PresentedToken
}

function tokenOf(
  { authorization }: GuardedRequest,
  tokenTypes: readonly TokenType[],
  scope: Scope,
): CarriedToken {
  const [header = '', second] = authorization
  if (second !== undefined) throw AccessRefusal.malformed('several_authorization_headers', scope)
  const space = header.indexOf(' ')
  const scheme = space === -1 ? header : header.slice(0, space)
  const tokenType = tokenTypes.find((type) => isSameScheme(type.scheme, scheme))
  if (tokenType === undefined) throw AccessRefusal.noToken(scope)
  let start = scheme.length
  while (header.charAt(start) === ' ') start++
  const presented = tokenType.read(header.slice(start))
  if (presented === undefined) throw AccessRefusal.malformed('token_malformed', scope)
  return { tokenType, presented }
}

// RFC 9110 11.1: case does not count, but nearly everybody writes it alike.
const isSameScheme = (one: string, other: string): boolean =>
  one === other || one.toLowerCase() === other.toLowerCase()

async function prove(
  presented: PresentedToken,
  { tokenData, access: { clientId } }: GoodToken,
  request: ResourceRequest,
  { scope }: Requirement,
  { now, useOnce }: GuardedLookup,
): Promise<void> {
  const useOnceByClient: TokenCheck['useOnce'] = (key, seconds) => useOnce(key, seconds, clientId)
  const reason = await presented.rejectReason?.({ request, tokenData, now, useOnce: useOnceByClient })
  if (reason !== undefined) throw AccessRefusal.unproven(reason, scope)
}

function satisfies(granted: Scope, { scope, match }: Requirement): boolean {
  return match === 'all' || scope.length === 0 ? covers(granted, scope) : intersects(granted, scope)
}
