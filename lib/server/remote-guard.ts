import { aClock, aFlag } from '../primitives/fields'
import { pageUri } from '../protocol/uri'
import { singleUsesOption } from '../limits/single-use-limit'
import { type Field, type Fields, group, type Place, placeOf, type Read } from '../primitives/schema'
import { explainsRefusals } from '../audit/diagnosis'
import type { AuthorizationServerEvents } from '../audit/events'
import { ClientMarks } from '../authorization/client-marks'
import { issuerDigest } from '../authorization/issuer'
import { resolveReaders } from '../config/access-token-formats'
import { openPlugInsInGuard } from '../config/open-plug-ins'
import type { PlugIn } from '../doors/plug-in'
import { ofResources, resolveExtensions, resolveTokenTypes } from '../config/plug-ins'
import { anIssuer } from '../config/resolve-issuer'
import { resolveCounters } from '../config/resolve-stores'
import { bearerGuard, type BearerGuard } from '../http/bearer-guard'
import { allowedOrigins, type CorsOption } from '../http/cors'
import { type GuardDefaults, guardsOption } from '../http/guard-defaults'
import {
  protectedResource,
  type ProtectedResourcePart,
  resourcesExpectation,
} from '../http/protected-resource'
import { tenYears } from '../primitives/values'
import type { AccessTokenReader } from '../protocol/access-token-format'
import type { Extension } from '../protocol/extension'
import { scopeImplications, type ScopeImplications } from '../protocol/scope'
import type { TokenType } from '../protocol/token-type'
import type { LimitOption } from '../limits/limit'
import { shownChoice } from '../extensions/choices'
import { resourcesOf, type ResourceOptions } from '../extensions/resource-indicators/resources'
import { deadlineOf, withDeadline } from '../store/deadline'
import { aStore } from '../store/a-store'
import type { Store } from '../store/store'
import { guardEdge, lookUpIn } from './guard-edge'
import { type Lifecycle, lifecycleOf } from './lifecycle'

/** Options of {@link createBearerGuard}. */
export interface RemoteGuardOptions extends ProvingGuardOptions {
  /**
   * The option `issuer` of the authorization server, letter by letter. Tokens of other issuers in the store
   * are refused.
   */
  readonly issuer: string
  /** The store of the authorization server, such as `redisStore({ url })` with the same prefix. */
  readonly store: Store
  /**
   * The option `accessTokenFormats` of the authorization server; `name` and `decode` suffice. Default: opaque
   * tokens only.
   */
  readonly accessTokenFormats?: readonly AccessTokenReader[]
  /**
   * The option `resources` of the authorization server. Without it, tokens for certain resources are refused
   * (401). Default none.
   */
  readonly resources?: Readonly<Record<string, ResourceOptions>>
  /**
   * Whether the authorization server has the option `choices`: `req.oauth.choice` is the answer. Default
   * false.
   */
  readonly choices?: boolean
  /** The option `defaultResource` of the authorization server. */
  readonly defaultResource?: string
  /**
   * Whether the authorization server has the option `authorizations`: the guard then refuses, within a
   * second, what a client got before `oauth.authorizations.revokeClient()`, or before it was disabled. Default
   * false.
   */
  readonly authorizations?: boolean
  /** Seconds for one call of the store. Default 0.5, at most 60. */
  readonly storeDeadline?: number
}

/** The limits of a guard. `false` switches a limit off. */
export interface GuardLimitOptions {
  /** As `limits.singleUses` of `createAuthorizationServer`. Default: 60 000 `attempts` in 60 `seconds`. */
  readonly singleUses?: LimitOption
}

/** A bearer guard without an authorization server in the process, with its own events and lifecycle. */
export type RemoteGuard = BearerGuard &
  Lifecycle & {
    readonly events: AuthorizationServerEvents
    /** As on the authorization server: of a resource of the option `resources` (RFC 9728). */
    readonly protectedResource: ProtectedResourcePart
  }

/**
 * Creates bearer guards for a resource server in another process than the authorization server.
 *
 * @throws ConfigurationError that lists every mistake in the options.
 */
export function createBearerGuard(options: RemoteGuardOptions): RemoteGuard {
  const at = placeOf(options)
  const { store, storeDeadline, choices, authorizations, limits, ...alone } = at.read(fields)
  const { issuer, clock, closeDeadline, resources } = alone
  const timely = withDeadline(store, storeDeadline)
  const proving = readProvingGuard(at, { issuer, clock, storage: timely }, storeDeadline)
  const { sources, tokenTypes, counters } = proving
  const accessTokenFormats = resolveReaders(sources)
  const ofOptions = [...ofResources(resources), ...(choices ? [shownChoice] : [])]
  const extensions = [...ofOptions, ...proving.extensions]
  requireKnown(at, 'createBearerGuard()', { ...fields, accessTokenFormats })

  const plugIns = { tokenTypes, accessTokenFormats, extensions }
  const settings = { ...alone, ...plugIns, scopes: undefined, implied: alone.implies }
  const marks = authorizations
    ? new ClientMarks({ store: timely, issuerDigest: issuerDigest(issuer), clock })
    : undefined
  const tokens = lookUpIn(settings, timely, marks)
  const guards = guardEdge(settings, { counters, singleUseLimit: limits.singleUses }, tokens)
  proving.start(guards)
  const lifecycle = lifecycleOf({ issuer, store, storeDeadline, closeDeadline, requests: guards.requests })
  return Object.assign(bearerGuard(guards), {
    events: guards.audit.events,
    protectedResource: protectedResource(settings, resourcesExpectation),
    ...lifecycle,
  })
}

export interface ProvingGuardOptions extends StandaloneGuardOptions {
  /** The option `tokenTypes` of the authorization server. Default: `bearer` only. */
  readonly tokenTypes?: readonly TokenType[]
  /**
   * The option `extensions` of the authorization server: those with `atResourceRequest` or `access` act in
   * guards. Default none.
   */
  readonly extensions?: readonly Extension[]
  /**
   * The option `plugIns` of the authorization server: those with `openInGuard` act in guards. Default none.
   */
  readonly plugIns?: readonly PlugIn[]
  /**
   * Keeps values that token types accept only once; all guards must share it. Default: the option `store`; without
   * it, the memory of this process.
   */
  readonly counters?: Store
  readonly limits?: GuardLimitOptions
}

/** @param fields that are read already. @throws ConfigurationError that lists every mistake. */
export function requireKnown(at: Place, maker: string, fields: object): void {
  at.refuseUnknown([...Object.keys(fields), 'plugIns', 'tokenTypes', 'extensions', 'counters'])
  at.refuseUndefined()
  at.throwIssues(`${maker} cannot work with these options:`)
}

/** Returns placeholders after a mistake. */
export function readProvingGuard(
  at: Place,
  guard: Parameters<typeof openPlugInsInGuard>[1],
  storeDeadline: number,
) {
  const { sources, start } = openPlugInsInGuard(at, guard)
  const tokenTypes = resolveTokenTypes(sources)
  const extensions = resolveExtensions(sources)
  const inUse = tokenTypes.length > 1 || sources.length > 1
  return {
    sources,
    start,
    tokenTypes,
    extensions,
    counters: resolveCounters(at, guard.storage, storeDeadline, guard.clock, inUse),
  }
}

export interface StandaloneGuardOptions {
  /** Seconds that `close()` waits for requests in flight. Default 10, at most 60. */
  readonly closeDeadline?: number
  /**
   * The URL of a page that explains error codes: sent as `error_uri`, with the error code as its fragment.
   * Default none.
   */
  readonly errorUri?: string
  /** As the option of `createAuthorizationServer`. Default: no scope covers another. */
  readonly implies?: ScopeImplications
  /** Defaults of every guard, such as `{ realm: 'photos' }`. Default none. */
  readonly guards?: GuardDefaults
  /**
   * The origins whose scripts may read `protectedResource()`: `true` for every origin, `false` for none, or
   * `{ origins }`. The option `guards` has the `cors` of guards. Default true.
   */
  readonly cors?: CorsOption
  /** As the option of `createAuthorizationServer`. Default true. */
  readonly explainRefusals?: boolean
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

export const standaloneFields = {
  closeDeadline: deadlineOf(10),
  clock: aClock,
  errorUri: pageUri,
  implies: scopeImplications(undefined),
  guards: guardsOption,
  cors: allowedOrigins('*'),
  explainRefusals: explainsRefusals,
} satisfies Fields<StandaloneGuardOptions>

export const guardLimits = group({ singleUses: singleUsesOption } satisfies Fields<GuardLimitOptions>)

export const issuerOfServer: Field<string> = (...given) =>
  anIssuer('the authorization server')(...given).issuer

const fields = {
  ...standaloneFields,
  issuer: issuerOfServer,
  store: aStore,
  ...resourcesOf(undefined, tenYears),
  storeDeadline: deadlineOf(0.5),
  choices: aFlag(false),
  authorizations: aFlag(false),
  limits: guardLimits,
} satisfies Partial<Fields<RemoteGuardOptions>>

export type ReadRemoteGuard = Read<typeof fields>
