import { readIssueLimits } from './attempts/issue-limits'
import { readLimit, type Limit } from './attempts/limit'
import { usualSingleUses } from './attempts/single-uses'
import type { Lifetimes } from './authorization/circumstances'
import { readClientAuthenticationLimits } from './client-authentication/limit-options'
import { pkce, type PkceRequirement } from './extensions/pkce'
import type { AuthorizationServerOptions as Options } from './options'
import { isRecord, isText, isTexts, OptionsReader } from './protocol/configuration'
import { isPageUri, pageCure } from './protocol/error-page-uri'
import type { Extension } from './protocol/extension'
import { covers, parseScope, type Scope } from './protocol/scope'
import { resolveAuthenticationMethods } from './resolve-authentication-methods'
import { resolveClients } from './resolve-clients'
import { builtInGrantTypes, resolveGrantTypes } from './resolve-grant-types'
import { resolveIssuer } from './resolve-issuer'
import { resolvePaths } from './resolve-paths'
import { resolveRateLimit } from './resolve-rate-limit'
import { resolveResponseTypes } from './resolve-response-types'
import { resolveStores } from './resolve-stores'
import { resolveDefaultTokenType, resolveTokenTypes } from './resolve-token-types'
import type { ServerSettings } from './settings'
import { isClientRegistry } from './stores/client-registry'
import { deadlineCure, isDeadline } from './stores/deadline'

const subject = 'createAuthorizationServer() cannot work with these options:'

/**
 * Turns options into settings that are complete and frozen.
 *
 * @throws ConfigurationError that lists every mistake, each with its path and cure.
 */
export function resolveOptions(options: Options): ServerSettings {
  const reading = new OptionsReader(options, '')
  if (!isRecord(options)) reading.settle(subject)
  const scopes = resolveScopes(reading)
  // Asked at once, while no other option can have been read: a faulty scope tells nothing about a client's.
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
  }
  const clock = reading.optional('clock', Date.now, isClock, 'must be a function.')
  const storeDeadline = reading.optional('storeDeadline', 0.5, isDeadline, deadlineCure)
  const lifetimes = resolveLifetimes(reading)
  const settings: ServerSettings = {
    ...resolveIssuer(reading),
    findClient: resolveClients(reading, capabilities, storeDeadline),
    clientRegistry: isClientRegistry(options.clients) ? options.clients : undefined,
    capabilities,
    scopes,
    defaultScope: resolveDefaultScope(reading, knownScope),
    resourceOwner,
    login: reading.optional('login', '/login', isLogin, "must be a path such as '/login', or a function."),
    ...resolveStores(reading, clock),
    ...resolvePaths(reading),
    lifetimes,
    grantTypes,
    responseTypes,
    tokenTypes,
    tokenType: resolveDefaultTokenType(reading, tokenTypes),
    clientAuthenticationMethods,
    ...resolveExtensions(reading),
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
  reading.refuseUnknown()
  reading.settle(subject)
  return Object.freeze(settings)
}

function resolveScopes(reading: OptionsReader): ReadonlyMap<string, string> {
  const key = 'scopes'
  const cure = "must be an object of scope and description, such as { 'photos:read': 'See your photos' }."
  const scopes = new Map(Object.entries(reading.required(key, {}, isTextRecord, cure)))
  for (const token of scopes.keys())
    if (parseScope(token)?.length !== 1)
      reading.wrong(
        key,
        `names "${token}", which is no scope token: printable ASCII without space, quote and backslash.`,
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

const tenYears = 10 * 365 * 24 * 3600

function resolveLifetimes(reading: OptionsReader): Lifetimes {
  const seconds = (key: string, fallback: number, minimum = 1, maximum = tenYears) => {
    const accepts = (value: unknown): value is number =>
      Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum
    return reading.optional(key, fallback, accepts, `must be whole seconds, ${minimum} to ${maximum}.`)
  }
  return {
    authorizationRequest: seconds('authorizationRequestLifetime', 600),
    // RFC 6749 4.1.2: a maximum of ten minutes.
    authorizationCode: seconds('authorizationCodeLifetime', 60, 1, 600),
    accessToken: seconds('accessTokenLifetime', 3600),
    refreshToken: seconds('refreshTokenLifetime', 30 * 24 * 3600),
    refreshTokenGrace: seconds('refreshTokenGrace', 30, 0, 300),
  }
}

// A page that nobody answers is in the store for that long.
const openRequests = ({ authorizationRequest: seconds }: Lifetimes): Limit => ({ attempts: 100, seconds })

function resolveExtensions(reading: OptionsReader): Pick<ServerSettings, 'pkce' | 'extensions'> {
  const requirement = reading.optional(
    'pkce',
    'public',
    isPkceRequirement,
    "must be 'public', 'all' or 'none'.",
  )
  const guests = reading.optional(
    'extensions',
    [],
    isExtensions,
    'must be a list of extensions: a name each, lists of parameters, functions.',
  )
  const extensions = [pkce(requirement), ...guests]
  if (new Set(extensions.map(({ name }) => name)).size < extensions.length)
    reading.wrong('extensions', 'must have a name of its own each; "pkce" is taken.')
  return { pkce: requirement, extensions }
}

// What a function takes and returns cannot be seen beforehand: there the declared type is believed.
function hook<Hook>(reading: OptionsReader, key: string, given: Hook): Hook {
  if (reading.take(key) !== undefined && typeof given !== 'function')
    reading.wrong(key, 'must be a function.')
  return given
}

const isLogin = (value: unknown): value is ServerSettings['login'] =>
  typeof value === 'function' || (isText(value) && /^\/(?![/\\])[^#]*$/.test(value))
const isTextRecord = (value: unknown): value is Readonly<Record<string, string>> =>
  isRecord(value) && Object.keys(value).length > 0 && Object.values(value).every(isText)
const isPkceRequirement = (value: unknown): value is PkceRequirement =>
  value === 'public' || value === 'all' || value === 'none'
const isExtensions = (value: unknown): value is readonly Extension[] =>
  Array.isArray(value) && value.every(isExtension)
const isExtension = (value: unknown): value is Extension =>
  isRecord(value) &&
  isText(value['name']) &&
  ['authorizationParameters', 'tokenParameters'].every((key) => isAbsentOr(isParameterNames, value[key])) &&
  ['atAuthorizationRequest', 'atRedemption'].every((key) => isAbsentOr(isFunction, value[key]))
// RFC 6749 5.2: an error may name the parameter, so it keeps to the characters of an error.
const isParameterNames = (value: unknown) =>
  isTexts(value) && value.every((name) => /^[\x21\x23-\x5B\x5D-\x7E]+$/.test(name))
const isAbsentOr = (accepts: (value: unknown) => boolean, value: unknown) =>
  value === undefined || accepts(value)
const isClock = (value: unknown): value is () => number => typeof value === 'function'
const isFunction = (value: unknown) => typeof value === 'function'
