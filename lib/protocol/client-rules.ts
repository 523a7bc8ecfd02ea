import { hasCredentialFor } from './authentication-method'
import type { Client } from './client'
import type { OptionsReader } from './configuration'
import { loopbackUri } from './registered-redirect-uri'
import type { ResponseTypeDescription } from './response-type'

/** Adds each rule of a registration that the fields, sound by themselves, break together. */
export function checkRules(
  client: Client,
  offeredResponseTypes: readonly ResponseTypeDescription[] | undefined,
  reading: OptionsReader,
): void {
  const confidential = client.client_type === 'confidential'
  // RFC 6749 2.3: a confidential client has credentials, and a public one could not keep this grant's.
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
  // RFC 6749 3.1.2.2: public clients register; here, so does every client of the authorization endpoint.
  if (client.redirect_uris.length === 0 && (!confidential || client.response_types.length > 0))
    reading.wrong(
      'redirect_uris',
      'must hold at least one URI for a client that is public or uses the authorization endpoint.',
    )
  // RFC 7662 2.1: asking takes authorization; without credentials anybody could try tokens out.
  if (!confidential && client.may_introspect)
    reading.wrong('may_introspect', 'cannot be true for a public client, which does not authenticate.')
  checkResponseTypes(client, offeredResponseTypes, reading)
  checkMethod(client, reading)
  checkRedirection(client, reading)
}

// RFC 6749 1.3: these grants begin at the authorization endpoint, and without a response type they never would.
const grantsOfResponses = ['authorization_code', 'implicit']

// What RFC 6749 defines, for a reader that does not know which others a server has.
const wellKnown: readonly ResponseTypeDescription[] = [
  { name: 'code', grantTypes: ['authorization_code'] },
  { name: 'token', grantTypes: ['implicit'] },
]

// RFC 7591 2.1: a response type and the grant types that it works with are registered together.
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
  // A response type that this reader does not know may bring the grant.
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

// RFC 6749 3.2.1: a client with credentials authenticates by them on every token request; one without cannot.
function checkMethod(client: Client, reading: OptionsReader): void {
  const method = client.token_endpoint_auth_method
  if (method === undefined || hasCredentialFor(method, client)) return
  const lack = method === 'none' ? 'has to authenticate' : 'has no credential for it'
  reading.wrong('token_endpoint_auth_method', `cannot be '${method}', because the client ${lack}.`)
}

function checkRedirection(client: Client, reading: OptionsReader): void {
  const { client_type, redirect_uris, loopback_redirect_uris, dynamic_redirect_query } = client
  // RFC 8252 8.4 and 8.5: the loopback interface is for native apps, and those are public clients.
  if (loopback_redirect_uris && client_type === 'confidential')
    reading.wrong('loopback_redirect_uris', 'is for native apps, which are public; remove it.')
  if (loopback_redirect_uris && !redirect_uris.some((uri) => loopbackUri(uri) !== undefined))
    reading.wrong(
      'loopback_redirect_uris',
      'needs a redirect URI such as http://127.0.0.1/callback or http://[::1]/callback; localhost is none.',
    )
  // RFC 6749 3.1.2.2: of a partial registration the query is what varies, so it cannot be registered, too.
  for (const [index, uri] of redirect_uris.entries())
    if (dynamic_redirect_query && uri.includes('?'))
      reading.wrong(
        `redirect_uris[${index}]`,
        'must not have a query, because dynamic_redirect_query leaves it to the request; remove the ? and what follows it.',
      )
}
