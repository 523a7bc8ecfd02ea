import { aText } from '../primitives/fields'
import { type Field, kind, optional, type Place } from '../primitives/schema'
import { isRecord, isTexts } from '../primitives/values'
import {
  type Client,
  type ClientRegistration,
  privateKeyJwtName,
  usualGrantTypes,
  usualResponseTypes,
} from '../protocol/client'
import { isKeepable, type Json } from '../protocol/json'
import type { ServerCapabilities } from '../protocol/parse-client'
import {
  isAllowedBy,
  isInsecure,
  loopbackUri,
  redirectUriFault,
  redirectUriLack,
} from '../protocol/redirect-uri'
import { responseTypeNamed } from '../protocol/response-types'
import { isAbsoluteUri, namesHost, protocolOf } from '../protocol/uri'

type Stated = Place<ServerCapabilities>

interface StatedTerms {
  readonly grantTypes: readonly string[]
  // Besides `private_key_jwt`.
  readonly methods: readonly string[]
  readonly usualMethod: string | undefined
}

export const longestList = 100
export const longestUri = 2048

export const someNames = optional(
  kind(
    (value): value is readonly string[] => isTexts(value) && value.length <= longestList,
    `must be a list of at most ${longestList} texts.`,
  ),
)

// RFC 7591 2: what a client states, here or to every server. 3.2.1: without what it cannot have here. The path of a
// mistake is its member.
export function readStated(at: Stated, { grantTypes, methods, usualMethod }: StatedTerms) {
  const method = at.field('token_endpoint_auth_method', optional(aText)) ?? usualMethod
  const usesKeys = method === privateKeyJwtName && offersKeys(at.context)
  if (method !== undefined && !methods.includes(method) && !usesKeys)
    at.wrong('token_endpoint_auth_method', 'must be a method that is offered.')
  const client_type = method === 'none' ? 'public' : 'confidential'
  const redirect_uris = redirectUrisIn(at)
  const isNative = client_type === 'public' && redirect_uris.some((uri) => loopbackUri(uri) !== undefined)
  const grant_types = grantTypesIn(at, grantTypes, client_type)
  return {
    ...membersOfPlugins(at),
    client_type,
    token_endpoint_auth_method: method,
    redirect_uris,
    // RFC 8252 7.3: the operating system gives a new port at each start.
    loopback_redirect_uris: isNative,
    grant_types,
    response_types: responseTypesIn(at, grant_types),
    ...(usesKeys && { credentials: { [privateKeyJwtName]: keysIn(at) } }),
  } satisfies Partial<ClientRegistration>
}

export function memberAt(path: string): string {
  const [name = ''] = path.split(/[.[]/)
  return name === 'credentials' ? 'jwks' : name
}

const offersKeys = ({ authenticationMethods = [] }: ServerCapabilities) =>
  authenticationMethods.some(({ name }) => name === privateKeyJwtName)

// A client names URIs for every server: one that is excluded here must not refuse the others. Only the host may
// register plain http beyond loopback.
function redirectUrisIn(at: Stated): readonly string[] {
  const asked = at.field('redirect_uris', someNames) ?? []
  const isOpen = (uri: string) =>
    !isInsecure(uri) && isAllowedBy(at.context.redirectUris, uri) && redirectUriLack(uri) === undefined
  const allowed = asked.filter((uri) => isMalformed(uri) || isOpen(uri))
  if (allowed.length === 0 && asked.length > 0) at.wrong('redirect_uris', 'must hold a URI that is allowed.')
  return allowed
}

const isMalformed = (uri: string) => redirectUriFault(uri, { insecure: true }) !== undefined

export const allowedLogoutUris = (asked: readonly string[]): readonly string[] =>
  asked.filter((uri) => redirectUriFault(uri) === undefined && redirectUriLack(uri) === undefined)

function grantTypesIn(
  at: Stated,
  allowed: readonly string[],
  clientType: Client['client_type'],
): readonly string[] {
  const asked = at.field('grant_types', someNames) ?? usualGrantTypes
  // RFC 6749 4.4: only confidential clients use client_credentials.
  const isFor = (name: string) => clientType === 'confidential' || name !== 'client_credentials'
  const granted = allowed.filter((name) => asked.includes(name) && isFor(name))
  if (granted.every((name) => name === 'refresh_token'))
    at.wrong('grant_types', 'must hold a grant type that is offered.')
  return granted
}

// RFC 7591 2.1
function responseTypesIn(at: Stated, grantTypes: readonly string[]): readonly string[] {
  const asked = at.field('response_types', someNames) ?? usualResponseTypes(grantTypes)
  const known = asked.flatMap((name) => responseTypeNamed(name, at.context.responseTypes ?? []) ?? [])
  const fitting = known.filter((type) => type.grantTypes.every((needed) => grantTypes.includes(needed)))
  return fitting.map(({ name }) => name)
}

// RFC 7591 2: jwks and jwks_uri must not stand together.
function keysIn(at: Stated): unknown {
  const { jwks, jwks_uri } = at.read({ jwks: json, jwks_uri: optional(aText) })
  if ((jwks === undefined) === (jwks_uri === undefined))
    at.wrong('jwks', 'or jwks_uri must hold the public keys of the client, and not both.')
  // RFC 7517 5: other members mean nothing. Only a host may register a platform's token as a credential.
  if (jwks_uri === undefined) return isRecord(jwks) ? { keys: jwks['keys'] } : jwks
  const isHttps = protocolOf(jwks_uri) === 'https:' && namesHost(jwks_uri) && isAbsoluteUri(jwks_uri)
  if (!isHttps || jwks_uri.length > longestUri)
    at.wrong('jwks_uri', `must be an https URL of at most ${longestUri} characters.`)
  return { jwks_uri }
}

const json: Field<Json | undefined> = (given, at, name) => {
  if (given === undefined || isKeepable(given)) return given
  at.wrong(name, 'is not valid here.')
  return undefined
}

function membersOfPlugins(at: Stated): Readonly<Record<string, Json>> {
  const stated = (at.context.members ?? []).flatMap((member): [string, Json][] => {
    const value = at.field(member.name, json)
    return value === undefined || member.isGranted?.(value) === false ? [] : [[member.name, value]]
  })
  return Object.fromEntries(stated)
}
