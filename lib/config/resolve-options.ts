import { aClock, aFlag, aText, aWhole, someSeconds } from '../primitives/fields'
import { singleUsesOption } from '../limits/single-use-limit'
import { aLimit } from '../limits/limit'
import { issuingLimits } from '../limits/issue-limits'
import { clientAuthenticationLimits } from '../client-authentication/credential-throttle'
import { networkLimits } from '../limits/rate-limit-options'
import { type Fields, group, kind, optional } from '../primitives/schema'
import { pageUri } from '../protocol/uri'
import { deadlineOf } from '../stores/deadline'
import type { Lifetimes } from '../authorization/lifetimes'
import { readCors } from '../http/cors'
import { withDynamicClients } from '../clients/dynamic-registration/find-dynamic-clients'
import {
  readDynamicRegistration,
  registrationEndpointNames,
} from '../clients/dynamic-registration/registration-options'
import { connectedPageNames, readAuthorizations } from '../connected-applications/authorizations-options'
import { choices } from '../extensions/choices'
import { pkce } from '../extensions/pkce'
import { readGuards } from '../http/guard-defaults'
import { pageOptions } from '../pages/page-options'
import { OptionsReader } from '../primitives/options-reader'
import { isBoolean, isList, isRecord, isText, isWhole, tenYears } from '../primitives/values'
import type { Extension } from '../protocol/extension'
import { scopeImplications } from '../protocol/implied-scope'
import { readRedirectUriRule } from '../protocol/redirect-uri'
import { covers, parseScope, type Scope } from '../protocol/scope'
import { scopeDescriptions } from '../protocol/scope-description'
import {
  readResources,
  readPlugInResources,
  withPlugInResources,
} from '../extensions/resource-indicators/resources'
import { withoutDeleted } from '../stores/registered-clients'
import type { Storage } from '../stores/storage'
import { readExplainRefusals } from '../audit/diagnosis'
import type { AuthorizationServerOptions as Options, ServerLimitOptions } from './options'
import type { ServerSettings } from './settings'
import { resolveClients } from './resolve-clients'
import { resolveIssuer } from './resolve-issuer'
import { resolveStores } from './resolve-stores'
import { checkFormatsOf, resolveFormats, usualFormatOf } from './access-token-formats'
import { resolveResponseModes } from './added-modes'
import { openPlugIns } from './open-plug-ins'
import { furtherPaths, resolveEndpoints, type TakenByEndpoints, usedByEndpoints } from './resolve-endpoints'
import {
  builtInGrantTypes,
  ofResources,
  resolveAuthenticationMethods,
  resolveClientMembers,
  resolveDefaultTokenType,
  resolveExtensions,
  resolveGrantTypes,
  pkceOption,
  resolveResponseTypes,
  resolveTokenTypes,
} from './plug-ins'

const subject = 'createAuthorizationServer() cannot work with these options:'

export function resolveOptions(options: Options): ServerSettings {
  const reading = new OptionsReader(options, '')
  if (!isRecord(options)) reading.throwIssues(subject)
  const scopes = reading.field('scopes', scopeDescriptions)
  // Undefined after a mistake in `scopes`, the only option read so far: no message about the scope of a
  // client would be right.
  const knownScope = reading.issues.length > 0 ? undefined : [...scopes.keys()]
  const issuer = resolveIssuer(reading)
  const clock = reading.field('clock', aClock)
  const stores = resolveStores(reading, clock)
  const lifetimes = resolveLifetimes(reading)
  const named = readResources(reading, knownScope, lifetimes.accessToken)
  const logOut = hook(reading, 'logOut', options.logOut)
  const storeDeadline = reading.field('storeDeadline', deadlineOf(0.5))
  const plugIns = openPlugIns(reading, {
    issuer: issuer.issuer,
    clock,
    storage: stores.store,
    storeDeadline,
    lifetimes,
    resources: named?.all.map(({ uri }) => uri) ?? [],
    scopes: [...scopes.keys()],
    canLogOut: logOut !== undefined,
  })
  const { sources } = plugIns
  const resourceOwner = hook(reading, 'resourceOwner', options.resourceOwner)
  const responseTypes = resolveResponseTypes(sources)
  const tokenTypes = resolveTokenTypes(sources)
  const grantTypes = resolveGrantTypes(sources)
  const tokenGrants = [...builtInGrantTypes, ...grantTypes.map(({ name }) => name)]
  const before = reading.issues.length
  const clientAuthenticationMethods = resolveAuthenticationMethods(sources)
  // A client of a faulty method has no mistake of its own.
  const areFaulty = reading.issues.length > before
  const ofHost = resolveExtensions(sources)
  const parts = sources.filter((source) => source !== reading)
  const capabilities = {
    scope: knownScope,
    grantTypes: [...new Set([...tokenGrants, ...responseTypes.flatMap((type) => type.grantTypes)])],
    responseTypes,
    tokenTypes: tokenTypes.map(({ name }) => name),
    authenticationMethods: areFaulty ? undefined : clientAuthenticationMethods,
    redirectUris: readRedirectUriRule(reading),
    lifetimes,
    bindsRefreshTokens: ofHost.some((extension) => extension.bindsRefreshToken !== undefined),
    members: resolveClientMembers(parts),
  }
  const ofPlugIns = parts.flatMap((part) => readPlugInResources(part))
  const resources = named && withPlugInResources(named, ofPlugIns)
  const taken = usedByEndpoints()
  const accessTokenFormats = resolveFormats(sources)
  checkFormatsOf(reading, resources, accessTokenFormats)
  const endpoints = resolveEndpoints(reading, sources, taken)
  const listing = readAuthorizations(reading, issuer.mount, furtherPaths(taken, connectedPageNames))
  const settings: ServerSettings = {
    ...issuer,
    ...resolveClients(reading, {
      ...issuer,
      capabilities,
      hasAuthorizationEndpoint: resourceOwner !== undefined,
      store: stores.store,
      storeDeadline,
      lifetimes,
      clock,
    }),
    capabilities,
    scopes,
    defaultScope: resolveDefaultScope(reading, knownScope),
    resources,
    implied: reading.field('implies', scopeImplications(knownScope)),
    resourceOwner,
    login: reading.optional('login', '/login', isLogin, "must be a path such as '/login', or a function."),
    logOut,
    ...stores,
    ...endpoints,
    ...listing,
    cors: readCors(reading, '*'),
    dynamicRegistration: undefined,
    lifetimes,
    refreshTokenExpiresIn: reading.field('refreshTokenExpiresIn', aFlag(false)),
    refreshTokenRotation: reading.field('refreshTokenRotation', aFlag(true)),
    offlineAccess: reading.field('offlineAccess', aFlag(false)),
    grantTypes,
    responseTypes,
    responseModes: resolveResponseModes(parts),
    tokenTypes,
    accessTokenFormats,
    tokenType: resolveDefaultTokenType(reading, tokenTypes),
    clientAuthenticationMethods,
    ...extensionsOf(reading, ofHost, [
      ...ofResources(resources, usualFormatOf(accessTokenFormats)),
      ...ofOwner(reading, options),
    ]),
    guards: readGuards(reading),
    ...resolveLimits(reading, lifetimes, listing.authorizations),
    storeDeadline,
    closeDeadline: reading.field('closeDeadline', deadlineOf(10)),
    bodyDeadline: reading.field('bodyDeadline', deadlineOf(10)),
    maintenance: hook(reading, 'maintenance', options.maintenance),
    errorUri: reading.field('errorUri', pageUri),
    rememberConsent: resolveRememberConsent(reading, stores.store),
    skipConsent: hook(reading, 'skipConsent', options.skipConsent),
    choices: options.choices,
    ...reading.field('pages', pageOptions),
    explainRefusals: readExplainRefusals(reading),
    clock,
    plugIns,
  }
  checkIndex(reading, settings)
  checkPages(reading, settings)
  const complete = withDynamicRegistration(reading, settings, taken)
  for (const source of sources) source.refuseUnknown()
  reading.throwIssues(subject)
  return Object.freeze(hidingDeleted(complete))
}

// A list in the options has no deleted clients.
const hidingDeleted = (settings: ServerSettings): ServerSettings =>
  settings.registered === undefined || isList(settings.registered.clients)
    ? settings
    : { ...settings, findClient: withoutDeleted(settings.findClient) }

function checkIndex(reading: OptionsReader, { authorizations, plugIns, store }: ServerSettings): void {
  if ((authorizations || plugIns.indexSeconds !== undefined) && store.index === undefined)
    reading.wrong(
      'store',
      'must have the member index, because the option authorizations or a plug-in needs the authorizations of an owner: redisStore({ url }) and memoryStore() have it.',
    )
}

function checkPages(reading: OptionsReader, settings: ServerSettings): void {
  const { pages, resourceOwner, connectedPath, connectedPage } = settings
  if (pages.length > 0 && resourceOwner === undefined)
    reading.wrong('resourceOwner', 'is missing: pages of the option endpoints are for people who log in.')
  if (connectedPath !== undefined && resourceOwner === undefined)
    reading.wrong('resourceOwner', 'is missing: the page of connected applications is for people who log in.')
  if (typeof connectedPage === 'function' && connectedPath === undefined)
    reading.wrong('pages.connected', 'needs the page of connected applications: set authorizations: {}.')
}

function withDynamicRegistration(
  reading: OptionsReader,
  settings: ServerSettings,
  taken: TakenByEndpoints,
): ServerSettings {
  const takePath = furtherPaths(taken, registrationEndpointNames)
  const dynamicRegistration = readDynamicRegistration(reading, settings, takePath)
  if (dynamicRegistration === undefined) return settings
  return { ...settings, dynamicRegistration, findClient: withDynamicClients(dynamicRegistration) }
}

function resolveDefaultScope(reading: OptionsReader, known: Scope | undefined): Scope {
  const text = reading.field('defaultScope', optional(aText))
  if (text === undefined) return []
  const scope = parseScope(text)
  if (known !== undefined && (scope === undefined || !covers(known, scope)))
    reading.wrong('defaultScope', `must hold scopes of this server: ${known.join(', ')}.`)
  return scope ?? []
}

function resolveLifetimes(reading: OptionsReader): Lifetimes {
  return reading.group('lifetimes', (fields) => {
    const seconds = (key: keyof Lifetimes, fallback: number, least = 1, most = tenYears) =>
      fields.field(key, someSeconds(fallback, least, most))
    return {
      authorizationRequest: seconds('authorizationRequest', 600),
      // RFC 6749 4.1.2: a code should live ten minutes at most.
      authorizationCode: seconds('authorizationCode', 60, 1, 600),
      accessToken: seconds('accessToken', 3600),
      refreshToken: seconds('refreshToken', 30 * 24 * 3600),
      refreshTokenGrace: seconds('refreshTokenGrace', 30, 0, 300),
      grant: fields.field('grant', optional(aWhole(1, tenYears))),
    }
  })
}

function resolveLimits(
  reading: OptionsReader,
  lifetimes: Lifetimes,
  authorizations: boolean,
): Pick<
  ServerSettings,
  | 'rateLimit'
  | 'clientAuthenticationLimits'
  | 'issueLimits'
  | 'openRequestLimit'
  | 'singleUseLimit'
  | 'selfRegisteredClients'
> {
  const { networks, clientAuthentication, issuing, openRequests, singleUses, selfRegisteredClients } =
    reading.field('limits', limitsOf(lifetimes))
  if (typeof selfRegisteredClients === 'number' && !authorizations)
    reading.wrong(
      'limits.selfRegisteredClients',
      'needs the option authorizations: true, because it counts what an owner has approved.',
    )
  return {
    rateLimit: networks,
    clientAuthenticationLimits: clientAuthentication,
    issueLimits: issuing,
    openRequestLimit: openRequests,
    singleUseLimit: singleUses,
    selfRegisteredClients:
      selfRegisteredClients === false || !authorizations ? undefined : (selfRegisteredClients ?? 50),
  }
}

const year = 365 * 24 * 3600

function resolveRememberConsent(
  reading: OptionsReader,
  { consents }: Storage,
): ServerSettings['rememberConsent'] {
  const key = 'rememberConsent'
  const given = reading.optional<boolean | Readonly<Record<string, unknown>>>(
    key,
    false,
    (value) => isBoolean(value) || isRecord(value),
    'must be true, false or an object.',
  )
  if (given === false) return undefined
  if (consents === undefined)
    reading.wrong(
      'store',
      'must have the member consents, because the option rememberConsent needs it: redisStore({ url }) and memoryStore() have it.',
    )
  const fields = new OptionsReader(given === true ? {} : given, key, reading.issues)
  const expectation = `must be whole seconds, 1 to ${tenYears}.`
  const seconds = fields.optional('seconds', year, isWhole(1, tenYears), expectation)
  fields.refuseUnknown()
  return { seconds }
}

const limitsOf = ({ authorizationRequest }: Lifetimes) =>
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

function extensionsOf(
  reading: OptionsReader,
  ofHost: readonly Extension[],
  ofOptions: readonly Extension[],
): Pick<ServerSettings, 'pkce' | 'extensions'> {
  const requirement = reading.field('pkce', pkceOption)
  const own = [pkce(requirement), ...ofOptions]
  return { pkce: requirement, extensions: [...own, ...ofHost] }
}

function ofOwner(reading: OptionsReader, options: Options): readonly Extension[] {
  const asks = hook(reading, 'choices', options.choices) !== undefined
  const stillAllowed = hook(reading, 'stillAllowed', options.stillAllowed)
  return asks || stillAllowed !== undefined ? [choices(asks, stillAllowed)] : []
}

// Nothing can check parameters and result before a call.
function hook<Hook>(reading: OptionsReader, key: string, given: Hook): Hook {
  if (reading.take(key) !== undefined && typeof given !== 'function')
    reading.wrong(key, 'must be a function.')
  return given
}

const isLogin = (value: unknown): value is ServerSettings['login'] =>
  typeof value === 'function' || (isText(value) && /^\/(?![/\\])[^#]*$/.test(value))
