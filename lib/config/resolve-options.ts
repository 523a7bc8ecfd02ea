import { aCall, aClock, aFlag, aWhole, someSeconds } from '../primitives/fields'
import {
  type Fields,
  group,
  kind,
  optional,
  type Place,
  placeOf,
  switched,
  usual,
} from '../primitives/schema'
import { pageUri } from '../protocol/uri'
import { deadlineOf } from '../store/deadline'
import { allowedOrigins } from '../http/cors'
import { withDynamicClients } from '../clients/dynamic-registration/find-dynamic-clients'
import { dynamicRegistrationOption } from '../clients/dynamic-registration/registration-options'
import { authorizationsOption, connectedPageName } from '../connected-applications/authorizations-options'
import { choices } from '../extensions/choices'
import { pkce } from '../extensions/pkce'
import { guardsOption } from '../http/bearer-guard'
import { pageOptions } from '../pages/page-options'
import { isList, isText, tenYears } from '../primitives/values'
import { scopeDescriptions, scopeImplications } from '../protocol/scope'
import { redirectUriRule } from '../protocol/redirect-uri'
import { allowedScope } from '../protocol/client-metadata'
import {
  pluginResources,
  resourcesOf,
  withPluginResources,
} from '../extensions/resource-indicators/resources'
import { withoutDeleted } from '../stores/clients'
import { explainsRefusals } from '../audit/diagnosis'
import type { AuthorizationServerOptions as Options, LifetimeOptions } from './options'
import { resolveLimits } from './resolve-limits'
import type { ServerSettings } from './settings'
import { resolveClients } from './resolve-clients'
import { anIssuer } from './resolve-issuer'
import { resolveStores } from './resolve-stores'
import {
  builtInGrantTypes,
  checkFormatsOf,
  defaultTokenType,
  pkceOption,
  resolveAuthenticationMethods,
  resolveClientMembers,
  resolveFormats,
  resolveGrantTypes,
  resolveResponseModes,
  resolveResponseTypes,
  resolveTokenTypes,
  usualFormatOf,
} from './plug-ins'
import { ofResources, resolveExtensions } from './doors'
import { openPlugins } from './open-plug-ins'
import {
  furtherPath,
  pathsOption,
  resolveEndpoints,
  type TakenByEndpoints,
  usedByEndpoints,
} from './resolve-endpoints'

const subject = 'createAuthorizationServer() cannot work with these options:'

export function resolveOptions(options: Options): ServerSettings {
  const at = placeOf(options)
  at.throwIssues(subject)
  const scopes = at.field('scopes', scopeDescriptions)
  // Undefined after a mistake in `scopes`, the only option read so far: no message about the scope of a
  // client would be right.
  const knownScope = at.issues.length > 0 ? undefined : [...scopes.keys()]
  const { issuer, pages, redirectUris, stillAllowed, ...read } = at.read(fields)
  const { clock, lifetimes, resourceOwner, storeDeadline } = read
  const stores = resolveStores(at, clock, storeDeadline)
  const { resources: named } = at.read(resourcesOf(knownScope, lifetimes.accessToken))
  const plugins = openPlugins(at, {
    issuer: issuer.issuer,
    clock,
    storage: stores.store,
    lifetimes,
    resources: named?.all.map(({ uri }) => uri) ?? [],
    scopes,
    canLogOut: read.logOut !== undefined,
  })
  const { sources } = plugins
  const responseTypes = resolveResponseTypes(sources)
  const tokenTypes = resolveTokenTypes(sources)
  const grantTypes = resolveGrantTypes(sources)
  const tokenGrants = [...builtInGrantTypes, ...grantTypes.map(({ name }) => name)]
  const before = at.issues.length
  const clientAuthenticationMethods = resolveAuthenticationMethods(sources)
  // A client of a faulty method has no mistake of its own.
  const areFaulty = at.issues.length > before
  const ofHost = resolveExtensions(sources)
  const capabilities = {
    scope: knownScope,
    grantTypes: [...new Set([...tokenGrants, ...responseTypes.flatMap((type) => type.grantTypes)])],
    responseTypes,
    tokenTypes: tokenTypes.map(({ name }) => name),
    authenticationMethods: areFaulty ? undefined : clientAuthenticationMethods,
    redirectUris,
    lifetimes,
    bindsRefreshTokens: ofHost.some(({ bindsRefreshTokens }) => bindsRefreshTokens === true),
    members: resolveClientMembers(sources),
    verifiesDigests: read.verifyDigest !== undefined,
  }
  const ofPlugins = sources.flatMap((source) => source.at.field('resources', pluginResources))
  const resources = named && withPluginResources(named, ofPlugins)
  const taken = usedByEndpoints()
  const accessTokenFormats = resolveFormats(sources)
  checkFormatsOf(at, resources, accessTokenFormats)
  const paths = at.with(taken).field('paths', pathsOption)
  const endpoints = resolveEndpoints(sources, taken)
  const pagePath = furtherPath(taken, connectedPageName, '/authorizations')
  const listing = at.field('authorizations', authorizationsOption(pagePath, issuer.mount))
  const settings: ServerSettings = {
    ...read,
    ...issuer,
    ...resolveClients(at, {
      ...issuer,
      capabilities,
      hasAuthorizationEndpoint: resourceOwner !== undefined,
      store: stores.store,
      storeDeadline,
      clock,
    }),
    capabilities,
    scopes,
    defaultScope:
      at.source['defaultScope'] === undefined
        ? []
        : at.with(capabilities).field('defaultScope', allowedScope),
    resources,
    implied: at.field('implies', scopeImplications(knownScope)),
    ...stores,
    authorizationPath: paths.authorization,
    tokenPath: paths.token,
    revocationPath: paths.revocation,
    introspectionPath: paths.introspection,
    ...endpoints,
    ...listing,
    dynamicRegistration: undefined,
    grantTypes,
    responseTypes,
    responseModes: resolveResponseModes(sources),
    tokenTypes,
    accessTokenFormats,
    tokenType: at.field('tokenType', defaultTokenType(tokenTypes)),
    clientAuthenticationMethods,
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
  checkPages(at, settings)
  const complete = withDynamicRegistration(at, settings, taken)
  at.refuseUnknown([...Object.keys(fields), ...Object.keys(dependent)])
  at.throwIssues(subject)
  return Object.freeze(hidingDeleted(complete))
}

// A list in the options has no deleted clients.
const hidingDeleted = (settings: ServerSettings): ServerSettings =>
  isList(settings.registered.clients)
    ? settings
    : { ...settings, findClient: withoutDeleted(settings.findClient) }

function checkPages(at: Place, settings: ServerSettings): void {
  const { pages, resourceOwner, connectedPath, connectedPage } = settings
  if (pages.length > 0 && resourceOwner === undefined)
    at.wrong('resourceOwner', 'is missing: pages of plug-ins are for people who log in.')
  if (connectedPath !== undefined && resourceOwner === undefined)
    at.wrong('resourceOwner', 'is missing: the page of connected applications is for people who log in.')
  if (typeof connectedPage === 'function' && connectedPath === undefined)
    at.wrong('pages.connected', 'needs the page of connected applications: set authorizations: {}.')
}

function withDynamicRegistration(
  at: Place,
  settings: ServerSettings,
  taken: TakenByEndpoints,
): ServerSettings {
  const pathOf = (endpoint: string, fallback: string) => furtherPath(taken, endpoint, fallback)
  const dynamicRegistration = at.field('dynamicRegistration', dynamicRegistrationOption(settings, pathOf))
  if (dynamicRegistration === undefined) return settings
  return { ...settings, dynamicRegistration, findClient: withDynamicClients(dynamicRegistration) }
}

const isLogin = (value: unknown): value is ServerSettings['login'] =>
  typeof value === 'function' || (isText(value) && /^\/(?![/\\])[^#]*$/.test(value))

const year = 365 * 24 * 3600

const aHook = <Hook>() => optional(aCall<Hook & {}>())

const fields = {
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
  login: usual<ServerSettings['login']>(
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
  pkce: pkceOption,
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

/** Read one after the other: each needs what others say. */
const dependent = {
  scopes: true,
  clients: true,
  defaultScope: true,
  resources: true,
  defaultResource: true,
  implies: true,
  authorizations: true,
  store: true,
  counters: true,
  paths: true,
  dynamicRegistration: true,
  tokenType: true,
  plugins: true,
  limits: true,
} satisfies Record<Exclude<keyof Options, keyof typeof fields>, true>
