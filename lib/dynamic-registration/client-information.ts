import { urlBelow } from '../metadata/server-metadata'
import type { DynamicClient } from '../stores/dynamic-client-store'
import { metadataOf } from './client-metadata'
import type { DynamicRegistration } from './options'

/** Credentials in clear, for one response only. */
export interface IssuedWithRegistration {
  /** A new client secret. Stores hold only its digest, so later responses do not have it. */
  readonly secret?: string | undefined
  /** The registration access token; undefined for a public client. */
  readonly token?: string | undefined
}

/**
 * The client information response (RFC 7591 3.2.1, RFC 7592 3): everything that is registered, which may be less than
 * the client has asked for.
 */
export function clientInformation(
  { issuer, clientConfigurationPath }: DynamicRegistration,
  { registration, issuedAt, secretExpiries }: DynamicClient,
  { secret, token }: IssuedWithRegistration,
): Readonly<Record<string, unknown>> {
  const { client_id } = registration
  const expiry = secretExpiries.at(-1)
  return {
    client_id,
    client_id_issued_at: issuedAt,
    ...(secret === undefined ? {} : { client_secret: secret }),
    ...(expiry === undefined ? {} : { client_secret_expires_at: expiry }),
    ...(token === undefined
      ? {}
      : {
          registration_access_token: token,
          registration_client_uri: `${urlBelow(issuer, clientConfigurationPath)}?client_id=${client_id}`,
        }),
    ...metadataOf(registration),
  }
}
