import { AuditLog } from '../audit/audit-log'
import type { AuthorizationServerEvents } from '../audit/events'
import { countersOfIssuer, issuerDigest, storeOfIssuer } from '../authorization/issuer'
import { findAccessToken } from '../authorization/lookup'
import { ofResources, resolveExtensions, resolveTokenTypes } from '../config/plug-ins'
import { resolveCounters, resolveIssuer } from '../config/resolve-options'
import { bearerGuard, type BearerGuard, type GuardHttp } from '../http/bearer-guard'
import { type CorsOption, readCors } from '../cors/cors'
import { type GuardDefaults, readGuards } from '../http/guard-defaults'
import { protectedResource, type ProtectedResourcePart, resourcesCure } from '../http/protected-resource'
import { RequestContexts } from '../http/request-context'
import { RequestsInFlight } from '../http/requests-in-flight'
import { OptionsReader, tenYears } from '../protocol/configuration'
import type { Extension } from '../protocol/extension'
import { readImplications, type ScopeImplications } from '../protocol/implied-scope'
import type { TokenType } from '../protocol/token-type'
import { isPageUri, pageCure } from '../protocol/uri'
import { usualSingleUses, withSingleUseLimit } from '../rate-limit/issue-limits'
import { type LimitOption, readLimit } from '../rate-limit/limit'
import { readResources, type ResourceOptions } from '../resource-indicators/resources'
import {
  type AuthorizationStore,
  isAuthorizationStore,
  noStore,
  storeCure,
} from '../stores/authorization-store'
import type { Counters } from '../stores/counters'
import { countersWithDeadline, deadlineCure, isDeadline, withDeadline } from '../stores/deadline'
import { type Lifecycle, lifecycleOf } from './lifecycle'

/** Options of {@link createBearerGuard}. */
export interface RemoteGuardOptions extends StandaloneGuardOptions {
  /**
   * The option `issuer` of the authorization server, letter by letter. The guard accepts only tokens of this issuer,
   * even if servers of other issuers use the same store.
   */
  readonly issuer: string
  /** The store of the authorization server, such as `redisStore({ url })` with the same prefix. */
  readonly store: AuthorizationStore
  /** The option `tokenTypes` of the authorization server. Default: `bearer` only. */
  readonly tokenTypes?: readonly TokenType[]
  /**
   * The option `extensions` of the authorization server. Extensions with `atResourceRequest` or `access` act in guards.
   * Default none.
   */
  readonly extensions?: readonly Extension[]
  /**
   * The option `resources` of the authorization server. Without it, the guard refuses tokens that are for certain
   * resources (401). Default none.
   */
  readonly resources?: Readonly<Record<string, ResourceOptions>>
  /** The option `defaultResource` of the authorization server: the resource of guards that name none. */
  readonly defaultResource?: string
  /**
   * Records the values that token types accept only once. All guards must share these counters. Default: the `counters`
   * of the store, which `redisStore()` has; for a store without counters, the memory of this process.
   */
  readonly counters?: Counters
  /**
   * How many single-use values, such as nonces of signed requests, one client may use in this process. Beyond the
   * limit, the response is 429 with `Retry-After`. Default: 60 000 `attempts` in 60 `seconds`. `false` switches the
   * limit off.
   */
  readonly singleUseLimit?: LimitOption
  /** How long one call of the store may take, in seconds. Default 0.5, at most 60. */
  readonly storeDeadline?: number
}

/** A bearer guard without an authorization server in the same process. The guard has its own events and lifecycle. */
export type RemoteGuard = BearerGuard &
  Lifecycle & {
    readonly events: AuthorizationServerEvents
    /** The metadata of a resource of the option `resources` (RFC 9728), as on the authorization server. */
    readonly protectedResource: ProtectedResourcePart
  }

/**
 * Creates bearer guards for a resource server in another process than the authorization server.
 *
 * @throws ConfigurationError that lists every mistake in the options, each with its path and cure.
 */
export function createBearerGuard(options: RemoteGuardOptions): RemoteGuard {
  const reading = new OptionsReader(options, '')
  const { issuer } = resolveIssuer(reading, 'the authorization server')
  const store = reading.required('store', noStore, isAuthorizationStore, storeCure)
  const storeDeadline = reading.optional('storeDeadline', 0.5, isDeadline, deadlineCure)
  const alone = readStandaloneGuard(reading)
  const tokenTypes = resolveTokenTypes(reading)
  const resources = readResources(reading, undefined, tenYears)
  const extensions = [...ofResources(resources), ...resolveExtensions(reading)]
  const counters = resolveCounters(reading, store, alone.clock, tokenTypes.length > 1)
  const singleUseLimit = readLimit(reading, 'singleUseLimit', usualSingleUses)
  reading.refuseUnknown()
  reading.settle('createBearerGuard() cannot work with these options:')

  const ownDigest = issuerDigest(issuer)
  const http = {
    ...guardByStore(
      storeOfIssuer(withDeadline(store, storeDeadline), ownDigest),
      countersOfIssuer(
        withSingleUseLimit(countersWithDeadline(counters, storeDeadline), singleUseLimit, alone.clock),
        ownDigest,
      ),
    ),
    tokenTypes,
    extensions,
    resources,
    ...standaloneGuard(alone),
  }
  const { closeDeadline } = alone
  const lifecycle = lifecycleOf({ issuer, store, storeDeadline, closeDeadline, requests: http.requests })
  return Object.assign(bearerGuard(http), {
    events: http.audit.events,
    protectedResource: protectedResource({ issuer, resources, cors: alone.cors, cure: resourcesCure }),
    ...lifecycle,
  })
}

/** Options of every guard without an authorization server in the same process. */
export interface StandaloneGuardOptions {
  /** How long `close()` waits for requests in flight, in seconds. Default 10, at most 60. */
  readonly closeDeadline?: number
  /**
   * The URL of the page that explains error codes. The guard sends the URL as `error_uri`, with the error code as its
   * fragment. Default: no `error_uri`.
   */
  readonly errorUri?: string
  /**
   * Maps a scope to the scopes that it covers: with `{ 'notes:write': ['notes:read'] }`, a token with `notes:write`
   * passes a guard for `notes:read`. Default: no scope covers another.
   */
  readonly implies?: ScopeImplications
  /** What every guard has unless its own options say otherwise, such as `{ realm: 'photos' }`. Default none. */
  readonly guards?: GuardDefaults
  /**
   * The origins whose scripts may read the documents of `protectedResource()`: `true` for every origin, `false` for
   * none, or `{ origins }`. The option `guards` has the `cors` of guards. Default true.
   */
  readonly cors?: CorsOption
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

/** Reads the options that every such guard has. Returns placeholders after a mistake. */
export function readStandaloneGuard(reading: OptionsReader) {
  return {
    closeDeadline: reading.optional('closeDeadline', 10, isDeadline, deadlineCure),
    clock: reading.optional('clock', Date.now, isClock, 'must be a function.'),
    errorUri: reading.optional<string | undefined>('errorUri', undefined, isPageUri, pageCure),
    implied: readImplications(reading, undefined),
    guards: readGuards(reading),
    cors: readCors(reading, '*'),
  }
}

/** The parts of a guard without an authorization server, for tokens of any kind. */
export function standaloneGuard({
  clock,
  errorUri,
  implied,
  guards,
}: ReturnType<typeof readStandaloneGuard>): Omit<
  GuardHttp,
  'find' | 'useOnce' | 'tokenTypes' | 'extensions' | 'resources'
> {
  const contexts = new RequestContexts()
  return {
    now: () => Math.floor(clock() / 1000),
    knownScope: undefined,
    implied,
    guards,
    errorUri,
    contexts,
    audit: new AuditLog(clock, (request) => contexts.of(request).notes),
    requests: new RequestsInFlight(),
  }
}

/** The parts of a guard that look up tokens in a store. */
export function guardByStore(
  store: AuthorizationStore,
  counters: Counters,
): Pick<GuardHttp, 'find' | 'useOnce'> {
  return {
    find: (accessToken, now) => findAccessToken(store, accessToken, now),
    useOnce: (key, seconds, clientId) => counters.useOnce(key, seconds, clientId),
  }
}

const isClock = (value: unknown): value is () => number => typeof value === 'function'
