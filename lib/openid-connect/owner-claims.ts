import { isRecord } from '../primitives/values'
import { isJson, type Json } from '../protocol/json'
import type { Scope, ScopeDescription } from '../protocol/scope'

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

/** The claims that scopes give. */
export interface ScopeClaims {
  /** By OpenID Connect Core 5.4 and by the option `scopes` of the server. */
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
  /** The claims that the client gets, as far as the owner has them. */
  readonly names: readonly string[]
}

/**
 * Returns what the host knows about a resource owner: claims of OpenID Connect Core 5.1 and others, by name.
 * The client gets `names` alone. Undefined if the owner no longer exists.
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
