import type { Access } from '../authorization/lookup'
import { isBoolean, isText, OptionsReader } from '../protocol/configuration'
import { type Extension, type Json, keptBy, type KeptExtensionData } from '../protocol/extension'
import type { Reason } from '../protocol/reasons'
import { covers, intersects, parseScope, type Scope } from '../protocol/scope'
import type { PresentedToken, ResourceRequest, TokenCheck, TokenType } from '../protocol/token-type'
import { AccessRefusal } from './access-refusal'

/** A good access token: what it gives, and what plug-ins keep with it. */
export interface GoodToken extends KeptExtensionData {
  readonly access: GuardedAccess
  readonly tokenData: Json | undefined
  readonly rejectReason?: undefined
}

/** The result of a look-up: undefined for an unknown token, or a stable word that says why the token is not valid. */
export type FoundToken = GoodToken | { readonly rejectReason: Reason<'invalid_token'> } | undefined

/**
 * Looks a token up; `now` in seconds since the epoch.
 *
 * @throws OAuthError `temporarily_unavailable` when the look-up fails.
 */
export type FindToken = (accessToken: string, now: number) => FoundToken | Promise<FoundToken>

/** A request to a protected resource. */
export interface GuardedRequest extends ResourceRequest {
  /** Each `Authorization` header: all that most token types need of the headers. */
  readonly authorization: readonly string[]
}

/** What the decision works with. */
export interface GuardedLookup {
  readonly find: FindToken
  readonly tokenTypes: readonly TokenType[]
  /** Those that take part in guards. */
  readonly extensions: readonly Extension[]
  /** As {@link TokenCheck.useOnce}, for the client of the token. */
  readonly useOnce: (key: string, seconds: number, clientId: string) => Promise<boolean>
  /** Seconds since the epoch. */
  readonly now: number
  /** Hears which token the request shows and what the token gives, for events alone. */
  readonly onFound?: (accessToken: string, access: GuardedAccess | undefined) => void
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
  admission.onFound?.(presented.accessToken, good?.access)
  if (found === undefined) throw AccessRefusal.badToken('token_invalid', scope)
  if (found.rejectReason !== undefined) throw AccessRefusal.badToken(found.rejectReason, scope)
  // RFC 6749 7.1: the type says how a token is used, so no token passes by the scheme of another type.
  if (found.access.tokenType !== tokenType.name) throw AccessRefusal.badToken('token_of_another_type', scope)
  const rejected = rejectReasonOf(admission.extensions, request, found)
  if (rejected !== undefined) throw AccessRefusal.badToken(rejected, scope)
  if (presented.rejectReason !== undefined) await prove(presented, found, request, requirement, admission)
  if (!satisfies(found.access.scope, requirement)) throw AccessRefusal.insufficientScope(scope)
  return withMembers(admission.extensions, found)
}

function rejectReasonOf(
  extensions: readonly Extension[],
  request: ResourceRequest,
  found: GoodToken,
): string | undefined {
  const { clientId, subject, scope } = found.access
  for (const extension of extensions) {
    const kept = keptBy(extension.name, found)
    const reason: unknown = extension.atResourceRequest?.({ request, clientId, subject, scope, ...kept })
    if (reason === undefined) continue
    if (isText(reason)) return reason
    throw new TypeError(`The extension "${extension.name}" must return a reason, a text, or undefined.`)
  }
  return undefined
}

function withMembers(extensions: readonly Extension[], found: GoodToken): GuardedAccess {
  if (extensions.length === 0) return found.access
  const members = extensions.map((extension) => extension.access?.(keptBy(extension.name, found)))
  return { ...Object.assign({}, ...members), ...found.access }
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

/** What a protected resource asks of a request. */
export interface Requirement {
  readonly scope: Scope
  /** Whether the token needs `all` of the scope's tokens or `any` one of them. */
  readonly match: 'all' | 'any'
  /** Whether a request without any token may pass. */
  readonly optional: boolean
}

/**
 * Reads what a host asks of a guard; an empty scope asks for any valid token.
 *
 * @param knownScope the scope of the server, where it is known: a misspelt one would refuse everybody.
 * @throws ConfigurationError that lists every mistake.
 */
export function parseRequirement(
  scope: unknown,
  options: unknown,
  knownScope: Scope | undefined,
): Requirement {
  const reading = new OptionsReader(options, '')
  const requirement = {
    scope: scopeOf(reading, scope, knownScope),
    match: reading.optional<Requirement['match']>('match', 'all', isMatch, "must be 'all' or 'any'."),
    optional: reading.optional('optional', false, isBoolean, 'must be true or false.'),
  }
  reading.refuseUnknown()
  reading.settle('A bearer guard cannot work:')
  return requirement
}

function scopeOf(reading: OptionsReader, scope: unknown, knownScope: Scope | undefined): Scope {
  if (scope === '') return []
  const parsed = typeof scope === 'string' ? parseScope(scope) : undefined
  if (parsed === undefined)
    reading.wrong(
      'scope',
      "must be scope tokens with one space between two, as in bearerGuard('photos:read').",
    )
  else if (knownScope !== undefined && !covers(knownScope, parsed))
    reading.wrong('scope', `must hold scopes of this server: ${knownScope.join(', ')}.`)
  return parsed ?? []
}

const isMatch = (value: unknown): value is Requirement['match'] => value === 'all' || value === 'any'

/**
 * What a JWT access token stands for (RFC 9068 2.2). It is frozen with everything in it, because all requests that show the
 * token share it.
 */
export interface JwtAccess {
  /** Undefined: a JWT is no credential of an authorization in a store. */
  readonly authorizationId?: undefined
  readonly clientId: string
  /** `sub`: the resource owner; undefined when that is the client, which acts for itself (RFC 9068 2.2). */
  readonly subject: string | undefined
  /** Empty when the issuer wrote none. */
  readonly scope: Scope
  readonly tokenType: 'bearer'
  /** Seconds since the epoch; a fraction where the issuer writes one. */
  readonly expiresAt: number
  /** Every claim of the token, registered ones too, as its issuer signed them. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** What the access token of a request stands for; one of a JWT has `claims`. */
export type GuardedAccess = Access | JwtAccess

/** Freezes what was read from JSON, with everything in it; without recursion, because JSON can be thousands of levels deep. */
export function frozen<Value extends object>(value: Value): Value {
  const open: object[] = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    Object.freeze(next)
    for (const member of Object.values(next) as readonly unknown[])
      if (typeof member === 'object' && member !== null) open.push(member)
  }
  return value
}
