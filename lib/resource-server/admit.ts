import { aFlag, oneOf } from '../primitives/fields'
import {
  type Fields,
  kind,
  optional,
  type Place,
  type Read,
  refusal,
  undefinedMember,
  usual,
} from '../primitives/schema'
import { shareOfToken } from '../limits/shares'
import type { Access, ObserveToken } from '../authorization/lookup'
import type { Eventual } from '../primitives/concurrency'
import { isText, isWhole, tenYears } from '../primitives/values'
import { described } from '../protocol/acting-extensions'
import type { Extension } from '../protocol/extension'
import { ownDataOf, type KeptExtensionData } from '../protocol/extension-data'
import type { Json } from '../protocol/json'
import { isSameScheme, parseAuthorization } from '../protocol/http-authentication'
import {
  covers,
  type ImpliedScopes,
  intersects,
  parseScope,
  type Scope,
  withImplied,
} from '../protocol/scope'
import type { Observed } from '../protocol/oauth-error'
import { refused, refusedBy, type Reason } from '../protocol/refusals'
import { acrValuesExpectation, isAcrValues, type Login } from '../protocol/resource-owner'
import type { PresentedToken, ResourceRequest, TokenCheck, TokenType } from '../protocol/token-type'
import {
  audienceIn,
  isForCertainResources,
  tokenResource,
} from '../extensions/resource-indicators/resource-indicators'
import { aResourceOf, type Resource, type Resources } from '../extensions/resource-indicators/resources'
import { badToken, otherAudience, scopeIn } from './challenge'

interface GoodToken extends KeptExtensionData {
  readonly access: GuardedAccess
  readonly tokenData: Json | undefined
  readonly rejectReason?: undefined
}

interface RejectedToken {
  readonly rejectReason: Reason
  readonly observed?: Observed | undefined
}

export type FoundToken = GoodToken | RejectedToken | undefined

export const isGood = (found: FoundToken): found is GoodToken =>
  found !== undefined && found.rejectReason === undefined

/**
 * @param now seconds since the epoch.
 * @throws OAuthError `temporarily_unavailable` if the look-up fails.
 */
export type FindToken = (accessToken: string, now: number, sender: TokenSender) => Eventual<FoundToken>

export interface TokenSource {
  readonly findToken: FindToken
  /** Without a look-up; undefined if no token is signed. */
  readonly findSignedToken?: FindToken | undefined
  /** Undefined if guards explain nothing. */
  readonly observeToken?: ObserveToken | undefined
  readonly ready?: () => Promise<unknown>
}

export interface TokenSender {
  /** Undefined if the connection has closed. */
  readonly address: string | undefined
}

export interface GuardedRequest extends ResourceRequest, TokenSender {
  readonly authorization: readonly string[]
  setHeader(name: string, value: string): void
  /** Seconds since the epoch. */
  readonly now: number
  useOnce(key: string, seconds: number, share: string): Promise<boolean>
  /** For events only. */
  noteToken(accessToken: string, access: GuardedAccess | undefined): void
}

/** RFC 6749 7. Undefined without a token. */
export function tokenOf(
  { authorization }: Pick<GuardedRequest, 'authorization'>,
  tokenTypes: readonly TokenType[],
  scope: Scope,
): CarriedToken | undefined {
  const header = authorization[0] ?? ''
  if (authorization.length > 1)
    throw refused('several_authorization_headers/guard', {}, { challenge: scopeIn(scope) })
  const { scheme, credentials } = parseAuthorization(header)
  const tokenType = tokenTypes.find((type) => isSameScheme(type.scheme, scheme))
  if (tokenType === undefined) return undefined
  const presented = tokenType.read(credentials)
  if (presented === undefined) throw refused('token_malformed', {}, { challenge: scopeIn(scope) })
  return { tokenType, presented }
}

/** Waits only for the proof of a bound token. */
export function admitToken<Good extends GoodToken>(
  carried: CarriedToken,
  found: Good | RejectedToken | undefined,
  request: GuardedRequest,
  requirement: Requirement,
): Eventual<Good> {
  const { tokenType, presented } = carried
  const { scope, schemes } = requirement
  const good = found?.rejectReason === undefined ? found : undefined
  request.noteToken(presented.accessToken, good?.access)
  if (found === undefined) throw badToken('token_invalid', scope)
  if (found.rejectReason !== undefined) throw badToken(found.rejectReason, scope, found.observed)
  // RFC 6749 7.1: none passes under the scheme of another type.
  if (found.access.tokenType !== tokenType.name) throw badToken('token_of_another_type', scope)
  if (schemes !== undefined && tokenType.isRequired !== true)
    throw refused('token_unbound', {}, { challenge: scopeIn(scope), schemes })
  const rejected = rejectReasonOf(request, found, requirement)
  if (rejected !== undefined) throw badToken(rejected, scope, observedResource(rejected, requirement, found))
  if (presented.rejectReason !== undefined) return admitProven(carried, found, request, requirement)
  requireAccess(found.access, request.now, requirement)
  return found
}

function requireAccess(access: GuardedAccess, now: number, requirement: Requirement): void {
  const { scope, login } = requirement
  // First: this challenge names the scope, too, so one new request can meet both.
  if (login !== undefined) requireLogin(login, access, scope, now)
  const covered = withImplied(access.scope, requirement.implied)
  if (!satisfies(covered, requirement))
    throw refused(
      'token_scope_insufficient',
      { 'scope of the guard': scope, 'scope of the token': covered },
      { challenge: scopeIn(scope) },
    )
}

export function requiredSchemes(tokenTypes: readonly TokenType[]): readonly string[] | undefined {
  const required = tokenTypes.filter(({ isRequired }) => isRequired)
  return required.length === 0 ? undefined : required.map(({ scheme }) => scheme)
}

function rejectReasonOf(
  request: ResourceRequest,
  found: GoodToken,
  { extensions, resource }: Requirement,
): string | undefined {
  if (resource === undefined && isForCertainResources(found)) return tokenResource
  const { clientId, subject, scope } = found.access
  for (const extension of extensions) {
    const token = { clientId, subject, scope, ...ownDataOf(extension.name, found) }
    const reason: unknown = extension.admit?.({ request, resource, ...token })
    if (reason === undefined) continue
    if (isText(reason)) return reason
    throw new TypeError(`The extension "${extension.name}" must return a reason, a text, or undefined.`)
  }
  return undefined
}

function observedResource(reason: string, { resource }: Requirement, found: GoodToken): Observed | undefined {
  if (reason !== tokenResource) return undefined
  return resource === undefined ? { cause: 'no_resources' } : otherAudience(audienceIn(found), [resource])
}

export function withMembers(extensions: readonly Extension[], found: GoodToken): GuardedAccess {
  if (extensions.length === 0) return found.access
  return { ...described(extensions, found, 'access'), ...found.access }
}

interface CarriedToken {
  readonly tokenType: TokenType
  readonly presented: PresentedToken
}

async function admitProven<Good extends GoodToken>(
  { presented, tokenType: { scheme } }: CarriedToken,
  found: Good,
  request: GuardedRequest,
  requirement: Requirement,
): Promise<Good> {
  const { tokenData, access } = found
  const share = shareOfToken(access.clientId, access.subject)
  const useOnce: TokenCheck['useOnce'] = (key, seconds) => request.useOnce(key, seconds, share)
  const setHeader: TokenCheck['setHeader'] = (name, value) => request.setHeader(name, value)
  const { resource } = requirement
  const check = { request, tokenData, resource, now: request.now, useOnce, setHeader }
  const reason = await presented.rejectReason?.(check)
  if (reason !== undefined)
    throw refusedBy(reason, 'mac_wrong', {}, { challenge: scopeIn(requirement.scope), schemes: [scheme] })
  requireAccess(access, request.now, requirement)
  return found
}

const satisfies = (granted: Scope, { scope, match }: Requirement): boolean =>
  match === 'all' || scope.length === 0 ? covers(granted, scope) : intersects(granted, scope)

export interface Requirement {
  readonly scope: Scope
  readonly match: 'all' | 'any'
  readonly resource: string | undefined
  readonly login?: RequiredLogin | undefined
  readonly extensions: readonly Extension[]
  readonly implied?: ImpliedScopes | undefined
  /** That the guard takes alone; undefined: all. */
  readonly schemes: readonly string[] | undefined
}

export const requirementFields = (resources: Resources | undefined) => ({
  resource:
    resources === undefined ? refusal('needs the option resources of the server.') : aResourceOf(resources),
  match: usual('all', oneOf('all', 'any')),
  optional: aFlag(false),
  ...loginFields,
})

/** With an empty scope, every valid token passes. */
export function readScope(
  given: unknown,
  at: Place,
  known: Scope | undefined,
  resource: Resource | undefined,
): Scope {
  const wrong = (message: string) => at.wrong('scope', message)
  const scope = given === '' ? [] : typeof given === 'string' ? parseScope(given) : undefined
  if (given === undefined) wrong(undefinedMember)
  else if (scope === undefined)
    wrong("must be scope tokens with one space between two, as in bearerGuard('photos:read').")
  else if (known !== undefined && !covers(known, scope))
    wrong(`must hold scopes of this server: ${known.join(', ')}.`)
  else if (resource !== undefined && !covers(resource.scopes, scope))
    wrong(`must hold scopes of the resource ${resource.uri}: ${resource.scopes.join(', ')}.`)
  return scope ?? []
}

/**
 * The access by claims of a JWT access token (RFC 9068 2.2) or an introspection endpoint (RFC 7662 2.2).
 * Deeply frozen: all requests with the token share it.
 */
export interface ClaimsAccess extends Omit<Access, 'authorizationId'> {
  /** Always undefined: the token belongs to no authorization in a store. */
  readonly authorizationId?: undefined
  /** Undefined if `sub` is the client, which acts for itself (RFC 9068 2.2). */
  readonly subject: string | undefined
  /** Empty if the token has none. */
  readonly scope: Scope
  /** `bearer`, or the type that checks the proof of a bound token (`TokenType.confirmationMethod`). */
  readonly tokenType: string
  /** Seconds since the epoch. If an endpoint names no end, that in the cache of the guard. */
  readonly expiresAt: number
  /** Undefined if the token does not say. */
  readonly login?: Login | undefined
  /** Every claim of the token. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** The access of a token. Only that by claims has `claims`. */
export type GuardedAccess = Access | ClaimsAccess

/** What a guard requires of the login behind a token (RFC 9470). */
export interface LoginOptions {
  /**
   * Whole seconds since the login, at most 10 years. An older one, or none, gets 401 and
   * `insufficient_user_authentication`.
   */
  readonly maxAge?: number
  /**
   * The authentication context class of the login, or a list, the preferred one first. Others are refused as with
   * `maxAge`.
   */
  readonly acr?: string | readonly string[]
}

interface RequiredLogin {
  /** Seconds. */
  readonly maxAge: number | undefined
  readonly acrValues: readonly string[]
}

const isAcr = (value: unknown): value is string | readonly string[] =>
  isAcrValues(typeof value === 'string' ? [value] : value)

const loginFields = {
  // With 0, every token would be too old.
  maxAge: optional(kind(isWhole(1, tenYears), `must be whole seconds since the login, 1 to ${tenYears}.`)),
  acr: optional(
    kind(
      isAcr,
      `must be a class such as 'urn:example:mfa', or a list of different ones, ${acrValuesExpectation}`,
    ),
  ),
} satisfies Fields<LoginOptions>

export function requiredLogin({ maxAge, acr = [] }: Read<typeof loginFields>): RequiredLogin | undefined {
  const acrValues = [acr].flat()
  return maxAge === undefined && acrValues.length === 0 ? undefined : { maxAge, acrValues }
}

function requireLogin(required: RequiredLogin, access: GuardedAccess, scope: Scope, now: number): void {
  const reason = lackOf(required, access, now)
  if (reason === undefined) return
  const { maxAge, acrValues } = required
  throw refused(
    reason,
    {
      'maxAge of the guard': maxAge,
      'acr of the guard': acrValues,
      'seconds since the login': access.login && now - access.login.authTime,
      'acr of the token': access.login?.acr,
    },
    {
      challenge: {
        ...scopeIn(scope),
        ...(acrValues.length > 0 && { acr_values: acrValues.join(' ') }),
        ...(maxAge !== undefined && { max_age: String(maxAge) }),
      },
    },
  )
}

type Lack = 'login_unknown' | 'login_of_another_class' | 'login_too_old'

// Seconds that a login may lie in the future: clocks differ. Beyond, such as in milliseconds, it would never
// be too old.
const clockTolerance = 300

function lackOf({ maxAge, acrValues }: RequiredLogin, access: GuardedAccess, now: number): Lack | undefined {
  const { subject, login } = access
  if (subject === undefined || login === undefined) return 'login_unknown'
  const { authTime, acr } = login
  if (acrValues.length > 0 && (acr === undefined || !acrValues.includes(acr))) return 'login_of_another_class'
  if (maxAge === undefined) return undefined
  if (authTime > now + clockTolerance) return 'login_unknown'
  return now - authTime > maxAge ? 'login_too_old' : undefined
}
