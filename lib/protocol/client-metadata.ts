import type { Client } from './client'
import { isText, isTexts, type OptionsReader } from '../primitives/options-reader'
import type { ServerCapabilities } from './parse-client'
import { cureForOffer } from './plug-in-names'
import { isAllowedBy, isInsecure, loopbackUri, redirectUriFault, redirectUriLack } from './redirect-uri'
import { responseTypeNamed } from './response-type'
import { covers, parseScope, type Scope } from './scope'

// Client metadata (RFC 7591 2) that a client itself states: in a metadata document, or in a registration request.

/** The method of clients with a key (RFC 7523 2.2). Its entry in `credentials` is a JWK set, or `{ jwks_uri }`. */
export const privateKeyJwtName = 'private_key_jwt'

/** Whether clients of a server may authenticate by a key. */
export function offersPrivateKeyJwt({ authenticationMethods = [] }: ServerCapabilities): boolean {
  return authenticationMethods.some(({ name }) => name === privateKeyJwtName)
}

/** The grant types of a client that names none (RFC 7591 2). */
export const usualGrantTypes: readonly string[] = ['authorization_code']

/**
 * The grant types that a client gets of those that it names; undefined if it could never begin, because a client that
 * may only refresh has nothing to refresh.
 *
 * @param allowed the grant types that the server gives to such clients.
 */
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

/** The response types of a client that names none (RFC 7591 2): `code` with its grant type. */
export function usualResponseTypes(grantTypes: readonly string[]): readonly string[] {
  return grantTypes.includes('authorization_code') ? ['code'] : []
}

/** The response types of the server among those that a client names, as far as it has their grant types (RFC 7591 2.1). */
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
 * The redirection URIs that a client gets of those that it names. Leaves out each well-formed URI that the option
 * `redirectUris` excludes: a client names URIs for every server, and one of them must not refuse the others. Also leaves
 * out plain http on other hosts than loopback, which only the host may register, and what can never work. A malformed URI
 * stays, and the parser of registrations refuses it.
 */
export function allowedRedirectUris(
  asked: readonly string[],
  { redirectUris: rule }: ServerCapabilities,
): readonly string[] {
  const isOpen = (uri: string) =>
    !isInsecure(uri) && isAllowedBy(rule, uri) && redirectUriLack(uri) === undefined
  return asked.filter((uri) => isMalformed(uri) || isOpen(uri))
}

/** Where a logout may lead, of the URIs that a client names: what a host could register. The others are left out. */
export function allowedLogoutUris(asked: readonly string[]): readonly string[] {
  return asked.filter((uri) => redirectUriFault(uri) === undefined && redirectUriLack(uri) === undefined)
}

const isMalformed = (uri: string) => redirectUriFault(uri, { insecure: true }) !== undefined

/** Whether a client gets its port from the operating system at each start, as a native app does (RFC 8252 7.3). */
export function isNativeApp(clientType: Client['client_type'], redirectUris: readonly string[]): boolean {
  return clientType === 'public' && redirectUris.some((uri) => loopbackUri(uri) !== undefined)
}

/** Reads the option `scope` of a plug-in: what such clients may ask for. Default: every scope of the server. */
export function readAllowedScope(reading: OptionsReader, known: Scope | undefined): Scope {
  const text = reading.optional<string | undefined>('scope', undefined, isText, 'must be a text.')
  if (text === undefined) return known ?? []
  const scope = parseScope(text)
  if (scope === undefined || (known !== undefined && !covers(known, scope)))
    reading.wrong('scope', `must hold scopes of this server: ${(known ?? []).join(', ')}.`)
  return scope ?? []
}

/**
 * Reads the option `grantTypes` of a plug-in: what such clients may use. Default: `authorization_code` and
 * `refresh_token`.
 */
export function readAllowedGrantTypes(
  reading: OptionsReader,
  { grantTypes: offered }: ServerCapabilities,
): readonly string[] {
  const usual = [...usualGrantTypes, 'refresh_token']
  const given = reading.optional('grantTypes', usual, isTexts, 'must be a list of grant types.')
  for (const name of given)
    if (offered !== undefined && !offered.includes(name))
      reading.wrong(
        'grantTypes',
        `lists "${name}", which this server does not offer; it offers ${offered.join(', ')}.${cureForOffer(name)}`,
      )
  return given
}
