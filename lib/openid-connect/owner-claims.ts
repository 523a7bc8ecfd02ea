import { createHmac } from 'node:crypto'
import { isRecord, isText } from '../primitives/values'
import { type Client, isRegisteredByHost } from '../protocol/client'
import { isJson, type Json } from '../protocol/json'
import type { Scope, ScopeDescription } from '../protocol/scope'
import { isLoopback, plainUrl } from '../protocol/uri'

/** OpenID Connect Core 5.4 */
const claimsByScope: Readonly<Record<string, readonly string[]>> = {
  profile: [
    'name',
    'family_name',
    'given_name',
    'middle_name',
    'nickname',
    'preferred_username',
    'profile',
    'picture',
    'website',
    'gender',
    'birthdate',
    'zoneinfo',
    'locale',
    'updated_at',
  ],
  email: ['email', 'email_verified'],
  address: ['address'],
  phone: ['phone_number', 'phone_number_verified'],
}

export const identityScopes: readonly string[] = ['openid', ...Object.keys(claimsByScope)]

export interface ScopeClaims {
  /** OpenID Connect Core 5.4, and the option `scopes` of the server. */
  readonly all: (scope: Scope) => readonly string[]
  readonly ofHost: (scope: Scope) => readonly string[]
}

const standard = (token: string) => (Object.hasOwn(claimsByScope, token) ? (claimsByScope[token] ?? []) : [])

export function scopeClaims(scopes: ReadonlyMap<string, ScopeDescription>): ScopeClaims {
  const ofHost = (scope: Scope) => scope.flatMap((token) => scopes.get(token)?.claims ?? [])
  return { all: (scope) => [...scope.flatMap(standard), ...ofHost(scope)], ofHost }
}

/** Who asks for claims about a resource owner. */
export interface ClaimsRequest {
  readonly clientId: string
  readonly scope: Scope
  readonly names: readonly string[]
}

/**
 * Returns what the host knows about a resource owner: claims by name (OpenID Connect Core 5.1). The client
 * gets `names` alone. Undefined if the owner no longer exists.
 */
export type OwnerClaims = (
  subject: string,
  request: ClaimsRequest,
) => object | undefined | Promise<object | undefined>

export async function claimsFor(
  claims: OwnerClaims,
  subject: string,
  request: ClaimsRequest,
): Promise<Readonly<Record<string, Json>> | undefined> {
  const known: unknown = await claims(subject, request)
  if (known === undefined) return undefined
  if (!isRecord(known))
    throw new TypeError('The option claims of openIdConnect() must return an object, or undefined.')
  const chosen = request.names.flatMap((name): [string, unknown][] =>
    Object.hasOwn(known, name) && !isEmpty(known[name]) ? [[name, known[name]]] : [],
  )
  const object: unknown = Object.fromEntries(chosen)
  if (isJson(object) && isJsonObject(object)) return object
  throw new TypeError('The option claims of openIdConnect() must return claims of JSON.')
}

// OpenID Connect Core 5.3.2: no null and no empty text.
const isEmpty = (value: unknown) => value === undefined || value === null || value === ''
const isJsonObject = (value: Json): value is Readonly<Record<string, Json>> => isRecord(value)

export type SubjectFor = (subject: string, client: Client) => string

export const publicSubject: SubjectFor = (subject) => subject

/** OpenID Connect Core 8.1. */
export function pairwiseSubjects(secret: string): SubjectFor {
  return (subject, client) => {
    if (client.members['subject_type'] !== 'pairwise') return subject
    const sector = sectorOf(client)
    // The registration refuses such a client.
    if (sector === undefined) throw new Error('A client with pairwise subjects has no sector.')
    return createHmac('sha256', secret)
      .update(JSON.stringify([sector, subject]))
      .digest('base64url')
  }
}

// With these alone, what tells the owner goes to a redirection URI, or there is no owner.
const atRedirectionUri = new Set(['authorization_code', 'implicit', 'refresh_token', 'client_credentials'])

export const answersElsewhere = ({ grant_types }: Client): boolean =>
  grant_types.some((name) => !atRedirectionUri.has(name))

/**
 * Undefined for apps on loopback and with a scheme of an app, which have no host. Anybody may name the
 * redirection URI of others: it counts only where each answer goes there, or for a client of the host.
 */
export function sectorOf(client: Client): string | undefined {
  const { client_id, redirect_uris, members } = client
  const uri = members['sector_identifier_uri']
  if (isText(uri)) return hostOf(uri)
  const ofDocument = client_id.startsWith('https://') ? hostOf(client_id) : undefined
  if (ofDocument !== undefined) return ofDocument
  if (answersElsewhere(client) && !isRegisteredByHost(client)) return undefined
  const hosts = new Set(redirect_uris.map(hostOf))
  const [host] = hosts
  return hosts.size === 1 && host !== undefined && !isLoopback(host) ? host : undefined
}

function hostOf(uri: string): string | undefined {
  const url = plainUrl(uri)
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.hostname : undefined
}
