import type { ConfigurationIssue } from '../../primitives/configuration-error'
import { aText } from '../../primitives/fields'
import { optional, Place } from '../../primitives/schema'
import { isList, isRecord } from '../../primitives/values'
import { type ClientRegistration, privateKeyJwtName } from '../../protocol/client'
import { isQuotable } from '../../protocol/http-authentication'
import type { OAuthError } from '../../protocol/oauth-error'
import { parseClient, type ServerCapabilities } from '../../protocol/parse-client'
import { refused } from '../../protocol/refusals'
import { formatScope, parseScope } from '../../protocol/scope'
import type { Sender } from '../../protocol/sender'
import { mistakeInStatement } from '../document-fetch/document-fetch'
import { DocumentUnavailable } from '../document-fetch/document-unavailable'
import { allowedLogoutUris, longestUri, memberAt, readStated, someNames } from '../stated-metadata'
import type { DynamicRegistration } from './registration-options'

// Without `token_endpoint_auth_method`: `client_secret_basic` (RFC 7591 2) and, because some libraries use it in any
// case, `client_secret_post`.
type StatedRegistration = Omit<ClientRegistration, 'client_id'>

type RegistrationPolicy = Pick<
  DynamicRegistration,
  'capabilities' | 'documents' | 'scope' | 'registerAllScopes' | 'grantTypes'
>

const secretMethods = ['client_secret_basic', 'client_secret_post']

export const usesSecret = ({ token_endpoint_auth_method: method }: StatedRegistration): boolean =>
  method === undefined || secretMethods.includes(method)

// Strangers fill the store.
export const longest = 16_384
// The server issues the secret later.
const anySecret = `sha256:${'A'.repeat(43)}`

interface ReadMetadata {
  readonly stated: StatedRegistration
  // Wrong members for people: the client works without them.
  readonly leftOut: readonly string[]
}

// RFC 7591 2 and 3.2.1: ignores unknown members, and drops what such clients cannot have. RFC 7592 2.2: null and empty
// values count as omitted.
export async function readClientMetadata(
  json: unknown,
  policy: RegistrationPolicy,
  sender: Sender,
): Promise<ReadMetadata> {
  if (!isRecord(json)) throw refused('client_metadata_malformed')
  const { capabilities, documents } = policy
  const at = new Place(withoutEmpty(json), '', capabilities)
  const stated = registrationIn(at, policy)
  requireRight(at)
  const client_secret_hashes = usesSecret(stated) ? [anySecret] : []
  const registration = { ...stated, client_id: 'dynamic', client_secret_hashes }
  const client = parseClient(registration, '', at.issues, capabilities)
  requireRight(at)
  const wrong = wrongForPeople(stated, at.issues)
  if (wrong.length > 0) {
    const rest = Object.entries(json).filter(([name]) => !wrong.includes(name))
    const { leftOut, ...read } = await readClientMetadata(Object.fromEntries(rest), policy, sender)
    return { ...read, leftOut: [...wrong, ...leftOut] }
  }
  if (JSON.stringify(stated).length > longest) throw refused('client_metadata_too_large')
  const mistake = await mistakeInStatement(client, capabilities.members, documents, { sender }).catch(
    refuseUnreachable,
  )
  if (mistake !== undefined) throw memberMistake(mistake.name, mistake.message)
  return { stated, leftOut: [] }
}

function wrongForPeople(
  { client_name = '' }: StatedRegistration,
  issues: readonly ConfigurationIssue[],
): readonly string[] {
  const wrong = new Set(issues.map(({ path }) => path))
  // A name must not reorder the text of a consent page.
  if (deceptive.test(client_name)) wrong.add('client_name')
  return Object.keys(forPeople).filter((name) => wrong.has(name))
}

function refuseUnreachable(error: unknown): never {
  // A stranger could probe this server's network by different texts.
  if (error instanceof DocumentUnavailable)
    throw refused('client_metadata_refused/unreachable', {}, { cause: error })
  throw error
}

const withoutEmpty = (json: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(json).filter(([, value]) => !isEmpty(value)))

const isEmpty = (value: unknown) => value === null || value === '' || (isList(value) && value.length === 0)

function registrationIn(at: Place<ServerCapabilities>, policy: RegistrationPolicy): StatedRegistration {
  const terms = { ...policy, methods: ['none', ...secretMethods], usualMethod: undefined }
  const stated = readStated(at, terms)
  const logoutUris = allowedLogoutUris(at.field('post_logout_redirect_uris', someNames) ?? [])
  return {
    ...stated,
    redirect_uris: sorted(stated.redirect_uris),
    post_logout_redirect_uris: logoutUris.length === 0 ? undefined : sorted(logoutUris),
    grant_types: sorted(stated.grant_types),
    response_types: sorted(stated.response_types),
    scope: scopeIn(at, policy),
    ...at.read(forPeople),
  }
}

const text = optional(aText)
const forPeople = { client_name: text, client_uri: text, logo_uri: text, policy_uri: text, tos_uri: text }

// RFC 7591 2: without a scope, a default. 3.2.1: the server may register another value.
function scopeIn(
  at: Place<ServerCapabilities>,
  { scope: allowed, registerAllScopes }: RegistrationPolicy,
): string {
  const given = at.field('scope', text)
  const asked = given === undefined ? allowed : parseScope(given)
  const scope = asked?.filter((token) => allowed.includes(token)) ?? []
  if (scope.length === 0) at.wrong('scope', 'must hold a scope that is allowed.')
  return formatScope(sorted(registerAllScopes ? allowed : scope))
}

const sorted = (names: readonly string[]): readonly string[] => [...new Set(names)].toSorted()

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
  ...Object.keys(forPeople),
]

function requireRight({ issues, context: { members: added = [] } }: Place<ServerCapabilities>): void {
  const isAdded = ({ path }: ConfigurationIssue) => added.some(({ name }) => name === path)
  const ofPlugin = issues.find(isAdded)
  // The text of another mistake may hold values.
  const ofClient = issues.filter((issue) => !isAdded(issue) && !Object.hasOwn(forPeople, issue.path))
  const members = ofClient.map(({ path }) => memberAt(path))
  const [first] = members.includes('redirect_uris') ? ['redirect_uris'] : members
  if (first !== undefined) throw memberRefused(first)
  if (ofPlugin !== undefined) throw memberMistake(ofPlugin.path, ofPlugin.message)
}

const deceptive = /[\p{Cs}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u

function memberRefused(member: string): OAuthError {
  if (member === 'redirect_uris') return refused('redirect_uris_refused')
  const name = expectations.has(member) ? member : 'token_endpoint_auth_method'
  return memberMistake(name, expectations.get(name) ?? '')
}

// A plug-in may bring the cure; RFC 6749 5.2 allows no other characters.
const memberMistake = (name: string, cure: string): OAuthError =>
  refused('client_metadata_refused', {
    description: `${name} ${isQuotable(cure) ? cure : 'is not valid here.'}`,
  })

const expectations: ReadonlyMap<string, string> = new Map([
  ['post_logout_redirect_uris', 'must be a list of at most 100 URIs.'],
  [
    'token_endpoint_auth_method',
    'must be a method that this server offers to clients that register themselves.',
  ],
  [
    'grant_types',
    'must hold a grant type that this server gives to clients that register themselves, and the grant types of the response types.',
  ],
  ['response_types', 'must hold a response type of this server for the grant types.'],
  ['scope', 'must hold scope tokens of this server, with one space between two.'],
  ['jwks', 'or jwks_uri must hold the public keys of the client, and not both.'],
  ['jwks_uri', `must be an https URL of at most ${longestUri} characters.`],
])
