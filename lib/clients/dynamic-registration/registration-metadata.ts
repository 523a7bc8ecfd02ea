import {
  type Client,
  type ClientRegistration,
  usualGrantTypes,
  usualResponseTypes,
} from '../../protocol/client'
import {
  allowedLogoutUris,
  allowedRedirectUris,
  fittingResponseTypes,
  grantedTypes,
  isNativeApp,
  offersPrivateKeyJwt,
  privateKeyJwtName,
} from '../../protocol/client-metadata'
import { type DocumentFetch, mistakeInStatement } from '../document-fetch/document-fetch'
import { DocumentUnavailable } from '../document-fetch/document-unavailable'
import type { Sender } from '../../protocol/sender'
import type { ConfigurationIssue } from '../../primitives/configuration-error'
import { isList, isRecord, isText } from '../../primitives/values'
import { isQuotable } from '../../protocol/http-authentication'
import { isKeepable, type Json } from '../../protocol/json'
import type { OAuthError } from '../../protocol/oauth-error'
import { refused } from '../../protocol/refusals'
import { parseClient, type ServerCapabilities } from '../../protocol/parse-client'
import { formatScope, parseScope, type Scope } from '../../protocol/scope'
import { isAbsoluteUri, namesHost, protocolOf } from '../../protocol/uri'

/** RFC 7591 2, in canonical form: members in fixed order, lists sorted and without repetitions. */
export interface RegisteredMetadata {
  /**
   * If missing, the client may use `client_secret_basic`, the default of RFC 7591 2, and
   * `client_secret_post`, because some libraries use it in any case.
   */
  readonly token_endpoint_auth_method?: string
  readonly redirect_uris?: readonly string[]
  readonly post_logout_redirect_uris?: readonly string[]
  readonly grant_types: readonly string[]
  readonly response_types: readonly string[]
  readonly scope: string
  readonly client_name?: string
  readonly client_uri?: string
  readonly logo_uri?: string
  readonly policy_uri?: string
  readonly tos_uri?: string
  readonly jwks?: Json
  readonly jwks_uri?: string
  /** Lists keep their order, which may have a meaning. */
  readonly members?: Client['members']
}

export interface RegistrationPolicy {
  readonly capabilities: ServerCapabilities
  readonly scope: Scope
  readonly registerAllScopes: boolean
  readonly grantTypes: readonly string[]
}

const secretMethods: ReadonlySet<string> = new Set(['client_secret_basic', 'client_secret_post'])

export const usesSecret = ({ token_endpoint_auth_method: method }: RegisteredMetadata): boolean =>
  method === undefined || secretMethods.has(method)

// Strangers fill the store.
const longest = 16_384
const longestUri = 2048
// A longer list would only cost time.
const longestList = 100

/**
 * RFC 7591 2: ignores unknown members, also a software statement. RFC 7591 3.2.1: drops what such clients
 * cannot have, and the response says what is registered. RFC 7592 2.2: null and empty values count as
 * omitted.
 */
export function readClientMetadata(json: unknown, policy: RegistrationPolicy): RegisteredMetadata {
  if (!isRecord(json)) throw refused('client_metadata_malformed')
  const metadata = canonical(new Members(json), policy)
  if (JSON.stringify(metadata).length > longest) throw refused('client_metadata_too_large')
  checkRegistration(metadata, policy.capabilities)
  return metadata
}

function canonical(members: Members, policy: RegistrationPolicy): RegisteredMetadata {
  const { capabilities } = policy
  const method = authenticationMethod(members, capabilities)
  const askedTypes = members.texts('grant_types') ?? usualGrantTypes
  const granted = grantedTypes(askedTypes, policy.grantTypes, clientTypeBy(method))
  if (granted === undefined) throw memberRefused('grant_types')
  const texts: { -readonly [Name in TextMember]?: string } = {}
  for (const name of textMembers) {
    const value = members.text(name)
    if (value !== undefined) texts[name] = value
  }
  const askedUris = members.texts('redirect_uris') ?? []
  const redirectUris = sorted(allowedRedirectUris(askedUris, capabilities))
  if (redirectUris.length === 0 && askedUris.length > 0) throw memberRefused('redirect_uris')
  const logoutUris = sorted(allowedLogoutUris(members.texts('post_logout_redirect_uris') ?? []))
  const responseTypes = members.texts('response_types') ?? usualResponseTypes(granted)
  return {
    ...(method === undefined ? {} : { token_endpoint_auth_method: method }),
    ...(redirectUris.length === 0 ? {} : { redirect_uris: redirectUris }),
    ...(logoutUris.length === 0 ? {} : { post_logout_redirect_uris: logoutUris }),
    grant_types: sorted(granted),
    response_types: sorted(fittingResponseTypes(responseTypes, granted, capabilities)),
    scope: scopeOf(members, policy),
    ...texts,
    ...(method === privateKeyJwtName ? keysOf(members) : {}),
    ...membersOfPlugIns(members, capabilities),
  }
}

function membersOfPlugIns(
  members: Members,
  { members: added = [] }: ServerCapabilities,
): Pick<RegisteredMetadata, 'members'> {
  const stated = added.flatMap((member): [string, Json][] => {
    const value = members.json(member.name)
    return value === undefined || member.isGranted?.(value) === false ? [] : [[member.name, inOrder(value)]]
  })
  return stated.length === 0 ? {} : { members: Object.fromEntries(stated.toSorted(byName)) }
}

const byName = ([one]: [string, unknown], [other]: [string, unknown]) => (one < other ? -1 : 1)

function inOrder(value: Json): Json {
  if (isList(value)) return value.map(inOrder)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, inner]): [string, Json] => [name, inOrder(inner)])
      .toSorted(byName),
  )
}

type TextMember = (typeof textMembers)[number]
const textMembers = ['client_name', 'client_uri', 'logo_uri', 'policy_uri', 'tos_uri'] as const

function authenticationMethod(members: Members, capabilities: ServerCapabilities): string | undefined {
  const method = members.text('token_endpoint_auth_method')
  const hasKeys = method === privateKeyJwtName && offersPrivateKeyJwt(capabilities)
  const isOffered = method === undefined || method === 'none' || secretMethods.has(method) || hasKeys
  if (!isOffered) throw memberRefused('token_endpoint_auth_method')
  return method
}

const clientTypeBy = (method: string | undefined) => (method === 'none' ? 'public' : 'confidential')

// RFC 7591 2: without a scope, a client gets a default. RFC 7591 3.2.1: the server may register another
// value.
function scopeOf(members: Members, { scope: allowed, registerAllScopes }: RegistrationPolicy): string {
  const text = members.text('scope')
  const asked = text === undefined ? allowed : parseScope(text)
  const scope = asked?.filter((token) => allowed.includes(token)) ?? []
  if (scope.length === 0) throw memberRefused('scope')
  return formatScope(sorted(registerAllScopes ? allowed : scope))
}

// RFC 7591 2: jwks and jwks_uri must not stand together.
function keysOf(members: Members): Pick<RegisteredMetadata, 'jwks' | 'jwks_uri'> {
  const jwks = members.json('jwks')
  const jwks_uri = members.text('jwks_uri')
  if ((jwks === undefined) === (jwks_uri === undefined)) throw memberRefused('jwks')
  if (jwks_uri === undefined) return { jwks: jwks ?? null }
  const isHttps = protocolOf(jwks_uri) === 'https:' && namesHost(jwks_uri) && isAbsoluteUri(jwks_uri)
  if (!isHttps || jwks_uri.length > longestUri) throw memberRefused('jwks_uri')
  return { jwks_uri }
}

class Members {
  constructor(private readonly source: Readonly<Record<string, unknown>>) {}

  text(name: OwnMember): string | undefined {
    const value = this.take(name)
    if (value === undefined || isText(value)) return value
    throw memberRefused(name)
  }

  texts(name: OwnMember): readonly string[] | undefined {
    const value = this.take(name)
    if (value === undefined) return undefined
    if (isList(value) && value.length <= longestList && value.every(isText)) return value
    throw memberRefused(name)
  }

  json(name: string): Json | undefined {
    const value = this.take(name)
    if (value === undefined) return undefined
    // JSON.stringify fails on thousands of levels.
    if (!isKeepable(value)) throw memberRefused(name)
    const copy: Json = JSON.parse(JSON.stringify(value))
    return copy
  }

  private take(name: string): unknown {
    const value = Object.hasOwn(this.source, name) ? this.source[name] : undefined
    const isEmpty = value === null || value === '' || (isList(value) && value.length === 0)
    return isEmpty ? undefined : value
  }
}

const sorted = (names: readonly string[]): readonly string[] => [...new Set(names)].toSorted()

export function registrationFor(client_id: string, metadata: RegisteredMetadata): ClientRegistration {
  const { jwks, jwks_uri, redirect_uris = [], members: added, ...members } = metadata
  const client_type = clientTypeBy(metadata.token_endpoint_auth_method)
  const keys = jwks_uri === undefined ? jwks : { jwks_uri }
  return {
    ...added,
    client_id,
    client_type,
    ...members,
    redirect_uris,
    ...(keys === undefined ? {} : { credentials: { [privateKeyJwtName]: keys } }),
    ...(isNativeApp(client_type, redirect_uris) ? { loopback_redirect_uris: true } : {}),
  }
}

export function metadataOf(
  registration: ClientRegistration,
  { members: added = [] }: ServerCapabilities,
): Readonly<Record<string, unknown>> {
  const { token_endpoint_auth_method = 'client_secret_basic', credentials } = registration
  const names = new Set([...published, ...added.map(({ name }) => name)])
  const members = Object.entries(registration).filter(
    ([name, value]) => names.has(name) && value !== undefined,
  )
  const keys = credentials?.[privateKeyJwtName]
  const isUri = isRecord(keys) && keys['jwks_uri'] !== undefined
  return {
    ...Object.fromEntries(members),
    token_endpoint_auth_method,
    ...(isUri ? keys : keys === undefined ? {} : { jwks: keys }),
  }
}

const published = [
  'redirect_uris',
  'post_logout_redirect_uris',
  'grant_types',
  'response_types',
  'scope',
  ...textMembers,
]

// Stands for the secret that the server issues later.
const anySecret = `sha256:${'A'.repeat(43)}`

function checkRegistration(metadata: RegisteredMetadata, capabilities: ServerCapabilities): void {
  const { issues } = parsedWith(metadata, capabilities)
  const isAdded = ({ path }: ConfigurationIssue) => Object.hasOwn(metadata.members ?? {}, path)
  // The text of another mistake may hold values.
  const members = issues.filter((issue) => !isAdded(issue)).map(({ path }) => memberAt(path))
  const [first] = members.includes('redirect_uris') ? (['redirect_uris'] as const) : members
  if (first !== undefined) throw memberRefused(first)
  const ofPlugIn = issues.find(isAdded)
  if (ofPlugIn !== undefined) throw refusedOfPlugIn(ofPlugIn.path, ofPlugIn.message)
  // A name must not reorder the text of a consent page.
  if (deceptive.test(metadata.client_name ?? '')) throw memberRefused('client_name')
}

function parsedWith(metadata: RegisteredMetadata, capabilities: ServerCapabilities) {
  const registration = {
    ...registrationFor('dynamic', metadata),
    client_secret_hashes: usesSecret(metadata) ? [anySecret] : [],
  }
  const issues: ConfigurationIssue[] = []
  return { client: parseClient(registration, '', issues, capabilities), issues }
}

export async function verifyClientMetadata(
  metadata: RegisteredMetadata,
  {
    capabilities,
    documents,
  }: Pick<RegistrationPolicy, 'capabilities'> & { readonly documents: DocumentFetch },
  sender: Sender,
): Promise<void> {
  if (metadata.members === undefined) return
  const { client } = parsedWith(metadata, capabilities)
  const mistake = await mistakeInStatement(client, capabilities.members, documents, { sender }).catch(
    (error: unknown) => {
      // One text for every cause: different texts would let a stranger probe this server's network.
      if (error instanceof DocumentUnavailable)
        throw refused('client_metadata_refused/unreachable', {}, { cause: error })
      throw error
    },
  )
  if (mistake !== undefined) throw refusedOfPlugIn(mistake.name, mistake.message)
}

const deceptive = /[\p{Cs}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u

function memberAt(path: string): OwnMember {
  const [name = ''] = path.split(/[.[]/)
  if (name === 'credentials') return 'jwks'
  return isMember(name) ? name : 'token_endpoint_auth_method'
}

const isMember = (name: string): name is OwnMember => Object.hasOwn(expectations, name)

type OwnMember = keyof typeof expectations

const memberRefused = (member: string): OAuthError => {
  if (member === 'redirect_uris') return refused('redirect_uris_refused')
  return isMember(member)
    ? refused('client_metadata_refused', { description: expectations[member] })
    : refusedOfPlugIn(member, 'is not valid here.')
}

// Hosts write plug-ins. RFC 6749 5.2 allows no other characters.
function refusedOfPlugIn(name: string, message: string): OAuthError {
  const text = isQuotable(message) ? message : 'is not valid here.'
  return refused('client_metadata_refused', { description: `${name} ${text}` })
}

const expectations = {
  redirect_uris:
    'redirect_uris must be a list of absolute URIs without a fragment, at least one of them with a scheme that this server allows: https, http on a loopback host, or the private-use scheme of an app.',
  post_logout_redirect_uris: 'post_logout_redirect_uris must be a list of at most 100 URIs.',
  token_endpoint_auth_method:
    'token_endpoint_auth_method must be a method that this server offers to clients that register themselves.',
  grant_types:
    'grant_types must hold a grant type that this server gives to clients that register themselves, and the grant types of the response types.',
  response_types: 'response_types must hold a response type of this server for the grant types.',
  scope: 'scope must hold scope tokens of this server, with one space between two.',
  client_name: 'client_name must be a text of at most 256 characters without control characters.',
  client_uri: 'client_uri must be an http or https URL of at most 2048 characters.',
  logo_uri: 'logo_uri must be an http or https URL of at most 2048 characters.',
  policy_uri: 'policy_uri must be an http or https URL of at most 2048 characters.',
  tos_uri: 'tos_uri must be an http or https URL of at most 2048 characters.',
  jwks: 'jwks or jwks_uri must hold the public keys of the client, and not both.',
  jwks_uri: 'jwks_uri must be an https URL of at most 2048 characters.',
} as const
