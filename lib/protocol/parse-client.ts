import { aFlag, aText, aWhole, oneOf, yesOrNo } from '../primitives/fields'
import {
  checked,
  type Field,
  type Fields,
  kind,
  needed,
  optional,
  Place,
  rows,
  usual,
} from '../primitives/schema'
import {
  type AuthenticationMethodDescription,
  builtInMethods,
  type Client,
  type ClientMember,
  type ClientRegistration,
  hasCredentialFor,
  isForeignDigest,
  isSecretHash,
  usualGrantTypes,
  usualResponseTypes,
} from './client'
import { checkMembers, credentialsOf, possibleMembers, readMembers } from './client-members'
import { ConfigurationError, type ConfigurationIssue } from '../primitives/configuration-error'
import { isRecord, isText, tenYears } from '../primitives/values'
import { isTooLong, largestMembers, longestValues } from './parameters'
import { membersOfOthers, anOfferedName, offeredNames } from './plug-in-names'
import { loopbackUri, redirection, redirectUriLack, type RedirectUriRule } from './redirect-uri'
import { type ResponseTypeDescription, responseTypeNamed } from './response-types'
import { covers, formatScope, parseScope, type Scope } from './scope'
import { isAbsoluteUri, protocolOf } from './uri'

/** Undefined means unknown: no check. */
export interface ServerCapabilities {
  readonly scope: Scope | undefined
  readonly grantTypes: readonly string[] | undefined
  readonly responseTypes: readonly ResponseTypeDescription[] | undefined
  readonly tokenTypes: readonly string[] | undefined
  readonly redirectUris?: RedirectUriRule | undefined
  readonly authenticationMethods: readonly AuthenticationMethodDescription[] | undefined
  readonly members?: readonly ClientMember[] | undefined
  /** Default: any, and the server shortens longer ones. */
  readonly lifetimes?: Readonly<Partial<Record<(typeof bounds)[number][1], number | undefined>>> | undefined
  readonly bindsRefreshTokens?: boolean | undefined
  readonly verifiesDigests?: boolean | undefined
}

type Reading = Place<ServerCapabilities>

export const anyCapabilities: ServerCapabilities = Object.freeze({
  scope: undefined,
  grantTypes: undefined,
  responseTypes: undefined,
  tokenTypes: undefined,
  authenticationMethods: undefined,
})

const isName = (value: unknown): value is string => isText(value) && !/\p{Cc}/u.test(value)

/** Also what a browser repairs, such as letters beyond ASCII. */
export const isWebAddress = (value: unknown): value is string =>
  isText(value) && /^https?:\/\//.test(value) && URL.canParse(value)

const aName = kind(isName, 'must be a text without control characters.')
const aPage = optional(kind(isWebAddress, 'must be an http or https URL.'))
const aLifetime = optional(aWhole(1, tenYears))

const aSecretHash = kind(
  (value, { verifiesDigests = true }: ServerCapabilities): value is string =>
    isText(value) && (isSecretHash(value) || (verifiesDigests && isForeignDigest(value))),
  'must be a digest, never the secret: make it with generateClientSecret() or hashClientSecret(). A digest of another server has 32 to 512 printable characters, and needs a server with the option verifyDigest.',
)

const registeredScope: Field<Scope, ServerCapabilities> = (given, at, name) => {
  const text = kind(isText, 'must list what the client may ask for, space separated.')(given, at, name)
  const scope = text === undefined ? [] : parseScope(text)
  if (scope === undefined) at.wrong(name, 'must be scope tokens with one space between two.')
  const { scope: known } = at.context
  const lacking = scope?.find((token) => known?.includes(token) === false)
  if (lacking !== undefined)
    at.wrong(name, `names a scope that the server does not have, "${lacking}"; it has ${known?.join(', ')}.`)
  return scope ?? []
}

export const allowedScope: Field<Scope, ServerCapabilities> = (given, at, name) => {
  const { scope: known = [] } = at.context
  const text = optional(aText)(given, at, name)
  if (text === undefined) return known
  const scope = parseScope(text)
  if (scope === undefined || (at.context.scope !== undefined && !covers(known, scope)))
    at.wrong(name, `must hold scopes of this server: ${known.join(', ')}.`)
  return scope ?? []
}

export const allowedGrantTypes = usual(
  [...usualGrantTypes, 'refresh_token'],
  offeredNames('grant types', ({ grantTypes }: ServerCapabilities) => grantTypes),
)

const registration = {
  client_id: needed(
    '',
    checked(aName, (id, wrong) => {
      if (isTooLong('client_id', id))
        wrong('', `must be at most ${longestValues.get('client_id')} characters.`)
    }),
  ),
  // RFC 6749 2.1: no assumption about the client type.
  client_type: needed('public', oneOf('confidential', 'public')),
  client_secret_hashes: (given, at, name) => Object.freeze(rows(aSecretHash, 'digests')(given, at, name)),
  credentials: credentialsOf,
  token_endpoint_auth_method: (given, at, name) => {
    const added = at.context.authenticationMethods?.map((method) => method.name)
    return anOfferedName('a method', added && [...builtInMethods, ...added])(given, at, name)
  },
  ...redirection,
  grant_types: usual(
    usualGrantTypes,
    offeredNames('names', ({ grantTypes }) => grantTypes),
  ),
  // RFC 6749 3.1.1: the server's own order of the values.
  response_types: optional(
    offeredNames(
      'names',
      ({ responseTypes }) => responseTypes?.map(({ name }) => name),
      (name, { responseTypes = [] }) => responseTypeNamed(name, responseTypes)?.name ?? name,
    ),
  ),
  token_type: (given, at, name) => anOfferedName('a token type', at.context.tokenTypes)(given, at, name),
  scope: registeredScope,
  access_token_lifetime: aLifetime,
  refresh_token_lifetime: aLifetime,
  grant_lifetime: aLifetime,
  refresh_token_rotation: optional(yesOrNo),
  may_introspect: aFlag(false),
  disabled: aFlag(false),
  client_name: optional(aName),
  description: optional(aName),
  client_uri: aPage,
  logo_uri: aPage,
  policy_uri: aPage,
  tos_uri: aPage,
} satisfies Fields<
  Omit<Client, 'members' | 'deleted' | 'selfRegistered' | 'metadataDocument'>,
  ServerCapabilities
>

const ownNames = Object.keys(registration)

// What the package adds to a registration, or to what a client states.
const addedNames = new Set(
  'members deleted selfRegistered metadataDocument client_secret client_secret_expires_at client_id_issued_at registration_access_token registration_client_uri'.split(
    ' ',
  ),
)

export const isOwnMember = (name: string): boolean => ownNames.includes(name) || addedNames.has(name)

// What hosts expect: deleteClient() writes the one, generateClientSecret() returns the other.
const refusedMembers = [
  ['deleted', 'is set by deleteClient() alone.'],
  [
    'client_secret',
    'is the secret itself, which only the client keeps. Register client_secret_hashes instead: a list with the client_secret_hash of generateClientSecret(), or with the result of hashClientSecret() for a chosen secret.',
  ],
] as const

export function parseClient(
  source: unknown,
  path: string,
  issues: ConfigurationIssue[],
  capabilities: ServerCapabilities,
): Client {
  const before = issues.length
  const at = new Place({}, path, capabilities, issues).inside(withoutAbsent(source), '')
  const added = capabilities.members?.map(({ name }) => name)
  const refused = new Map([...refusedMembers, ...(added === undefined ? [] : membersOfOthers(added))])
  const names = added ?? possibleMembers(at.source, ownNames).filter((name) => !refused.has(name))
  const { response_types, ...read } = at.read(registration)
  const client: Client = {
    ...read,
    response_types: response_types ?? Object.freeze(usualResponseTypes(read.grant_types)),
    members: readMembers(at, names),
  }
  checkSizes(client, at)
  at.refuseUnknown([...ownNames, ...names], refused)
  if (issues.length === before) checkRules(client, at)
  return Object.freeze(client)
}

/** Also refuses what would have no effect: a stored registration works without it. */
export function parseWrittenClient(
  source: unknown,
  path: string,
  issues: ConfigurationIssue[],
  capabilities: ServerCapabilities,
): Client {
  const client = parseClient(source, path, issues, capabilities)
  const { lifetimes, bindsRefreshTokens } = capabilities
  const at = new Place({}, path, capabilities, issues)
  // Over http, the network sees who is at the page, and may replace the logo.
  if (client.logo_uri !== undefined && protocolOf(client.logo_uri) !== 'https:')
    at.wrong('logo_uri', 'must be an https URL, because the consent page shows no other logo.')
  for (const [member, option] of bounds) {
    const [own = 0, most = Infinity] = [client[member], lifetimes?.[option]]
    if (own > most) at.wrong(member, `must be at most ${most}, lifetimes.${option} of the server.`)
  }
  const keepsTokens = client.refresh_token_rotation === false && client.client_type === 'public'
  if (keepsTokens && bindsRefreshTokens === false)
    at.wrong(
      'refresh_token_rotation',
      'must not be false for a public client here: no extension binds its refresh tokens to a key, so they rotate (RFC 9700 2.2.2).',
    )
  for (const member of ['redirect_uris', 'post_logout_redirect_uris'] as const)
    for (const [index, uri] of (client[member] ?? []).entries()) {
      const lack = URL.canParse(uri) ? redirectUriLack(uri) : undefined
      if (lack !== undefined) at.wrong(`${member}[${index}]`, lack)
    }
  return client
}

const bounds = [
  ['access_token_lifetime', 'accessToken'],
  ['refresh_token_lifetime', 'refreshToken'],
  ['grant_lifetime', 'grant'],
] as const

function checkSizes(client: Client, at: Reading): void {
  const sized = {
    ...client,
    scope: formatScope(client.scope),
    credentials: JSON.stringify(client.credentials),
  }
  for (const [name, most] of largestMembers) {
    const member = sized[name]
    if (member !== undefined && member.length > most)
      at.wrong(name, `must have at most ${most} ${isText(member) ? 'characters' : 'entries'}.`)
  }
}

const isAbsent = (name: string, value: unknown) => value === null || (name === 'deleted' && value === false)

function withoutAbsent(source: unknown): unknown {
  if (!isRecord(source)) return source
  return Object.fromEntries(Object.entries(source).filter(([name, value]) => !isAbsent(name, value)))
}

export function parseStoredClient(source: unknown, capabilities: ServerCapabilities): Client {
  const issues: ConfigurationIssue[] = []
  const client = parseClient(source, 'registration', issues, capabilities)
  if (issues.length > 0) throw new ConfigurationError('A registration of a client cannot work:', issues)
  return client
}

export function deletedClient(client_id: string): Client {
  const grant_types = ['urn:none']
  const rest = { client_id, client_type: 'public', grant_types, scope: 'none', disabled: true }
  const client = parseStoredClient(rest, anyCapabilities)
  return Object.freeze({ ...client, grant_types: [], scope: [], deleted: true as const })
}

export function registrationOf({ members, ...client }: Client): ClientRegistration {
  return { ...members, ...client, scope: client.scope.join(' ') }
}

function checkRules(client: Client, at: Reading): void {
  const confidential = client.client_type === 'confidential'
  // RFC 6749 2.3 and 4.4.
  if (confidential && client.client_secret_hashes.length + Object.keys(client.credentials).length === 0)
    at.wrong(
      'client_secret_hashes',
      'must hold at least one digest, because the client is confidential and has nothing in credentials either.',
    )
  if (!confidential && client.grant_types.includes('client_credentials'))
    at.wrong(
      'grant_types',
      'cannot hold client_credentials, which RFC 6749 4.4 gives to confidential clients only.',
    )
  // RFC 6749 3.1.2.2, here for every client of the authorization endpoint. RFC 8628: a public client with an extension
  // grant alone may be a device.
  const needsUri =
    client.response_types.length > 0 || (!confidential && !client.grant_types.some(isAbsoluteUri))
  if (client.redirect_uris.length === 0 && needsUri)
    at.wrong(
      'redirect_uris',
      'must hold at least one URI for a client that uses the authorization endpoint, or is public without an extension grant.',
    )
  // RFC 7662 2.1: without credentials, anybody could try tokens out.
  if (!confidential && client.may_introspect)
    at.wrong('may_introspect', 'cannot be true for a public client, which does not authenticate.')
  checkResponseTypes(client, at)
  checkMethod(client, at)
  checkRedirection(client, at)
  checkMembers(client, at)
}

// RFC 6749 1.3: these grants begin at the authorization endpoint.
const grantsOfResponses = ['authorization_code', 'implicit']

const wellKnown: readonly ResponseTypeDescription[] = [
  { name: 'code', grantTypes: ['authorization_code'] },
  { name: 'token', grantTypes: ['implicit'] },
]

// RFC 7591 2.1: a response type needs its grant types.
function checkResponseTypes({ grant_types, response_types }: Client, at: Reading): void {
  const { responseTypes: offered } = at.context
  const known = offered ?? wellKnown
  const used = known.filter(({ name }) => response_types.includes(name))
  for (const { name, grantTypes } of used)
    for (const grantType of grantTypes)
      if (!grant_types.includes(grantType))
        at.wrong('grant_types', `must hold ${grantType}, because response_types holds ${name}.`)
  // It may belong to the grant type.
  if (offered === undefined && used.length < response_types.length) return
  for (const grantType of grantsOfResponses) {
    const bringing = (type: ResponseTypeDescription) => type.grantTypes.includes(grantType)
    if (!grant_types.includes(grantType) || used.some(bringing)) continue
    const names = known.filter(bringing).map(({ name }) => name)
    at.wrong('response_types', `must hold ${names.join(' or ')}, because grant_types holds ${grantType}.`)
  }
}

// RFC 6749 3.2.1.
function checkMethod(client: Client, at: Reading): void {
  const method = client.token_endpoint_auth_method
  if (method === undefined || hasCredentialFor(method, client)) return
  const lack = method === 'none' ? 'has to authenticate' : 'has no credential for it'
  at.wrong('token_endpoint_auth_method', `cannot be '${method}', because the client ${lack}.`)
}

function checkRedirection(client: Client, at: Reading): void {
  const { client_type, redirect_uris, loopback_redirect_uris, dynamic_redirect_query } = client
  // RFC 8252 8.4 and 8.5.
  if (loopback_redirect_uris && client_type === 'confidential')
    at.wrong('loopback_redirect_uris', 'is for native apps, which are public; remove it.')
  if (loopback_redirect_uris && !redirect_uris.some((uri) => loopbackUri(uri) !== undefined))
    at.wrong(
      'loopback_redirect_uris',
      'needs a redirect URI such as http://127.0.0.1/callback or http://[::1]/callback; localhost does not count.',
    )
  // RFC 6749 3.1.2.2: each request chooses the query.
  for (const [index, uri] of redirect_uris.entries())
    if (dynamic_redirect_query && uri.includes('?'))
      at.wrong(
        `redirect_uris[${index}]`,
        'must not have a query, because dynamic_redirect_query leaves it to the request; remove the ? and what follows it.',
      )
}
