import type { Lifetimes } from '../authorization/transition'
import { readClientAuthenticationLimits } from '../client-authentication/credential-throttle'
import { readCors } from '../cors/cors'
import { withDynamicClients } from '../dynamic-registration/find-dynamic-clients'
import { readDynamicRegistration, registrationEndpointNames } from '../dynamic-registration/options'
import { pkce } from '../extensions/pkce'
import { readGuards } from '../http/guard-defaults'
import { resolveRateLimit } from '../http/network-limit'
import {
  ConfigurationError,
  isRecord,
  isText,
  isWhole,
  OptionsReader,
  tenYears,
} from '../protocol/configuration'
import { readImplications } from '../protocol/implied-scope'
import type { RedirectUriRule } from '../protocol/redirect-uri'
import { covers, parseScope, type Scope } from '../protocol/scope'
import { hasCredentials, hasUriCharacters, isLoopback, isPageUri, namesHost, pageCure } from '../protocol/uri'
import { readIssueLimits, usualSingleUses } from '../rate-limit/issue-limits'
import { type Limit, readLimit } from '../rate-limit/limit'
import { readResources, type Resources } from '../resource-indicators/resources'
import {
  type AuthorizationStore,
  isAuthorizationStore,
  noStore,
  storeCure,
} from '../stores/authorization-store'
import { type Counters, countersCure, isCounters } from '../stores/counters'
import { deadlineCure, isDeadline } from '../stores/deadline'
import { memoryCounters } from '../stores/memory-counters'
import { memoryStore } from '../stores/memory-store'
import { warnOnce } from '../audit/warning'
import type { AuthorizationServerOptions as Options, ServerSettings } from './options'
import { resolveClients } from './resolve-clients'
import { furtherPaths, resolveEndpoints, type TakenPaths, usedPaths } from './resolve-endpoints'
import {
  builtInGrantTypes,
  ofResources,
  resolveAuthenticationMethods,
  resolveDefaultTokenType,
  resolveExtensions,
  resolveGrantTypes,
  resolvePkce,
  resolveResponseTypes,
  resolveTokenTypes,
} from './plug-ins'

const subject = 'createAuthorizationServer() cannot work with these options:'

/**
 * Validates the options, fills in defaults, and freezes the result.
 *
 * @throws ConfigurationError that lists every mistake, each with its path and cure.
 */
export function resolveOptions(options: Options): ServerSettings {
  const reading = new OptionsReader(options, '')
  if (!isRecord(options)) reading.settle(subject)
  const scopes = resolveScopes(reading)
  // Undefined after a mistake in `scopes`. The check runs here, because the reader has read no other option yet. With
  // faulty scopes, no message about the scope of a client would be right.
  const knownScope = reading.issues.length > 0 ? undefined : [...scopes.keys()]
  const resourceOwner = hook(reading, 'resourceOwner', options.resourceOwner)
  const responseTypes = resolveResponseTypes(reading)
  const tokenTypes = resolveTokenTypes(reading)
  const grantTypes = resolveGrantTypes(reading)
  const tokenGrants = [...builtInGrantTypes, ...grantTypes.map(({ name }) => name)]
  const clientAuthenticationMethods = resolveAuthenticationMethods(reading)
  const capabilities = {
    scope: knownScope,
    grantTypes: [...new Set([...tokenGrants, ...responseTypes.flatMap((type) => type.grantTypes)])],
    responseTypes,
    tokenTypes: tokenTypes.map(({ name }) => name),
    authenticationMethods: clientAuthenticationMethods,
    redirectUris: reading.optional<RedirectUriRule>(
      'redirectUris',
      'any',
      isRedirectUriRule,
      "must be 'any' or 'https or loopback'.",
    ),
  }
  const clock = reading.optional('clock', Date.now, isClock, 'must be a function.')
  const storeDeadline = reading.optional('storeDeadline', 0.5, isDeadline, deadlineCure)
  const lifetimes = resolveLifetimes(reading)
  const resources = readResources(reading, knownScope, lifetimes.accessToken)
  const issuer = resolveIssuer(reading)
  const stores = resolveStores(reading, clock)
  const taken = usedPaths()
  const settings: ServerSettings = {
    ...issuer,
    ...resolveClients(reading, {
      ...issuer,
      capabilities,
      hasAuthorizationEndpoint: resourceOwner !== undefined,
      store: stores.store,
      storeDeadline,
      clock,
    }),
    capabilities,
    scopes,
    defaultScope: resolveDefaultScope(reading, knownScope),
    resources,
    implied: readImplications(reading, knownScope),
    resourceOwner,
    login: reading.optional('login', '/login', isLogin, "must be a path such as '/login', or a function."),
    ...stores,
    ...resolveEndpoints(reading, taken),
    cors: readCors(reading, '*'),
    dynamicRegistration: undefined,
    lifetimes,
    grantTypes,
    responseTypes,
    tokenTypes,
    tokenType: resolveDefaultTokenType(reading, tokenTypes),
    clientAuthenticationMethods,
    ...extensionsOf(reading, resources),
    guards: readGuards(reading),
    clientAuthenticationLimits: readClientAuthenticationLimits(reading, 'clientAuthenticationLimits'),
    storeDeadline,
    closeDeadline: reading.optional('closeDeadline', 10, isDeadline, deadlineCure),
    bodyDeadline: reading.optional('bodyDeadline', 10, isDeadline, deadlineCure),
    openRequestLimit: readLimit(reading, 'openRequestLimit', openRequests(lifetimes)),
    rateLimit: resolveRateLimit(reading),
    issueLimits: readIssueLimits(reading, 'issueLimits'),
    singleUseLimit: readLimit(reading, 'singleUseLimit', usualSingleUses),
    maintenance: hook(reading, 'maintenance', options.maintenance),
    errorUri: reading.optional<string | undefined>('errorUri', undefined, isPageUri, pageCure),
    skipConsent: hook(reading, 'skipConsent', options.skipConsent),
    consentPage: hook(reading, 'consentPage', options.consentPage),
    errorPage: hook(reading, 'errorPage', options.errorPage),
    clock,
  }
  const complete = withDynamicRegistration(reading, settings, taken)
  reading.refuseUnknown()
  reading.settle(subject)
  return Object.freeze(complete)
}

function withDynamicRegistration(
  reading: OptionsReader,
  settings: ServerSettings,
  taken: TakenPaths,
): ServerSettings {
  const takePath = furtherPaths(taken, settings.endpoints, registrationEndpointNames)
  const dynamicRegistration = readDynamicRegistration(reading, settings, takePath)
  if (dynamicRegistration === undefined) return settings
  const findClient = withDynamicClients(settings.findClient, dynamicRegistration)
  return { ...settings, dynamicRegistration, findClient }
}

const isRedirectUriRule = (value: unknown): value is RedirectUriRule =>
  value === 'any' || value === 'https or loopback'

function resolveScopes(reading: OptionsReader): ReadonlyMap<string, string> {
  const key = 'scopes'
  const cure = "must be an object of scope and description, such as { 'photos:read': 'See your photos' }."
  const scopes = new Map(Object.entries(reading.required(key, {}, isTextRecord, cure)))
  for (const token of scopes.keys())
    if (parseScope(token)?.length !== 1)
      reading.wrong(
        key,
        `names "${token}", which is not a scope token: printable ASCII without space, quote and backslash.`,
      )
  return scopes
}

function resolveDefaultScope(reading: OptionsReader, known: Scope | undefined): Scope {
  const text = reading.optional<string | undefined>('defaultScope', undefined, isText, 'must be a text.')
  if (text === undefined) return []
  const scope = parseScope(text)
  if (known !== undefined && (scope === undefined || !covers(known, scope)))
    reading.wrong('defaultScope', `must hold scopes of this server: ${known.join(', ')}.`)
  return scope ?? []
}

function resolveLifetimes(reading: OptionsReader): Lifetimes {
  const seconds = (key: string, fallback: number, least = 1, most = tenYears) =>
    reading.optional(key, fallback, isWhole(least, most), `must be whole seconds, ${least} to ${most}.`)
  return {
    authorizationRequest: seconds('authorizationRequestLifetime', 600),
    // RFC 6749 4.1.2: a code should live ten minutes at most.
    authorizationCode: seconds('authorizationCodeLifetime', 60, 1, 600),
    accessToken: seconds('accessTokenLifetime', 3600),
    refreshToken: seconds('refreshTokenLifetime', 30 * 24 * 3600),
    refreshTokenGrace: seconds('refreshTokenGrace', 30, 0, 300),
  }
}

// A request without a decision stays in the store for this many seconds.
const openRequests = ({ authorizationRequest: seconds }: Lifetimes): Limit => ({ attempts: 100, seconds })

function extensionsOf(
  reading: OptionsReader,
  resources: Resources | undefined,
): Pick<ServerSettings, 'pkce' | 'extensions'> {
  const requirement = resolvePkce(reading)
  const own = [pkce(requirement), ...ofResources(resources)]
  return { pkce: requirement, extensions: [...own, ...resolveExtensions(reading)] }
}

// Checks only that the value is a function. Nothing can check its parameters and its result before a call.
function hook<Hook>(reading: OptionsReader, key: string, given: Hook): Hook {
  if (reading.take(key) !== undefined && typeof given !== 'function')
    reading.wrong(key, 'must be a function.')
  return given
}

const isLogin = (value: unknown): value is ServerSettings['login'] =>
  typeof value === 'function' || (isText(value) && /^\/(?![/\\])[^#]*$/.test(value))
const isTextRecord = (value: unknown): value is Readonly<Record<string, string>> =>
  isRecord(value) && Object.keys(value).length > 0 && Object.values(value).every(isText)
const isClock = (value: unknown): value is () => number => typeof value === 'function'

const example = 'such as https://example.com or http://localhost:3000'

/**
 * Reads the issuer (RFC 8414 2), with the path at which the host mounts the router, and whether requests need TLS.
 *
 * @param whose names the owner of the URL, for the message about a missing issuer.
 */
export function resolveIssuer(
  reading: OptionsReader,
  whose = 'this server',
): Pick<ServerSettings, 'issuer' | 'mount' | 'tlsRequired'> {
  const issuer = reading.required(
    'issuer',
    'http://localhost',
    isText,
    `must be the URL of ${whose}, ${example}.`,
  )
  // Clients compare the issuer letter by letter (RFC 9207 2.4), so the text must already be a normal URL.
  if (!URL.canParse(issuer) || !hasUriCharacters(issuer) || !namesHost(issuer)) {
    reading.wrong('issuer', `must be an absolute URL, ${example}.`)
    return { issuer, mount: '', tlsRequired: true }
  }
  const url = new URL(issuer)
  // RFC 6749 3.1 and 3.2: both endpoints need TLS. The exception for loopback hosts is for development.
  const plain = url.protocol === 'http:' && isLoopback(url.hostname)
  if (url.protocol !== 'https:' && !plain)
    reading.wrong('issuer', 'must use https unless its host is loopback.')
  if (issuer.includes('?') || issuer.includes('#'))
    reading.wrong('issuer', 'must not have a query or a fragment.')
  // The host mounts the router at this path, but clients request the path that a URL parser makes of the issuer.
  if (!/[?#]/.test(issuer) && pathIn(issuer) !== url.pathname)
    reading.wrong('issuer', "must have its path as a URL parser writes it, without '.' and '..' segments.")
  if (hasCredentials(url)) reading.wrong('issuer', 'must not hold a user name or password.')
  return { issuer, mount: url.pathname.replace(/\/+$/, ''), tlsRequired: !plain }
}

const pathIn = (issuer: string) => issuer.slice(issuer.indexOf('//') + 2).replace(/^[^/]*/, '') || '/'

/** Reads the store of authorizations and the counters. */
export function resolveStores(
  reading: OptionsReader,
  clock: () => number,
): Pick<ServerSettings, 'store' | 'counters'> {
  const store = resolveStore(reading, clock)
  return { store, counters: resolveCounters(reading, store, clock) }
}

function resolveStore(reading: OptionsReader, clock: () => number): AuthorizationStore {
  if (reading.take('store') !== undefined)
    return reading.required('store', noStore, isAuthorizationStore, storeCure)
  try {
    return memoryStore({ clock })
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    reading.issues.push(...error.issues)
    return noStore
  }
}

/**
 * Reads the counters: the option `counters`, or the counters of the store, or counters in memory.
 *
 * @param inUse whether anything uses the counters. Only then, counters that processes do not share cause a warning in
 * production.
 */
export function resolveCounters(
  reading: OptionsReader,
  store: AuthorizationStore,
  clock: () => number,
  inUse = true,
): Counters {
  const given = reading.optional<Counters | undefined>('counters', undefined, isCounters, countersCure)
  if (given !== undefined) return given
  if (isRecord(store) && isCounters(store['counters'])) return store['counters']
  if (inUse && process.env['NODE_ENV'] === 'production')
    warnOnce(
      'EAS_COUNTERS_IN_MEMORY',
      'The store has no counters, so each process counts failed attempts and single uses separately. Pass the option counters, such as redisStore({ url }).counters.',
    )
  return memoryCounters({ clock })
}
