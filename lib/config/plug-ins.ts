import type { GrantType } from '../authorization/grant-type'
import { codeResponseType, redirectMethod, type ResponseType } from '../authorization/response-types'
import type { ClientAuthenticationMethod } from '../client-authentication/method'
import type { Resources } from '../extensions/resource-indicators/resources'
import { bearer } from '../extensions/token-types/bearer'
import { aCall, aListOf, aText, aTextThat, oneOf, someCalls, someTexts, yesOrNo } from '../primitives/fields'
import { checked, type Field, kind, optional, type Place, rows, shape, usual } from '../primitives/schema'
import { isText } from '../primitives/values'
import { type AccessTokenFormat, type AccessTokenReader, opaqueFormat } from '../protocol/access-token-format'
import { builtInMethods, type ClientMember, isMemberName } from '../protocol/client'
import { extensionMetadata } from '../protocol/extension-metadata'
import { isToken } from '../protocol/http-authentication'
import { isOwnMember } from '../protocol/parse-client'
import { anOfferedName, cureForOffer } from '../protocol/plug-in-names'
import { canonicalResponseType, isResponseTypeName, type ResponseMode } from '../protocol/response-types'
import type { TokenType } from '../protocol/token-type'
import { isAbsoluteUri } from '../protocol/uri'
import { RefreshFromElsewhere } from '../token-endpoint/grant-types/built-in'
import { headerNames, type Sources } from './doors'
import { listed } from './open-plug-ins'

// RFC 7591 2. The grammar excludes `__proto__`.
const isMethodName = (name: string) => /^[A-Za-z][\x21\x23-\x5B\x5D-\x7E]*$/.test(name)
const signedMethods: ReadonlySet<string> = new Set(['private_key_jwt', 'client_secret_jwt'])

const aScheme = aTextThat('must be an HTTP authentication scheme, such as ApiKey: one word.', isToken)

const algorithms = aListOf(
  (name): name is string => isText(name) && name.toLowerCase() !== 'none',
  'must list the signature algorithms of the assertions, such as ES256, without none.',
)

interface Spelling {
  readonly of: (value: string) => string
  readonly advice: string
}

const exact: Spelling = { of: (value) => value, advice: '' }
const caseless: Spelling = { of: (value) => value.toLowerCase(), advice: ' Letter case does not count.' }
const inAnyOrder: Spelling = {
  of: canonicalResponseType,
  advice: ' The order of the values does not count.',
}

/** Takes each value once; `other` has it already. */
function once(member: string, other: string, own: readonly string[] = [], { of, advice } = exact) {
  const taken = new Set(own.map(of))
  return (value: string, wrong: (member: string, message: string) => void): void => {
    if (taken.has(of(value))) wrong(member, `is "${value}", which ${other} has already.${advice}`)
    taken.add(of(value))
  }
}

const methodShape = shape<ClientAuthenticationMethod>({
  name: aTextThat('must be a name such as private_key_jwt, or an absolute URI.', isMethodName),
  scheme: optional(aScheme),
  byConnection: optional(yesOrNo),
  // RFC 8414 2.
  signingAlgorithms: (given, at, name) =>
    given !== undefined || signedMethods.has(String(at.source['name']))
      ? algorithms(given, at, name)
      : undefined,
  read: aCall(),
  verify: aCall(),
  credentialParameters: optional(someTexts),
  ...someCalls('mistakeIn'),
})

function resolveAuthenticationMethods(sources: Sources): readonly ClientAuthenticationMethod[] {
  const takeName = once('.name', 'another method', builtInMethods)
  const takeScheme = once('.scheme', 'another method', ['basic'], caseless)
  const method = checked(methodShape, ({ name, scheme }, wrong) => {
    takeName(name, wrong)
    if (scheme !== undefined) takeScheme(scheme, wrong)
  })
  return listed(sources, 'clientAuthenticationMethods', rows(method, 'methods'))
}

const memberShape = shape<ClientMember>({
  name: aTextThat('must be a name in lower case.', isMemberName),
  mistakeIn: aCall(),
  ...someCalls('isGranted', 'conflictIn', 'verify', 'subjectFor'),
})

function resolveClientMembers(plugins: Sources): readonly ClientMember[] {
  const takeName = once('.name', 'another plug-in')
  let publishes = false
  const member = checked(memberShape, (given, wrong) => {
    const { name } = given
    if (isOwnMember(name)) wrong('.name', `is "${name}", which every registration has already.`)
    else takeName(name, wrong)
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

const grantTypeShape = shape<GrantType>({
  name: aText,
  parameters: someTexts,
  credentialParameters: optional(someTexts),
  refreshTokens: optional(yesOrNo),
  publicClients: optional(yesOrNo),
  metadata: optional(extensionMetadata),
  handle: aCall(),
  ...someCalls('introspect'),
})

function resolveGrantTypes(sources: Sources): readonly GrantType[] {
  // RFC 6749 4.2: not at the token endpoint.
  const own = [...builtInGrantTypes, 'implicit']
  const takeName = once('.name', 'another grant type', own)
  const grantType = checked(grantTypeShape, (given, wrong) => {
    const { name } = given
    if (given instanceof RefreshFromElsewhere) return
    takeName(name, wrong)
    // RFC 6749 4.5: only a URI avoids a collision.
    if (![...own, 'password'].includes(name) && !isAbsoluteUri(name))
      wrong(
        '.name',
        `is "${name}", but must be an absolute URI, such as https://example.com/oauth/grants/voucher.`,
      )
  })
  return listed(sources, 'grantTypes', rows(grantType, 'grant types, such as password({ verify })'))
}

const responseTypeShape = shape<ResponseType>({
  name: aText,
  grantTypes: someTexts,
  mode: oneOf('query', 'fragment'),
  redirectBy: optional(redirectMethod),
  approve: aCall(),
})

function resolveResponseTypes(sources: Sources): readonly ResponseType[] {
  const takeName = once('.name', 'another response type', [codeResponseType.name], inAnyOrder)
  const responseType = checked(responseTypeShape, ({ name }, wrong) => {
    if (isResponseTypeName(name)) takeName(name, wrong)
    else
      wrong(
        '.name',
        `is "${name}", but must be letters, digits and _; several values, each once, with one space between two.`,
      )
  })
  const given = listed(sources, 'responseTypes', rows(responseType, 'response types, such as implicit()'))
  return Object.freeze([codeResponseType, ...given])
}

const tokenTypeShape = shape<TokenType>({
  name: aText,
  scheme: aText,
  opaque: optional(yesOrNo),
  exposedHeaders: optional(headerNames),
  confirmationMethod: optional(aText),
  isRequired: optional(yesOrNo),
  resourceMetadata: optional(extensionMetadata),
  read: aCall(),
  ...someCalls('issue', 'challenge', 'challengeHeaders', 'lackOfGuard'),
})

// RFC 6749 8.1 and A.13.
const isTokenTypeName = (name: string) =>
  /^[\w.-]+$/.test(name) || (/^[\w+.-]+:[!-~]+$/.test(name) && URL.canParse(name))

/** `bearer` is always the first. */
export function resolveTokenTypes(sources: Sources): readonly TokenType[] {
  const takeName = once('.name', 'another token type', [bearer.name])
  const takeScheme = once('.scheme', 'another token type', [bearer.scheme], caseless)
  const takeMethod = once('.confirmationMethod', 'another token type')
  const tokenType = checked(tokenTypeShape, ({ name, scheme, confirmationMethod }, wrong) => {
    if (isTokenTypeName(name)) takeName(name, wrong)
    else wrong('.name', `is "${name}", but must be letters, digits and . _ -, or an absolute URI.`)
    if (isToken(scheme)) takeScheme(scheme, wrong)
    else wrong('.scheme', `is "${scheme}", which is not the name of an HTTP authentication scheme.`)
    // A guard without the store finds the type by it.
    if (confirmationMethod !== undefined) takeMethod(confirmationMethod, wrong)
  })
  const given = listed(sources, 'tokenTypes', rows(tokenType, 'token types, such as mac({ hosts })'))
  return Object.freeze([bearer, ...given])
}

export function defaultTokenType(types: readonly TokenType[]): Field<string> {
  const names = types.map(({ name }) => name)
  return usual(bearer.name, anOfferedName('a token type', names))
}

const modeShape = shape<ResponseMode>({
  name: aTextThat('must be lower-case letters, digits, _ and .', (name) => /^[a-z\d_.]+$/.test(name)),
  carrier: kind((value) => value === 'form', "must be 'form'."),
})

function resolveResponseModes(parts: Sources): readonly ResponseMode[] {
  const takeName = once('.name', 'the server', ['query', 'fragment'])
  const mode = checked(modeShape, ({ name }, wrong) => takeName(name, wrong))
  return listed(parts, 'responseModes', rows(mode, 'response modes'))
}

const readerFields = { name: aText, decode: aCall(), ...someCalls('read', 'find') }
export const readerShape = shape<AccessTokenReader>(readerFields)
const formatShape = shape<AccessTokenFormat>({
  ...readerFields,
  encode: aCall(),
  issues: optional(yesOrNo),
})

export function resolveFormats<Format extends AccessTokenReader>(
  sources: Sources,
  format: Field<Format | undefined>,
): readonly Format[] {
  const takeName = once('.name', 'another format')
  const distinct = checked(format, ({ name }, wrong) => {
    if (name === opaqueFormat) wrong('.name', `is "${name}", which stands for tokens without a format.`)
    takeName(name, wrong)
  })
  return listed(sources, 'accessTokenFormats', rows(distinct, 'access token formats'))
}

/** Undefined for opaque tokens. */
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

export function resolveParts(at: Place, sources: Sources) {
  const before = at.issues.length
  const clientAuthenticationMethods = resolveAuthenticationMethods(sources)
  return {
    clientAuthenticationMethods,
    areMethodsFaulty: at.issues.length > before,
    clientMembers: resolveClientMembers(sources),
    responseTypes: resolveResponseTypes(sources),
    responseModes: resolveResponseModes(sources),
    tokenTypes: resolveTokenTypes(sources),
    grantTypes: resolveGrantTypes(sources),
    accessTokenFormats: resolveFormats(sources, formatShape),
  }
}
