import { explainsRefusals } from '../audit/diagnosis'
import type { LifetimeOptions, Lifetimes } from '../authorization/lifetimes'
import { clientAuthenticationLimits } from '../client-authentication/credential-throttle'
import { documentFetch } from '../clients/document-fetch/document-fetch'
import {
  dynamicRegistrationOption,
  withDynamicClients,
} from '../clients/dynamic-registration/registration-options'
import { isMetadataDocuments, type MetadataDocuments } from '../clients/metadata-documents/metadata-documents'
import {
  isRegisteredClients,
  openRegistered,
  type OpeningServer,
  type RegisteredClients,
} from '../clients/open-clients'
import { authorizationsOption, connectedPageName } from '../connected-applications/authorizations-options'
import { choices } from '../extensions/choices'
import { pkce, type PkceRequirement } from '../extensions/pkce'
import { pluginResources, Resources, resourcesOf } from '../extensions/resource-indicators/resources'
import { guardsOption } from '../http/bearer-guard'
import { allowedOrigins } from '../http/cors'
import type { Edge, EdgeSettings } from '../http/edge'
import { singleUsesOption } from '../limits/counters'
import { aLimit, networkLimits } from '../limits/limit'
import { issuingLimits } from '../limits/shares'
import { pageOptions } from '../pages/page-options'
import { ConfigurationError } from '../primitives/configuration-error'
import { aCall, aClock, aFlag, aWhole, oneOf, someSeconds } from '../primitives/fields'
import {
  type Field,
  type Fields,
  group,
  kind,
  needed,
  optional,
  type Place,
  placeOf,
  switched,
  usual,
} from '../primitives/schema'
import { isList, isText, isWhole, tenYears } from '../primitives/values'
import { type ServerCapabilities, allowedScope } from '../protocol/parse-client'
import { redirectUriRule } from '../protocol/redirect-uri'
import { scopeDescriptions, scopeImplications } from '../protocol/scope'
import { pageUri } from '../protocol/uri'
import { deadlineOf, withDeadline } from '../store/deadline'
import { memoryStore } from '../store/memory-store'
import { aStore, noStore, type Store } from '../store/store'
import { withoutDeleted } from '../stores/clients'
import { anIssuer, resolveCounters } from './common-options'
import { ofResources, resolveExtensions } from './doors'
import { type OpenedPlugins, openPlugins } from './open-plug-ins'
import type { AuthorizationServerOptions as Options, ServerLimitOptions } from './options'
import { builtInGrantTypes, checkFormatsOf, defaultTokenType, resolveParts, usualFormatOf } from './plug-ins'
import { furtherPath, pathsOption, resolveEndpoints, usedByEndpoints } from './resolve-endpoints'

const subject = 'createAuthorizationServer() cannot work with these options:'

export type ServerSettings = ReturnType<typeof resolveOptions>

export function resolveOptions(options: Options) {
  const at = placeOf(options)
  at.throwIssues(subject)
  const scopes = at.field('scopes', scopeDescriptions)
  // After a mistake in `scopes`, no message about the scope of a client would be right.
  const knownScope = at.issues.length > 0 ? undefined : [...scopes.keys()]
  const { issuer, pages, redirectUris, stillAllowed, ...read } = at.read(fields)
  const { clock, lifetimes, storeDeadline } = read
  const givenStore = at.field('store', givenOrMemory(clock))
  const store = withDeadline(givenStore, storeDeadline)
  const counters = resolveCounters(at, store, storeDeadline, clock)
  const named = at.field('resources', resourcesOf(knownScope, lifetimes.accessToken))
  const plugins: OpenedPlugins<Edge> = openPlugins(at, {
    issuer: issuer.issuer,
    clock,
    storage: store,
    lifetimes,
    resources: named?.all.map(({ uri }) => uri) ?? [],
    scopes,
    canLogOut: read.logOut !== undefined,
  })
  const { sources } = plugins
  const parts = resolveParts(at, sources)
  const { responseTypes, tokenTypes, accessTokenFormats } = parts
  const tokenGrants = [...builtInGrantTypes, ...parts.grantTypes.map(({ name }) => name)]
  const ofHost = resolveExtensions(sources)
  const capabilities: ServerCapabilities = {
    scope: knownScope,
    grantTypes: [...new Set([...tokenGrants, ...responseTypes.flatMap((type) => type.grantTypes)])],
    responseTypes,
    tokenTypes: tokenTypes.map(({ name }) => name),
    // A client of a faulty method has no mistake of its own.
    authenticationMethods: parts.areMethodsFaulty ? undefined : parts.clientAuthenticationMethods,
    redirectUris,
    lifetimes,
    bindsRefreshTokens: ofHost.some(({ bindsRefreshTokens }) => bindsRefreshTokens === true),
    members: parts.clientMembers,
    verifiesDigests: read.verifyDigest !== undefined,
  }
  const ofPlugins = sources.flatMap((source) => source.at.field('resources', pluginResources))
  const resources = named && new Resources(named.all, named.defaultResource, ofPlugins)
  const taken = usedByEndpoints()
  checkFormatsOf(at, resources, accessTokenFormats)
  const paths = at.with(taken).field('paths', pathsOption)
  const endpoints = resolveEndpoints(sources, taken)
  const pathOf = (endpoint: string, fallback: string) => furtherPath(taken, endpoint, fallback)
  const pagePath = pathOf(connectedPageName, '/authorizations')
  const listing = at.field('authorizations', authorizationsOption(pagePath, issuer.mount))
  const settings = {
    ...read,
    ...issuer,
    ...resolveClients(at, {
      ...issuer,
      capabilities,
      hasAuthorizationEndpoint: options.resourceOwner !== undefined,
      store,
      storeDeadline,
      clock,
    }),
    capabilities,
    scopes,
    defaultScope: at.with(capabilities).field('defaultScope', optional(allowedScope)) ?? [],
    resources,
    implied: at.field('implies', scopeImplications(knownScope)),
    givenStore,
    store,
    counters,
    paths,
    ...endpoints,
    ...listing,
    ...parts,
    tokenType: at.field('tokenType', defaultTokenType(tokenTypes)),
    extensions: [
      pkce(read.pkce),
      ...ofResources(resources, usualFormatOf(accessTokenFormats)),
      ...(read.choices !== undefined || stillAllowed !== undefined
        ? [choices(read.choices !== undefined, stillAllowed)]
        : []),
      ...ofHost,
    ],
    limits: resolveLimits(at, lifetimes, listing.authorizations),
    ...pages,
    plugins,
  }
  const pagePaths = [...endpoints.pages.map(({ path }) => path), listing.connectedPath ?? []].flat()
  if (options.resourceOwner === undefined && pagePaths.length > 0)
    at.wrong(
      'resourceOwner',
      `is missing: people log in before they see ${pagePaths.join(' and ')}, so resourceOwner must return who is logged in.`,
    )
  if (pages.connectedPage !== undefined && listing.connectedPath === undefined)
    at.wrong('pages.connected', 'needs the page of connected applications: set authorizations: {}.')
  const dynamicRegistration = at.field('dynamicRegistration', dynamicRegistrationOption(settings, pathOf))
  at.refuseUnknown()
  at.throwIssues(subject)
  const find = dynamicRegistration ? withDynamicClients(dynamicRegistration) : settings.findClient
  // A list in the options has no deleted clients.
  const findClient = isList(settings.registered.clients) ? find : withoutDeleted(find)
  return Object.freeze({ ...settings, dynamicRegistration, findClient })
}

const givenOrMemory =
  (clock: () => number): Field<Store> =>
  (given, at, name) => {
    if (given !== undefined) return aStore(given, at, name)
    try {
      return memoryStore({ clock })
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      at.issues.push(...error.issues)
      return noStore
    }
  }

const someClients = kind(
  (value): value is RegisteredClients | MetadataDocuments =>
    isRegisteredClients(value) || isMetadataDocuments(value),
  'must be a list of registrations, a store with a function find(client_id), or metadataDocuments().',
)

function resolveClients(at: Place, server: OpeningServer) {
  const given = at.field('clients', needed([], someClients))
  const opened = isMetadataDocuments(given)
    ? given.open(at, server)
    : openRegistered(given, 'clients', at, server)
  const { clientDocuments = documentFetch({ issuer: server.issuer, clock: server.clock }) } = opened
  return { ...opened, clientDocuments }
}

function resolveLimits(at: Place, lifetimes: Lifetimes, authorizations: boolean) {
  const { selfRegisteredClients: most, ...limits } = at.field('limits', limitsOf(lifetimes))
  if (typeof most === 'number' && !authorizations)
    at.wrong(
      'limits.selfRegisteredClients',
      'needs the option authorizations: true, because it counts what an owner has approved.',
    )
  return {
    ...limits,
    selfRegisteredClients: most === false || !authorizations ? undefined : (most ?? usualShare),
  }
}

export const usualShare = 50

export const limitsOf = ({ authorizationRequest }: Lifetimes) =>
  group({
    networks: networkLimits,
    clientAuthentication: clientAuthenticationLimits,
    issuing: issuingLimits,
    openRequests: aLimit(100, authorizationRequest),
    singleUses: singleUsesOption,
    selfRegisteredClients: optional(
      kind(
        (value): value is number | false => value === false || isWhole(1, 1000)(value),
        'must be false or a whole number, 1 to 1000.',
      ),
    ),
  } satisfies Fields<ServerLimitOptions>)

const isLogin = (value: unknown): value is EdgeSettings['login'] =>
  typeof value === 'function' || (isText(value) && /^\/(?![/\\])[^#]*$/.test(value))

const year = 365 * 24 * 3600

const aHook = <Hook>() => optional(aCall<Hook & {}>())

export const fields = {
  issuer: anIssuer('this server'),
  clock: aClock,
  lifetimes: group({
    authorizationRequest: someSeconds(600),
    // RFC 6749 4.1.2: a code should live ten minutes at most.
    authorizationCode: someSeconds(60, 1, 600),
    accessToken: someSeconds(3600),
    refreshToken: someSeconds(30 * 24 * 3600),
    refreshTokenGrace: someSeconds(30, 0, 300),
    grant: optional(aWhole(1, tenYears)),
  } satisfies Fields<LifetimeOptions>),
  resourceOwner: aHook<Options['resourceOwner']>(),
  login: usual<EdgeSettings['login']>(
    '/login',
    kind(isLogin, "must be a path such as '/login', or a function."),
  ),
  logOut: aHook<Options['logOut']>(),
  skipConsent: aHook<Options['skipConsent']>(),
  choices: aHook<Options['choices']>(),
  stillAllowed: aHook<Options['stillAllowed']>(),
  verifyDigest: aHook<Options['verifyDigest']>(),
  maintenance: aHook<Options['maintenance']>(),
  rememberConsent: switched(group({ seconds: someSeconds(year) })),
  refreshTokenExpiresIn: aFlag(false),
  refreshTokenRotation: aFlag(true),
  offlineAccess: aFlag(false),
  narrowScope: aFlag(false),
  pkce: usual<PkceRequirement>('public', oneOf('public', 'all', 'none')),
  redirectUris: redirectUriRule,
  cors: allowedOrigins('*'),
  guards: guardsOption,
  errorUri: pageUri,
  storeDeadline: deadlineOf(0.5),
  closeDeadline: deadlineOf(10),
  bodyDeadline: deadlineOf(10),
  pages: pageOptions,
  explainRefusals: explainsRefusals,
} satisfies Partial<Fields<Options>>
