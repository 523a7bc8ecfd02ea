import { aFlag } from '../primitives/fields'
import { kind, optional } from '../primitives/schema'
import {
  type AuthenticationMethodDescription,
  builtInMethods,
  type Client,
  type ClientRegistration,
  hasCredentialFor,
  isSecretHash,
} from './client'
import { ConfigurationError, type ConfigurationIssue } from '../primitives/configuration-error'
import { OptionsReader } from '../primitives/options-reader'
import { isRecord, isText, isTexts } from '../primitives/values'
import { checkMembers, type ClientMember, readMembers } from './client-member'
import { type LifetimeBounds, longerLifetimes, readClientLifetimes } from './client-lifetimes'
import { readRotation, rotationMistakes } from './client-rotation'
import { isTooLong, largestMembers, longestValues } from './parameters'
import { cureForOffer, anOfferedName } from './plug-in-names'
import { readCredentials } from './read-credentials'
import {
  loopbackUri,
  readRedirection,
  redirectUriFault,
  redirectUriLacks,
  type RedirectUriRule,
} from './redirect-uri'
import { type ResponseTypeDescription, responseTypeNamed } from './response-type'
import { covers, formatScope, parseScope, type Scope } from './scope'
import { isAbsoluteUri, protocolOf } from './uri'

/** Undefined means unknown, and skips the check of registrations. */
export interface ServerCapabilities {
  /** Undefined, too, if the scope of the server is faulty. */
  readonly scope: Scope | undefined
  readonly grantTypes: readonly string[] | undefined
  readonly responseTypes: readonly ResponseTypeDescription[] | undefined
  readonly tokenTypes: readonly string[] | undefined
  readonly redirectUris?: RedirectUriRule | undefined
  /** Besides the built-in ones. */
  readonly authenticationMethods: readonly AuthenticationMethodDescription[] | undefined
  readonly members?: readonly ClientMember[] | undefined
  /** Default: any, and the server shortens what is longer. */
  readonly lifetimes?: LifetimeBounds | undefined
  readonly bindsRefreshTokens?: boolean | undefined
}

export const anyCapabilities: ServerCapabilities = Object.freeze({
  scope: undefined,
  grantTypes: undefined,
  responseTypes: undefined,
  tokenTypes: undefined,
  authenticationMethods: undefined,
})

type ClientType = Client['client_type']
const isClientType = (value: unknown): value is ClientType => value === 'confidential' || value === 'public'
const isName = (value: unknown): value is string => isText(value) && !/\p{Cc}/u.test(value)

/** It may be what a browser repairs, such as letters beyond ASCII. */
export const isWebAddress = (value: unknown): value is string =>
  isText(value) && /^https?:\/\//.test(value) && URL.canParse(value)

export function parseClient(
  source: unknown,
  path: string,
  issues: ConfigurationIssue[],
  capabilities: ServerCapabilities,
): Client {
  const before = issues.length
  const reading = new OptionsReader(withoutAbsent(source), path, issues)
  reading.refuse('deleted', 'is set by deleteClient() alone.')
  const client_id = reading.required('client_id', '', isName, 'must be a text without control characters.')
  if (isTooLong('client_id', client_id))
    reading.wrong('client_id', `must be at most ${longestValues.get('client_id')} characters.`)
  // RFC 6749 2.1: the server makes no assumption about the client type.
  const client_type = reading.required<ClientType>(
    'client_type',
    'public',
    isClientType,
    "must be 'confidential' or 'public'.",
  )
  const grant_types = offeredNames(reading, 'grant_types', ['authorization_code'], capabilities.grantTypes)
  const usesCode = grant_types.includes('authorization_code')
  const page = (key: string) =>
    reading.field(key, optional(kind(isWebAddress, 'must be an http or https URL.')))
  const flag = (key: string) => reading.field(key, aFlag(false))
  const text = (key: string) =>
    reading.field(key, optional(kind(isName, 'must be a text without control characters.')))
  const client: Client = {
    client_id,
    client_type,
    client_secret_hashes: secretHashes(reading),
    credentials: readCredentials(reading, capabilities.authenticationMethods),
    token_endpoint_auth_method: authenticationMethod(reading, capabilities.authenticationMethods),
    ...readRedirection(reading, capabilities.redirectUris),
    post_logout_redirect_uris: logoutUris(reading),
    grant_types,
    response_types: responseTypes(reading, usesCode ? ['code'] : [], capabilities.responseTypes),
    token_type: tokenType(reading, capabilities.tokenTypes),
    scope: registeredScope(reading, capabilities.scope),
    ...readClientLifetimes(reading),
    refresh_token_rotation: readRotation(reading),
    may_introspect: flag('may_introspect'),
    disabled: flag('disabled'),
    client_name: text('client_name'),
    description: text('description'),
    client_uri: page('client_uri'),
    logo_uri: page('logo_uri'),
    policy_uri: page('policy_uri'),
    tos_uri: page('tos_uri'),
    members: readMembers(reading, capabilities.members),
  }
  checkSizes(client, reading)
  if (issues.length === before) checkRules(client, capabilities, reading)
  reading.refuseUnknown()
  return Object.freeze(client)
}

/** What would have no effect is a mistake here, too. A stored registration already works without it. */
export function parseWrittenClient(
  source: unknown,
  path: string,
  issues: ConfigurationIssue[],
  capabilities: ServerCapabilities,
): Client {
  const client = parseClient(source, path, issues, capabilities)
  if (client.logo_uri !== undefined && !isShownLogo(client.logo_uri))
    issues.push({
      path: path === '' ? 'logo_uri' : `${path}.logo_uri`,
      message: 'must be an https URL, because the consent page shows no other logo.',
    })
  const longer = capabilities.lifetimes === undefined ? [] : longerLifetimes(client, capabilities.lifetimes)
  const rotation = rotationMistakes(client, capabilities.bindsRefreshTokens)
  for (const { path: member, message } of [...longer, ...rotation, ...redirectUriLacks(client)])
    issues.push({ path: path === '' ? member : `${path}.${member}`, message })
  return client
}

// Plain http would tell the network who is at the page, and the logo could be replaced on its way.
const isShownLogo = (uri: string) => protocolOf(uri) === 'https:'

// Each request of the client reads its registration, and a store holds it.
function checkSizes(client: Client, reading: OptionsReader): void {
  const sized = {
    ...client,
    scope: formatScope(client.scope),
    credentials: JSON.stringify(client.credentials),
  }
  for (const [name, most] of largestMembers) {
    const member = sized[name]
    if (member !== undefined && member.length > most)
      reading.wrong(name, `must have at most ${most} ${isText(member) ? 'characters' : 'entries'}.`)
  }
}

const isAbsent = (name: string, value: unknown) => value === null || (name === 'deleted' && value === false)

// As a database has them.
function withoutAbsent(source: unknown): unknown {
  if (!isRecord(source)) return source
  return Object.fromEntries(Object.entries(source).filter(([name, value]) => !isAbsent(name, value)))
}

// RFC 6749 3.1.1: the server's own name, because the order of the values means nothing.
function responseTypes(
  reading: OptionsReader,
  fallback: readonly string[],
  known: readonly ResponseTypeDescription[] | undefined,
): readonly string[] {
  const ownName = (name: string) => responseTypeNamed(name, known ?? [])?.name ?? name
  const names = known?.map(({ name }) => name)
  return offeredNames(reading, 'response_types', fallback, names, ownName)
}

function offeredNames(
  reading: OptionsReader,
  key: string,
  fallback: readonly string[],
  known: readonly string[] | undefined,
  ownName = (name: string) => name,
): readonly string[] {
  const listed = reading.optional(key, fallback, isTexts, 'must be a list of names.').map(ownName)
  for (const name of listed)
    if (known !== undefined && !known.includes(name))
      reading.wrong(
        key,
        `lists "${name}", which this server does not offer; it offers ${known.join(', ') || 'none'}.${cureForOffer(name)}`,
      )
  return Object.freeze(listed)
}

/** People bring nothing but `state`, so plain http on loopback is good. */
function logoutUris(reading: OptionsReader): readonly string[] | undefined {
  const key = 'post_logout_redirect_uris'
  const uris = reading.optional<readonly string[] | undefined>(
    key,
    undefined,
    isTexts,
    'must be a list of URIs.',
  )
  for (const [index, uri] of (uris ?? []).entries()) {
    const fault = redirectUriFault(uri, { insecure: false })
    if (fault !== undefined) reading.wrong(`${key}[${index}]`, fault)
  }
  return uris && Object.freeze(uris)
}

function secretHashes(reading: OptionsReader): readonly string[] {
  // Hosts expect it: token requests have it, and generateClientSecret() returns it.
  reading.refuse(
    'client_secret',
    'is the secret itself, which only the client keeps. Register client_secret_hashes instead: a list with the client_secret_hash of generateClientSecret(), or with the result of hashClientSecret() for a chosen secret.',
  )
  const hashes = reading.optional('client_secret_hashes', [], isTexts, 'must be a list of digests.')
  if (!hashes.every(isSecretHash))
    reading.wrong(
      'client_secret_hashes',
      'must hold digests, never secrets: make them with generateClientSecret() or hashClientSecret().',
    )
  return Object.freeze([...hashes])
}

function authenticationMethod(
  reading: OptionsReader,
  added: readonly AuthenticationMethodDescription[] | undefined,
): string | undefined {
  const known = added && [...builtInMethods, ...added.map(({ name }) => name)]
  return reading.field('token_endpoint_auth_method', anOfferedName('a method', known))
}

// RFC 6749 7.1: case-sensitive.
const tokenType = (reading: OptionsReader, known: readonly string[] | undefined) =>
  reading.field('token_type', anOfferedName('a token type', known))

function registeredScope(reading: OptionsReader, known: Scope | undefined): Scope {
  const text = reading.required(
    'scope',
    '',
    isText,
    'must list what the client may ask for, space separated.',
  )
  const scope = parseScope(text)
  if (text !== '' && scope === undefined)
    reading.wrong('scope', 'must be scope tokens with one space between two.')
  const tokens = scope ?? []
  if (known !== undefined && !covers(known, tokens))
    reading.wrong('scope', `names a scope that the server does not have; it has ${known.join(', ')}.`)
  return tokens
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

function checkRules(
  client: Client,
  { responseTypes: offeredResponseTypes, members: ofPlugIns }: ServerCapabilities,
  reading: OptionsReader,
): void {
  const confidential = client.client_type === 'confidential'
  // RFC 6749 2.3 and 4.4: a confidential client has credentials; only such a client may use client_credentials.
  if (confidential && client.client_secret_hashes.length + Object.keys(client.credentials).length === 0)
    reading.wrong(
      'client_secret_hashes',
      'must hold at least one digest, because the client is confidential and has nothing in credentials either.',
    )
  if (!confidential && client.grant_types.includes('client_credentials'))
    reading.wrong(
      'grant_types',
      'cannot hold client_credentials, which RFC 6749 4.4 gives to confidential clients only.',
    )
  // RFC 6749 3.1.2.2: public clients must register redirection URIs; here, every client of the authorization endpoint.
  // RFC 8628: a public client with an extension grant alone may be a device.
  const needsUri =
    client.response_types.length > 0 || (!confidential && !client.grant_types.some(isAbsoluteUri))
  if (client.redirect_uris.length === 0 && needsUri)
    reading.wrong(
      'redirect_uris',
      'must hold at least one URI for a client that uses the authorization endpoint, or is public without an extension grant.',
    )
  // RFC 7662 2.1: without credentials, anybody could try tokens out.
  if (!confidential && client.may_introspect)
    reading.wrong('may_introspect', 'cannot be true for a public client, which does not authenticate.')
  checkResponseTypes(client, offeredResponseTypes, reading)
  checkMethod(client, reading)
  checkRedirection(client, reading)
  checkMembers(client, ofPlugIns, reading)
}

// RFC 6749 1.3: these grants begin at the authorization endpoint.
const grantsOfResponses = ['authorization_code', 'implicit']

const wellKnown: readonly ResponseTypeDescription[] = [
  { name: 'code', grantTypes: ['authorization_code'] },
  { name: 'token', grantTypes: ['implicit'] },
]

// RFC 7591 2.1: a response type needs its grant types.
function checkResponseTypes(
  { grant_types, response_types }: Client,
  offered: readonly ResponseTypeDescription[] | undefined,
  reading: OptionsReader,
): void {
  const known = offered ?? wellKnown
  const used = known.filter(({ name }) => response_types.includes(name))
  for (const { name, grantTypes } of used)
    for (const grantType of grantTypes)
      if (!grant_types.includes(grantType))
        reading.wrong('grant_types', `must hold ${grantType}, because response_types holds ${name}.`)
  // It may belong to the grant type.
  if (offered === undefined && used.length < response_types.length) return
  for (const grantType of grantsOfResponses) {
    const bringing = (type: ResponseTypeDescription) => type.grantTypes.includes(grantType)
    if (!grant_types.includes(grantType) || used.some(bringing)) continue
    const names = known.filter(bringing).map(({ name }) => name)
    reading.wrong(
      'response_types',
      `must hold ${names.join(' or ')}, because grant_types holds ${grantType}.`,
    )
  }
}

// RFC 6749 3.2.1: a client with credentials authenticates on every token request.
function checkMethod(client: Client, reading: OptionsReader): void {
  const method = client.token_endpoint_auth_method
  if (method === undefined || hasCredentialFor(method, client)) return
  const lack = method === 'none' ? 'has to authenticate' : 'has no credential for it'
  reading.wrong('token_endpoint_auth_method', `cannot be '${method}', because the client ${lack}.`)
}

function checkRedirection(client: Client, reading: OptionsReader): void {
  const { client_type, redirect_uris, loopback_redirect_uris, dynamic_redirect_query } = client
  // RFC 8252 8.4 and 8.5: loopback is for native apps, which are public clients.
  if (loopback_redirect_uris && client_type === 'confidential')
    reading.wrong('loopback_redirect_uris', 'is for native apps, which are public; remove it.')
  if (loopback_redirect_uris && !redirect_uris.some((uri) => loopbackUri(uri) !== undefined))
    reading.wrong(
      'loopback_redirect_uris',
      'needs a redirect URI such as http://127.0.0.1/callback or http://[::1]/callback; localhost does not count.',
    )
  // RFC 6749 3.1.2.2: each request chooses the query.
  for (const [index, uri] of redirect_uris.entries())
    if (dynamic_redirect_query && uri.includes('?'))
      reading.wrong(
        `redirect_uris[${index}]`,
        'must not have a query, because dynamic_redirect_query leaves it to the request; remove the ? and what follows it.',
      )
}
