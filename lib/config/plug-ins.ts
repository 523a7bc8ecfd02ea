import { codeResponseType, type ResponseType } from '../authorization/response-types'
import { consentOfferName } from '../authorization-endpoint/consent-offer'
import { responseModeName } from '../protocol/response-modes'
import { indexName } from '../authorization/authorization-index'
import type { ClientAuthenticationMethod } from '../client-authentication/method'
import { choicesName } from '../extensions/choices'
import { type PkceRequirement, pkceName } from '../extensions/pkce'
import { cureForOffer } from '../protocol/plug-in-names'
import { builtInMethods } from '../protocol/client'
import { areClientMembers, type ClientMember, isOwnMember } from '../protocol/client-member'
import type { OptionsReader } from '../primitives/options-reader'
import { isAbsentOr, isBoolean, isList, isRecord, isText, isTexts } from '../primitives/values'
import { type Extension } from '../protocol/extension'
import { isExtensionMetadata } from '../protocol/extension-metadata'
import { isToken } from '../protocol/http-authentication'
import { isResponseTypeName, responseTypeNamed } from '../protocol/response-type'
import { isScope } from '../protocol/scope'
import type { TokenType } from '../protocol/token-type'
import { isAbsoluteUri } from '../protocol/uri'
import {
  resourceIndicators,
  resourceIndicatorsName,
} from '../extensions/resource-indicators/resource-indicators'
import type { Resources } from '../extensions/resource-indicators/resources'
import type { GrantType } from '../authorization/grant-type'
import { bearer } from '../extensions/token-types/bearer'
import type { ServerSettings } from './settings'

const methodsOption = 'clientAuthenticationMethods'
const methodsMessage =
  'must be a method of client authentication: name, read and verify, optionally scheme and others.'

type Sources = readonly OptionsReader[]

type Wrong = (field: string, message: string) => void

export function resolveAuthenticationMethods(sources: Sources): readonly ClientAuthenticationMethod[] {
  const names = new Set(builtInMethods)
  const schemes = new Set(['basic'])
  const methods: unknown[] = []
  for (const reading of sources) {
    const given = reading.optional<readonly unknown[]>(
      methodsOption,
      [],
      isList,
      'must be a list of methods.',
    )
    for (const [index, method] of given.entries()) {
      const wrong: Wrong = (field, message) => reading.wrong(`${methodsOption}[${index}]${field}`, message)
      if (isRecord(method)) checkMethod(method, names, schemes, wrong)
      else wrong('', methodsMessage)
    }
    methods.push(...given)
  }
  // Includes a method with other mistakes, which end the construction anyway: without it, each client that
  // uses it would get a second, misleading message.
  return Object.freeze(methods.filter(isMethod))
}

// RFC 7591 2: a registered name or an absolute URI. The grammar excludes `__proto__`.
const nameGrammar = /^[A-Za-z][\x21\x23-\x5B\x5D-\x7E]*$/
// RFC 9110 11.1: a token.
const schemeGrammar = /^[\w!#$%&'*+.^`|~-]+$/
const signedMethods: ReadonlySet<unknown> = new Set(['private_key_jwt', 'client_secret_jwt'])

function checkMethod(
  method: Readonly<Record<string, unknown>>,
  names: Set<string>,
  schemes: Set<string>,
  wrong: Wrong,
): void {
  const { name, scheme, signingAlgorithms: algorithms } = method
  if (!isText(name) || !nameGrammar.test(name))
    wrong('.name', 'must be a name such as private_key_jwt, or an absolute URI.')
  else if (names.has(name)) wrong('.name', `is "${name}", which another method has already.`)
  else names.add(name)
  if (scheme !== undefined) checkScheme(scheme, schemes, wrong)
  // RFC 8414 2: a method with signed assertions must list its algorithms, without `none`.
  if (algorithms === undefined ? signedMethods.has(name) : !isAlgorithms(algorithms))
    wrong(
      '.signingAlgorithms',
      'must list the signature algorithms of the assertions, such as ES256, without none.',
    )
  for (const field of ['read', 'verify'])
    if (typeof method[field] !== 'function') wrong(`.${field}`, 'must be a function.')
  if (!isAbsentOr(isTexts, method['credentialParameters']))
    wrong('.credentialParameters', 'must be a list of names of parameters.')
  if (!isAbsentOrFunction(method['mistakeIn'])) wrong('.mistakeIn', 'must be a function.')
}

function checkScheme(scheme: unknown, schemes: Set<string>, wrong: Wrong): void {
  if (!isText(scheme) || !schemeGrammar.test(scheme))
    wrong('.scheme', 'must be an HTTP authentication scheme, such as ApiKey: one word.')
  else if (schemes.has(scheme.toLowerCase()))
    wrong('.scheme', `is "${scheme}", which another method has already. Letter case does not count.`)
  else schemes.add(scheme.toLowerCase())
}

const isAlgorithms = (value: unknown) =>
  isTexts(value) && value.length > 0 && value.every((name) => name.toLowerCase() !== 'none')
const isAbsentOrFunction = (value: unknown) => value === undefined || typeof value === 'function'
const isMethod = (value: unknown): value is ClientAuthenticationMethod =>
  isRecord(value) && isText(value['name']) && isAbsentOrFunction(value['mistakeIn'])

export function resolveClientMembers(plugIns: Sources): readonly ClientMember[] {
  const key = 'clientMembers'
  const names = new Set<string>()
  const all: ClientMember[] = []
  for (const reading of plugIns) {
    const given = reading.optional<readonly ClientMember[]>(key, [], areClientMembers, clientMembersMessage)
    for (const [index, { name }] of given.entries()) {
      const wrong = (message: string) => reading.wrong(`${key}[${index}].name`, `is "${name}", ${message}`)
      if (isOwnMember(name)) wrong('which every registration has already.')
      else if (names.has(name)) wrong('which another plug-in adds already.')
      names.add(name)
    }
    all.push(...given)
  }
  return Object.freeze(all)
}

const clientMembersMessage =
  'must be a list of members of registrations: name, in lower case, and mistakeIn, optionally conflictIn and verify.'

const grantTypesOption = 'grantTypes'
const grantTypesMessage =
  'must be a list of grant types, such as password({ verify }): name, parameters and handle.'

export const builtInGrantTypes: readonly string[] = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
]

export function resolveGrantTypes(sources: Sources): readonly GrantType[] {
  // RFC 6749 4.2: implicit does not use the token endpoint.
  const taken = new Set([...builtInGrantTypes, 'implicit'])
  const all: GrantType[] = []
  for (const reading of sources) {
    const given = reading.optional(grantTypesOption, [], isGrantTypes, grantTypesMessage)
    for (const [index, { name }] of given.entries()) {
      const wrong = (message: string) =>
        reading.wrong(`${grantTypesOption}[${index}].name`, `is "${name}", ${message}`)
      if (taken.has(name)) wrong('which another grant type has already.')
      // RFC 6749 4.5: only a URI avoids a collision with a name used elsewhere.
      else if (name !== 'password' && !isAbsoluteUri(name))
        wrong('but must be an absolute URI, such as https://example.com/oauth/grants/voucher.')
      taken.add(name)
    }
    all.push(...given)
  }
  return Object.freeze(all)
}

const isGrantTypes = (value: unknown): value is readonly GrantType[] =>
  Array.isArray(value) && value.every(isGrantType)
const isGrantType = (value: unknown): value is GrantType =>
  isRecord(value) &&
  isText(value['name']) &&
  isTexts(value['parameters']) &&
  isAbsentOr(isTexts, value['credentialParameters']) &&
  isAbsentOr(isBoolean, value['refreshTokens']) &&
  isAbsentOr(isBoolean, value['publicClients']) &&
  isAbsentOr(isExtensionMetadata, value['metadata']) &&
  typeof value['handle'] === 'function' &&
  isAbsentOrFunction(value['introspect'])

const responseTypesOption = 'responseTypes'
const responseTypesMessage =
  'must be a list of response types, such as implicit(): name, grantTypes, mode, optionally redirectBy, and approve.'

export function resolveResponseTypes(sources: Sources): readonly ResponseType[] {
  const types = [codeResponseType]
  for (const reading of sources) {
    const given = reading.optional(responseTypesOption, [], isResponseTypes, responseTypesMessage)
    for (const [index, type] of given.entries()) {
      const wrong = (message: string) =>
        reading.wrong(`${responseTypesOption}[${index}].name`, `is "${type.name}", ${message}`)
      if (!isResponseTypeName(type.name))
        wrong('but must be letters, digits and _; several values, each once, with one space between two.')
      else if (responseTypeNamed(type.name, types) !== undefined)
        wrong('which another response type has already. The order of the values does not count.')
      else types.push(type)
    }
  }
  return Object.freeze(types)
}

const isResponseTypes = (value: unknown): value is readonly ResponseType[] =>
  Array.isArray(value) && value.every(isResponseType)
const isResponseType = (value: unknown): value is ResponseType =>
  isRecord(value) &&
  isText(value['name']) &&
  isTexts(value['grantTypes']) &&
  (value['mode'] === 'query' || value['mode'] === 'fragment') &&
  isAbsentOr((by) => by === 'location' || by === 'page', value['redirectBy']) &&
  typeof value['approve'] === 'function'

const tokenTypesOption = 'tokenTypes'
const tokenTypesMessage =
  'must be a list of token types, such as mac({ hosts }): name, scheme, read, optionally issue.'

/** `bearer` is always the first. */
export function resolveTokenTypes(sources: Sources): readonly TokenType[] {
  const types = [bearer]
  for (const reading of sources) {
    const given = reading.optional(tokenTypesOption, [], isTokenTypes, tokenTypesMessage)
    for (const [index, type] of given.entries()) {
      checkTokenType(type, types, (field, message) =>
        reading.wrong(`${tokenTypesOption}[${index}].${field}`, message),
      )
      types.push(type)
    }
  }
  return Object.freeze(types)
}

function checkTokenType(type: TokenType, others: readonly TokenType[], wrong: Wrong): void {
  if (!isTokenTypeName(type.name))
    wrong('name', `is "${type.name}", but must be letters, digits and . _ -, or an absolute URI.`)
  else if (others.some(({ name }) => name === type.name))
    wrong('name', `is "${type.name}", which another token type has already.`)
  if (!isScheme(type.scheme))
    wrong('scheme', `is "${type.scheme}", which is not the name of an HTTP authentication scheme.`)
  else if (others.some(({ scheme }) => scheme.toLowerCase() === type.scheme.toLowerCase()))
    wrong('scheme', `is "${type.scheme}", which another token type has already. Letter case does not count.`)
  const method = type.confirmationMethod
  // A guard without the store finds the type by it.
  if (method !== undefined && others.some(({ confirmationMethod }) => confirmationMethod === method))
    wrong('confirmationMethod', `is "${method}", which another token type has already.`)
}

export function resolveDefaultTokenType(reading: OptionsReader, types: readonly TokenType[]): string {
  const names = types.map(({ name }) => name)
  const isOffered = (value: unknown): value is string => isText(value) && names.includes(value)
  const cure = cureForOffer(reading.take('tokenType'))
  return reading.optional('tokenType', bearer.name, isOffered, `must be one of ${names.join(', ')}.${cure}`)
}

// RFC 6749 8.1 and A.13: a registered name, or a URI.
const isTokenTypeName = (name: string) =>
  /^[\w.-]+$/.test(name) || (/^[\w+.-]+:[!-~]+$/.test(name) && URL.canParse(name))
// RFC 9110 11.1 and 5.6.2: a token.
const isScheme = (scheme: string) => /^[\w!#$%&'*+.^`|~-]+$/.test(scheme)
const areHeaderNames = (value: unknown) => isTexts(value) && value.every(isToken)
const isTokenTypes = (value: unknown): value is readonly TokenType[] =>
  Array.isArray(value) && value.every(isTokenType)
const isTokenType = (value: unknown): value is TokenType =>
  isRecord(value) &&
  isText(value['name']) &&
  isText(value['scheme']) &&
  typeof value['read'] === 'function' &&
  ['issue', 'challenge', 'challengeHeaders', 'lackOfGuard'].every((key) => isAbsentOrFunction(value[key])) &&
  ['opaque', 'isRequired'].every((key) => isAbsentOr(isBoolean, value[key])) &&
  isAbsentOr(isExtensionMetadata, value['resourceMetadata']) &&
  isAbsentOr(isText, value['confirmationMethod']) &&
  isAbsentOr(areHeaderNames, value['exposedHeaders'])

export function resolvePkce(reading: OptionsReader): PkceRequirement {
  return reading.optional('pkce', 'public', isPkceRequirement, "must be 'public', 'all' or 'none'.")
}

const isPkceRequirement = (value: unknown): value is PkceRequirement =>
  value === 'public' || value === 'all' || value === 'none'

const extensionsMessage =
  'must be a list of extensions, each with a name, optionally lists of parameters, metadata and functions.'

export function ofResources(resources: Resources | undefined, usualFormat?: string): readonly Extension[] {
  return resources === undefined ? [] : [resourceIndicators(resources, usualFormat)]
}

const takenNames = [pkceName, resourceIndicatorsName, choicesName]

/** No other extension may have the name of one of the package. */
export const isOwnExtension = ({ name }: Extension): boolean => takenNames.includes(name)

export function resolveExtensions(sources: Sources): readonly Extension[] {
  const taken = new Set([...takenNames, indexName, consentOfferName, responseModeName])
  const all: Extension[] = []
  for (const reading of sources) {
    const given = reading.optional('extensions', [], isExtensions, extensionsMessage)
    for (const [index, { name }] of given.entries()) {
      if (taken.has(name))
        reading.wrong(`extensions[${index}].name`, `is "${name}", which another extension has already.`)
      taken.add(name)
    }
    for (const [index, extension] of given.entries())
      if (publishes(extension) && [...all, ...given.slice(0, index)].some(publishes))
        reading.wrong(
          `extensions[${index}].publishedSubject`,
          'is a function that another extension has already.',
        )
    all.push(...given)
  }
  return Object.freeze(all)
}

const publishes = (extension: Extension) => extension.publishedSubject !== undefined

const hooks = [
  'resolveRequest',
  'atPushedRequest',
  'prepare',
  'atAuthorizationRequest',
  'loginDefaults',
  'atConsent',
  'atResourceOwner',
  'askOwner',
  'atDecision',
  'atRefresh',
  'atTokenRequest',
  'bindsRefreshToken',
  'atTokenResponse',
  'atResourceRequest',
  'publishedSubject',
  'introspect',
  'claims',
  'access',
]
const parameterLists = ['authorizationParameters', 'tokenParameters', 'credentialParameters']
const isExtensions = (value: unknown): value is readonly Extension[] =>
  Array.isArray(value) && value.every(isExtension)
const isExtension = (value: unknown): value is Extension =>
  isRecord(value) &&
  isText(value['name']) &&
  parameterLists.every((key) => isAbsentOr(isParameterNames, value[key])) &&
  isAbsentOr(isScope, value['ignoredScope']) &&
  hooks.every((key) => isAbsentOrFunction(value[key])) &&
  isAbsentOr(areHeaderNames, value['exposedHeaders']) &&
  isAbsentOr(isText, value['confirmationMethod']) &&
  isAbsentOr(isExtensionMetadata, value['metadata'])
// RFC 6749 5.2: an error may name the parameter, so these are the characters of an error.
const isParameterNames = (value: unknown) =>
  isTexts(value) && value.every((name) => /^[\x21\x23-\x5B\x5D-\x7E]+$/.test(name))

export function offeredGrantTypes(
  { resourceOwner, responseTypes, grantTypes }: ServerSettings,
  atTokenEndpoint: readonly string[],
): readonly string[] {
  const ofResponses = responseTypes.flatMap((type) => type.grantTypes)
  const offered = [...new Set([...atTokenEndpoint, ...ofResponses])]
  if (resourceOwner !== undefined) return offered
  // No codes without resource owners: refresh tokens exist only if a grant type of the host issues them.
  const hasRefreshTokens = grantTypes.some(({ refreshTokens = true }) => refreshTokens)
  return offered.filter(
    (name) => !ofResponses.includes(name) && (name !== 'refresh_token' || hasRefreshTokens),
  )
}

/** Whether anything serves public clients, by the method `none`. RFC 6749 4.4: client credentials do not. */
export function takesPublicClients({ resourceOwner, grantTypes, endpoints }: ServerSettings): boolean {
  return (
    resourceOwner !== undefined ||
    endpoints.length > 0 ||
    grantTypes.some(({ publicClients = true }) => publicClients)
  )
}
