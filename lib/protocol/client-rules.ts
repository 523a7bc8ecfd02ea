import type { Client } from './client'
import type { Reading } from './configuration'

/** Adds each rule of a registration that the fields, sound by themselves, break together. */
export function checkRules(client: Client, reading: Reading): void {
  const confidential = client.client_type === 'confidential'
  // RFC 6749 2.3: a confidential client has credentials, and a public one could not keep this grant's.
  if (confidential && client.client_secret_hashes.length === 0)
    reading.wrong(
      'client_secret_hashes',
      'must hold at least one digest, because the client is confidential.',
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
  if (client.response_types.includes('code') !== client.grant_types.includes('authorization_code'))
    reading.wrong('response_types', 'must hold code if, and only if, grant_types holds authorization_code.')
  // RFC 7662 2.1: asking takes authorization; without credentials anybody could try tokens out.
  if (!confidential && client.may_introspect)
    reading.wrong('may_introspect', 'cannot be true for a public client, which does not authenticate.')
  checkMethod(client, reading)
}

// RFC 6749 3.2.1: a client with credentials authenticates by them on every token request; one without cannot.
function checkMethod(
  { token_endpoint_auth_method: method, client_secret_hashes }: Client,
  reading: Reading,
): void {
  if (method === 'none' && client_secret_hashes.length > 0)
    reading.wrong('token_endpoint_auth_method', "cannot be 'none', because the client has a secret.")
  if (method?.startsWith('client_secret_') === true && client_secret_hashes.length === 0)
    reading.wrong('token_endpoint_auth_method', `cannot be '${method}', because the client has no secret.`)
}
