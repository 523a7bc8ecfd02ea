import type { GrantType } from '../authorization/grant-type'
import { codeResponseType, redirectMethod, type ResponseType } from '../authorization/response-types'
import type { ClientAuthenticationMethod } from '../client-authentication/method'
import type { PkceRequirement } from '../extensions/pkce'
import type { Resources } from '../extensions/resource-indicators/resources'
import { bearer } from '../extensions/token-types/bearer'
import { aCall, aListOf, aText, oneOf, someCalls, someTexts, yesOrNo } from '../primitives/fields'
import { checked, type Field, kind, optional, type Place, rows, shape, usual } from '../primitives/schema'
import { isText } from '../primitives/values'
import { type AccessTokenFormat, type AccessTokenReader, opaqueFormat } from '../protocol/access-token-format'
import { builtInMethods, type ClientMember, isMemberName } from '../protocol/client'
import { extensionMetadata } from '../protocol/extension-metadata'
import { isToken } from '../protocol/http-authentication'
import { isOwnMember } from '../protocol/parse-client'
import { anOfferedName, cureForOffer } from '../protocol/plug-in-names'
import { isResponseTypeName, type ResponseMode, responseTypeNamed } from '../protocol/response-types'
import type { TokenType } from '../protocol/token-type'
import { isAbsoluteUri } from '../protocol/uri'
import { RefreshFromElsewhere } from '../token-endpoint/grant-types/built-in'
import { headerNames, type Sources } from './doors'
import { listed } from './open-plug-ins'
import type { ServerSettings } from './settings'

// RFC 7591 2: a registered name or an absolute URI. The grammar excludes `__proto__`.
const nameGrammar = /^[A-Za-z][\x21\x23-\x5B\x5D-\x7E]*$/
const signedMethods: ReadonlySet<string> = new Set(['private_key_jwt', 'client_secret_jwt'])

const aScheme = kind(
  (value) => isText(value) && isToken(value),
  'must be an HTTP authentication scheme, such as ApiKey: one word.',
)

const algorithms = aListOf(
  (name): name is string => isText(name) && name.toLowerCase() !== 'none',
  'must list the signature algorithms of the assertions, such as ES256, without none.',
)

const methodShape = shape<ClientAuthenticationMethod>(
  {
    name: kind(
      (value) => isText(value) && nameGrammar.test(value),
      'must be a name such as private_key_jwt, or an absolute URI.',
    ),
    scheme: optional(aScheme),
    byConnection: optional(yesOrNo),
    // RFC 8414 2: a method with signed assertions must list its algorithms, without `none`.
    signingAlgorithms: (given, at, name) =>
      given !== undefined || signedMethods.has(String(at.source['name']))
        ? algorithms(given, at, name)
        : undefined,
    read: aCall(),
    verify: aCall(),
    credentialParameters: optional(someTexts),
    ...someCalls('mistakeIn'),
  },
  'ignored',
)

export function resolveAuthenticationMethods(sources: Sources): readonly ClientAuthenticationMethod[] {
  const names = new Set(builtInMethods)
  const schemes = new Set(['basic'])
  const method = checked(methodShape, ({ name, scheme }, wrong) => {
    if (names.has(name)) wrong('.name', `is "${name}", which another method has already.`)
    names.add(name)
    if (scheme === undefined) return
    if (schemes.has(scheme.toLowerCase()))
      wrong('.scheme', `is "${scheme}", which another method has already. Letter case does not count.`)
    schemes.add(scheme.toLowerCase())
  })
  return listed(sources, 'clientAuthenticationMethods', rows(method, 'methods'))
}

const memberShape = shape<ClientMember>(
  {
    name: kind((value) => isText(value) && isMemberName(value), 'must be a name in lower case.'),
    mistakeIn: aCall(),
    ...someCalls('isGranted', 'conflictIn', 'verify', 'subjectFor'),
  },
  'ignored',
)

export function resolveClientMembers(plugins: Sources): readonly ClientMember[] {
  const names = new Set<string>()
  let publishes = false
  const member = checked(memberShape, (given, wrong) => {
    const { name } = given
    if (isOwnMember(name)) wrong('.name', `is "${name}", which every registration has already.`)
    else if (names.has(name)) wrong('.name', `is "${name}", which another plug-in adds already.`)
    names.add(name)
    if (given.subjectFor === undefined) return
    if (publishes) wrong('.subjectFor', 'is a function that another member has already.')
    publishes = true
  })
  return listed(plugins, 'clientMembers', rows(member, 'members of registrations'))
}

export const builtInGrantTypes: readonly string[] = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
]

const grantTypeShape = shape<GrantType>(
  {
    name: aText,
    parameters: someTexts,
    credentialParameters: optional(someTexts),
    refreshTokens: optional(yesOrNo),
    publicClients: optional(yesOrNo),
    metadata: optional(extensionMetadata),
    handle: aCall(),
    ...someCalls('introspect'),
  },
  'ignored',
)

export function resolveGrantTypes(sources: Sources): readonly GrantType[] {
  // RFC 6749 4.2: implicit does not use the token endpoint.
  const taken = new Set([...builtInGrantTypes, 'implicit'])
  const grantType = checked(grantTypeShape, (given, wrong) => {
    const { name } = given
    if (given instanceof RefreshFromElsewhere) return
    if (taken.has(name)) wrong('.name', `is "${name}", which another grant type has already.`)
    // RFC 6749 4.5: only a URI avoids a collision with a name used elsewhere.
    else if (name !== 'password' && !isAbsoluteUri(name))
      wrong(
        '.name',
        `is "${name}", but must be an absolute URI, such as https://example.com/oauth/grants/voucher.`,
      )
    taken.add(name)
  })
  return listed(sources, 'grantTypes', rows(grantType, 'grant types, such as password({ verify })'))
}

const responseTypeShape = shape<ResponseType>(
  {
    name: aText,
    grantTypes: someTexts,
    mode: oneOf('query', 'fragment'),
    redirectBy: optional(redirectMethod),
    approve: aCall(),
  },
  'ignored',
)

export function resolveResponseTypes(sources: Sources): readonly ResponseType[] {
  const types = [codeResponseType]
  const responseType = checked(responseTypeShape, (type, wrong) => {
    if (!isResponseTypeName(type.name))
      wrong(
        '.name',
        `is "${type.name}", but must be letters, digits and _; several values, each once, with one space between two.`,
      )
    else if (responseTypeNamed(type.name, types) === undefined) types.push(type)
    else
      wrong(
        '.name',
        `is "${type.name}", which another response type has already. The order of the values does not count.`,
      )
  })
  listed(sources, 'responseTypes', rows(responseType, 'response types, such as implicit()'))
  return Object.freeze(types)
}

const tokenTypeShape = shape<TokenType>(
  {
    name: aText,
    scheme: aText,
    opaque: optional(yesOrNo),
    exposedHeaders: optional(headerNames),
    confirmationMethod: optional(aText),
    isRequired: optional(yesOrNo),
    resourceMetadata: optional(extensionMetadata),
    read: aCall(),
    ...someCalls('issue', 'challenge', 'challengeHeaders', 'lackOfGuard'),
  },
  'ignored',
)

// RFC 6749 8.1 and A.13: a registered name, or a URI.
const isTokenTypeName = (name: string) =>
  /^[\w.-]+$/.test(name) || (/^[\w+.-]+:[!-~]+$/.test(name) && URL.canParse(name))

/** `bearer` is always the first. */
export function resolveTokenTypes(sources: Sources): readonly TokenType[] {
  const types = [bearer]
  const tokenType = checked(tokenTypeShape, (type, wrong) => {
    const isTaken = (has: (other: TokenType) => boolean) => types.some(has)
    if (!isTokenTypeName(type.name))
      wrong('.name', `is "${type.name}", but must be letters, digits and . _ -, or an absolute URI.`)
    else if (isTaken(({ name }) => name === type.name))
      wrong('.name', `is "${type.name}", which another token type has already.`)
    if (!isToken(type.scheme))
      wrong('.scheme', `is "${type.scheme}", which is not the name of an HTTP authentication scheme.`)
    else if (isTaken(({ scheme }) => scheme.toLowerCase() === type.scheme.toLowerCase()))
      wrong(
        '.scheme',
        `is "${type.scheme}", which another token type has already. Letter case does not count.`,
      )
    // A guard without the store finds the type by it.
    const method = type.confirmationMethod
    if (method !== undefined && isTaken(({ confirmationMethod }) => confirmationMethod === method))
      wrong('.confirmationMethod', `is "${method}", which another token type has already.`)
    types.push(type)
  })
  listed(sources, 'tokenTypes', rows(tokenType, 'token types, such as mac({ hosts })'))
  return Object.freeze(types)
}

export function defaultTokenType(types: readonly TokenType[]): Field<string> {
  const names = types.map(({ name }) => name)
  return usual(bearer.name, anOfferedName('a token type', names))
}

export const pkceOption = usual<PkceRequirement>('public', oneOf('public', 'all', 'none'))

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

const modeShape = shape<ResponseMode>(
  {
    name: kind(
      (value) => isText(value) && /^[a-z\d_.]+$/.test(value),
      'must be lower-case letters, digits, _ and .',
    ),
    carrier: kind((value) => value === 'form', "must be 'form'."),
  },
  'ignored',
)

export function resolveResponseModes(parts: Sources): readonly ResponseMode[] {
  const taken = new Set(['query', 'fragment'])
  const mode = checked(modeShape, ({ name }, wrong) => {
    if (taken.has(name)) wrong('.name', `is "${name}", which the server has already.`)
    taken.add(name)
  })
  return listed(parts, 'responseModes', rows(mode, 'response modes'))
}

const readerFields = { name: aText, decode: aCall(), ...someCalls('read', 'find') }
const readerShape = shape<AccessTokenReader>(readerFields, 'ignored')
const formatShape = shape<AccessTokenFormat>(
  { ...readerFields, encode: aCall(), issues: optional(yesOrNo) },
  'ignored',
)

export const resolveFormats = (sources: Sources): readonly AccessTokenFormat[] =>
  resolved(sources, formatShape)

/** For guards, which write no token. */
export const resolveReaders = (sources: Sources): readonly AccessTokenReader[] =>
  resolved(sources, readerShape)

function resolved<Format extends AccessTokenReader>(
  sources: Sources,
  format: Field<Format | undefined>,
): readonly Format[] {
  const taken = new Set<string>()
  const distinct = checked(format, ({ name }, wrong) => {
    if (name === opaqueFormat) wrong('.name', `is "${name}", which stands for tokens without a format.`)
    else if (taken.has(name)) wrong('.name', `is "${name}", which another format has already.`)
    taken.add(name)
  })
  return listed(sources, 'accessTokenFormats', rows(distinct, 'access token formats'))
}

/** The format of new tokens for which nothing chooses one; undefined for opaque tokens. */
export function usualFormatOf(formats: readonly AccessTokenFormat[]): string | undefined {
  return formats.find(({ issues = true }) => issues)?.name
}

export function checkFormatsOf(
  at: Place,
  resources: Resources | undefined,
  formats: readonly AccessTokenFormat[],
): void {
  const written = formats.filter((format) => format.find === undefined)
  const names = [...written.map(({ name }) => name), opaqueFormat]
  for (const { uri, accessTokenFormat } of resources?.all ?? [])
    if (accessTokenFormat !== undefined && !names.includes(accessTokenFormat))
      at.wrong(
        `resources["${uri}"].accessTokenFormat`,
        `is "${accessTokenFormat}", but must be one of ${names.join(', ')}.${cureForOffer(accessTokenFormat)}`,
      )
}
