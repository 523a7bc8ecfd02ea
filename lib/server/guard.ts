import type { AuthorizationServerEvents } from '../audit/events'
import { explainsRefusals } from '../audit/diagnosis'
import { ClientMarks } from '../authorization/client-marks'
import { issuerDigest } from '../authorization/issuer'
import { ofResources, resolveExtensions, type Sources } from '../config/doors'
import { readerShape, resolveFormats, resolveTokenTypes } from '../config/plug-ins'
import { openPluginsInGuard } from '../config/open-plug-ins'
import { anIssuer, resolveCounters } from '../config/common-options'
import type { AuthorizationServerOptions, ServerLimitOptions } from '../config/options'
import type { Plugin } from '../doors/plug-in'
import { shownChoice } from '../extensions/choices'
import { resourcesOf, type ResourceOptions } from '../extensions/resource-indicators/resources'
import { bearer } from '../extensions/token-types/bearer'
import { bearerGuard, type BearerGuard, guardsOption } from '../http/bearer-guard'
import { allowedOrigins, type CorsOption } from '../http/cors'
import type { GuardSettings } from '../http/edge'
import { protectedResource, type ProtectedResourcePart } from '../http/metadata-document'
import { singleUsesOption } from '../limits/counters'
import { aClock, aFlag } from '../primitives/fields'
import {
  type Field,
  type Fields,
  group,
  optional,
  type Place,
  placeOf,
  type Read,
} from '../primitives/schema'
import { tenYears } from '../primitives/values'
import { scopeImplications } from '../protocol/scope'
import { pageUri } from '../protocol/uri'
import {
  introspectionOptions,
  introspectionSource,
  type IntrospectionSource,
} from '../resource-server/introspection/introspection-source'
import { issOfTokens, jwtOptions, type JwtSource, jwtSource } from '../resource-server/jwt-source'
import type { TokenSource } from '../resource-server/admit'
import { aStore, type Store } from '../store/store'
import { deadlineOf, type TimelyStore, withDeadline } from '../store/deadline'
import { guardEdge, lookUpIn } from './guard-edge'
import { type Lifecycle, lifecycleOf } from './lifecycle'

/** One of `store`, `jwt` and `introspection` knows the tokens. Deadlines are seconds. */
export interface StandaloneGuardOptions extends Pick<
  AuthorizationServerOptions,
  'clock' | 'closeDeadline' | 'errorUri' | 'explainRefusals' | 'guards' | 'implies' | 'storeDeadline'
> {
  /** Exactly the `issuer` of the authorization server. */
  readonly issuer: string
  /** Of the authorization server, such as `redisStore({ url })` with the same prefix. */
  readonly store?: Store
  /**
   * Signatures prove the tokens.
   *
   * @see docs/jwt-guard.md
   */
  readonly jwt?: JwtSource
  /**
   * The introspection endpoint of the issuer.
   *
   * @see docs/introspection-guard.md
   */
  readonly introspection?: IntrospectionSource
  /**
   * What this process serves of the option `resources` of the authorization server. Default none: tokens for certain
   * resources are refused.
   */
  readonly resources?: Readonly<Record<string, ResourceOptions>>
  /** The resource of a route that names none. Default: the only one of `resources`. */
  readonly defaultResource?: string
  /** With `store`: whether the authorization server has `choices`. Default `false`. */
  readonly choices?: boolean
  /**
   * With `store`: whether the authorization server has `authorizations`. The guard then refuses, within a second, what
   * a client got before `revokeClient()`, or before it was disabled. Default `false`.
   */
  readonly authorizations?: boolean
  /** The option `plugins` of the authorization server. */
  readonly plugins?: readonly Plugin[]
  /** Keeps single-use values; all guards must share it. Default: `store`, or the memory of this process. */
  readonly counters?: Store
  readonly limits?: Pick<ServerLimitOptions, 'singleUses'>
  /**
   * The origins whose scripts may read `protectedResource()`, as of `createAuthorizationServer()`. Default `true`.
   */
  readonly cors?: CorsOption
}

/** A bearer guard without an authorization server in the process. */
export interface StandaloneGuard extends BearerGuard, Lifecycle {
  /** Refusals and failures: see `docs/events.md`. */
  readonly events: AuthorizationServerEvents
  /** Of a resource of the option `resources` (RFC 9728). */
  readonly protectedResource: ProtectedResourcePart
}

/**
 * Creates a bearer guard for another process than the authorization server.
 *
 * @throws ConfigurationError that lists every mistake in the options.
 */
export function createBearerGuard(options: StandaloneGuardOptions): StandaloneGuard {
  const at = placeOf(options)
  const read = at.read({ ...fields, issuer: at.source['jwt'] === undefined ? issuerOfServer : issOfTokens })
  const { issuer, clock, store, storeDeadline, jwt } = read
  at.requireOne('store', 'jwt', 'introspection')
  const storage = store && withDeadline(store, storeDeadline)
  const { sources, start } = openPluginsInGuard(at, { issuer, clock, storage })
  const issuers = [issuer, ...(jwt?.otherIssuers.keys() ?? [])]
  const settings = { ...read, ...partsOf(sources, read), issuers, scopes: undefined, implied: read.implies }
  const isCounting = settings.tokenTypes.length > 1 || sources.length > 0
  const counters = resolveCounters(at, storage, storeDeadline, clock, isCounting)
  if (store === undefined) checkClaims(at, settings)
  at.refuseUnknown()
  at.refuseUndefined()
  at.throwIssues('createBearerGuard() cannot work with these options:')

  const source = sourceOf(settings, storage)
  const guards = guardEdge(settings, counters, source)
  start(guards)
  const { requests, audit } = guards
  return Object.assign(bearerGuard(guards), {
    events: audit.events,
    protectedResource: protectedResource(settings),
    ...lifecycleOf({ ...read, requests, source: source.ready }),
  })
}

type ReadOptions = Read<typeof fields>

const partsOf = (sources: Sources, { resources, choices }: ReadOptions) => ({
  tokenTypes: resolveTokenTypes(sources),
  accessTokenFormats: resolveFormats(sources, readerShape),
  extensions: [...ofResources(resources), ...(choices ? [shownChoice] : []), ...resolveExtensions(sources)],
})

interface Guarding extends ReadOptions, ReturnType<typeof partsOf> {
  readonly issuers: readonly string[]
}

/** Without the store, only claims tell what a token is. */
function checkClaims(at: Place, { issuer, tokenTypes, jwt, resources }: Guarding): void {
  for (const name of ['choices', 'authorizations'])
    if (at.source[name] !== undefined) at.wrong(name, 'acts only with the option store.')
  for (const { name, confirmationMethod } of tokenTypes)
    if (name !== bearer.name && confirmationMethod === undefined)
      at.wrong('plugins', `have the token type "${name}" ${withoutMethod}`)
  if (jwt === undefined) return
  if (jwt.audienceRequired && jwt.audience === undefined && resources === undefined)
    at.wrong('jwt.audience', withoutAudience)
  if (jwt.otherIssuers.has(issuer)) at.wrong('jwt.otherIssuers', 'names the issuer of the option issuer.')
}

const withoutMethod =
  'without confirmationMethod, such as jkt: a guard without the store finds the type of a token by cnf (RFC 7800).'
const withoutAudience =
  'is missing: it must be the value in aud of the tokens that names this resource server, unless the option resources names it.'

function sourceOf(guard: Guarding & GuardSettings, storage: TimelyStore | undefined): TokenSource {
  const { issuer, clock, jwt, introspection, authorizations } = guard
  if (storage !== undefined) {
    const marked = { store: storage, issuerDigest: issuerDigest(issuer), clock }
    return lookUpIn(guard, storage, authorizations ? new ClientMarks(marked) : undefined)
  }
  if (jwt !== undefined) return jwtSource(jwt, guard)
  if (introspection !== undefined) return introspectionSource(introspection, guard)
  throw new Error('A guard has a source.')
}

const issuerOfServer: Field<string> = (...given) => anIssuer('the authorization server')(...given).issuer

const fields = {
  issuer: issuerOfServer,
  store: optional(aStore),
  jwt: optional(jwtOptions),
  introspection: optional(introspectionOptions),
  resources: resourcesOf(undefined, tenYears),
  choices: aFlag(false),
  authorizations: aFlag(false),
  storeDeadline: deadlineOf(0.5),
  limits: group({ singleUses: singleUsesOption }),
  closeDeadline: deadlineOf(10),
  errorUri: pageUri,
  implies: scopeImplications(undefined),
  guards: guardsOption,
  cors: allowedOrigins('*'),
  explainRefusals: explainsRefusals,
  clock: aClock,
} satisfies Partial<Fields<StandaloneGuardOptions>>
