import { aText } from '../primitives/fields'
import { type Field, optional, usual } from '../primitives/schema'
import { type Client, usualGrantTypes } from './client'
import type { ServerCapabilities } from './parse-client'
import { offeredNames } from './plug-in-names'
import { isAllowedBy, isInsecure, loopbackUri, redirectUriFault, redirectUriLack } from './redirect-uri'
import { responseTypeNamed } from './response-types'
import { covers, parseScope, type Scope } from './scope'

// RFC 7591 2: metadata that a client itself states.

/** RFC 7523 2.2: `credentials` holds a JWK set or `{ jwks_uri }`. */
export const privateKeyJwtName = 'private_key_jwt'

export const offersPrivateKeyJwt = ({ authenticationMethods = [] }: ServerCapabilities): boolean =>
  authenticationMethods.some(({ name }) => name === privateKeyJwtName)

/** Undefined if the client could never begin: with refresh alone it has nothing to refresh. */
export function grantedTypes(
  asked: readonly string[],
  allowed: readonly string[],
  clientType: Client['client_type'],
): readonly string[] | undefined {
  // RFC 6749 4.4: only confidential clients use client_credentials.
  const isFor = (name: string) => clientType === 'confidential' || name !== 'client_credentials'
  const granted = allowed.filter((name) => asked.includes(name) && isFor(name))
  return granted.every((name) => name === 'refresh_token') ? undefined : granted
}

/** RFC 7591 2.1: a response type needs its grant types. */
export function fittingResponseTypes(
  asked: readonly string[],
  grantTypes: readonly string[],
  { responseTypes = [] }: ServerCapabilities,
): readonly string[] {
  const known = asked.flatMap((name) => responseTypeNamed(name, responseTypes) ?? [])
  const fitting = known.filter((type) => type.grantTypes.every((needed) => grantTypes.includes(needed)))
  return fitting.map(({ name }) => name)
}

/**
 * Leaves out what the option `redirectUris` excludes: a client names URIs for every server, and one must not refuse the
 * others. Also leaves out plain http beyond loopback, which only the host may register, and what can never work.
 */
export function allowedRedirectUris(
  asked: readonly string[],
  { redirectUris: rule }: ServerCapabilities,
): readonly string[] {
  const isOpen = (uri: string) =>
    !isInsecure(uri) && isAllowedBy(rule, uri) && redirectUriLack(uri) === undefined
  return asked.filter((uri) => isMalformed(uri) || isOpen(uri))
}

export const allowedLogoutUris = (asked: readonly string[]): readonly string[] =>
  asked.filter((uri) => redirectUriFault(uri) === undefined && redirectUriLack(uri) === undefined)

const isMalformed = (uri: string) => redirectUriFault(uri, { insecure: true }) !== undefined

/** RFC 8252 7.3: the operating system gives a new port at each start. */
export const isNativeApp = (clientType: Client['client_type'], redirectUris: readonly string[]): boolean =>
  clientType === 'public' && redirectUris.some((uri) => loopbackUri(uri) !== undefined)

/** Default: every scope of the server. */
export const allowedScope: Field<Scope, ServerCapabilities> = (given, at, name) => {
  const { scope: known = [] } = at.context
  const text = optional(aText)(given, at, name)
  if (text === undefined) return known
  const scope = parseScope(text)
  if (scope === undefined || (at.context.scope !== undefined && !covers(known, scope)))
    at.wrong(name, `must hold scopes of this server: ${known.join(', ')}.`)
  return scope ?? []
}

/** Default: `authorization_code` and `refresh_token`. */
export const allowedGrantTypes = usual(
  [...usualGrantTypes, 'refresh_token'],
  offeredNames('grant types', ({ grantTypes }: ServerCapabilities) => grantTypes),
)
