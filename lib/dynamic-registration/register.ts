import { generateClientSecret } from '../client-authentication/client-secret'
import { digest, secureRandom } from '../protocol/credential'
import type { Endpoint, EndpointAnswer } from '../protocol/endpoint'
import { temporarilyUnavailable } from '../protocol/oauth-error'
import type { ResourceRequest } from '../protocol/token-type'
import type { DynamicClient } from '../stores/dynamic-client-store'
import { bearerTokenOf, initialAccessTokenRefused } from './bearer-token'
import { confidentialClientId, publicClientId } from './client-id'
import { clientInformation, type IssuedWithRegistration } from './client-information'
import { readClientMetadata, type RegisteredMetadata, registrationFor, usesSecret } from './client-metadata'
import { type DynamicRegistration, registrationEndpointNames } from './options'

/** The registration endpoint (RFC 7591 3). */
export function registrationEndpoint(registration: DynamicRegistration): Endpoint {
  return {
    name: registrationEndpointNames.registrationPath,
    path: registration.registrationPath,
    body: 'json',
    cors: true,
    clientAuthentication: 'none',
    answer: (request) => register(registration, request),
  }
}

async function register(
  registration: DynamicRegistration,
  request: ResourceRequest & { readonly json: unknown },
): Promise<EndpointAnswer> {
  await requireInitialAccessToken(registration, request)
  const metadata = readClientMetadata(request.json, registration)
  const { client, issued } = newClient(registration, metadata)
  const { store, unusedLifetime, maximumClients } = registration
  const stored = await store.add(client, unusedLifetime, maximumClients)
  if (stored === undefined)
    throw temporarilyUnavailable(
      'registrations_full',
      'The server cannot register more clients at the moment.',
    )
  return { status: 201, members: clientInformation(registration, stored, issued) }
}

async function requireInitialAccessToken(
  { verifyInitialAccessToken }: DynamicRegistration,
  request: ResourceRequest,
): Promise<void> {
  if (verifyInitialAccessToken === undefined) return
  const token = bearerTokenOf(request)
  const isGood: unknown = token !== undefined && (await verifyInitialAccessToken(token))
  if (isGood !== true) throw initialAccessTokenRefused()
}

interface NewClient {
  readonly client: DynamicClient
  /** The credentials of the client in clear, for the response only. */
  readonly issued: IssuedWithRegistration
}

/**
 * Makes a client. A public client gets an identifier that follows from its metadata, so that clients which register at
 * each start add nothing. Such a client has no registration access token: strangers who register the same metadata
 * must not change or delete it.
 */
function newClient(registration: DynamicRegistration, metadata: RegisteredMetadata): NewClient {
  const issuedAt = Math.floor(registration.clock() / 1000)
  if (metadata.token_endpoint_auth_method === 'none') {
    const described = registrationFor(publicClientId(registration.issuer, metadata), metadata)
    return {
      client: { registration: described, issuedAt, secretExpiries: [], registrationTokenDigest: undefined },
      issued: {},
    }
  }
  const token = secureRandom(32).toString('base64url')
  const secret = usesSecret(metadata) ? generateClientSecret() : undefined
  const described = registrationFor(confidentialClientId(), metadata)
  return {
    client: {
      registration:
        secret === undefined
          ? described
          : { ...described, client_secret_hashes: [secret.client_secret_hash] },
      issuedAt,
      secretExpiries: secret === undefined ? [] : [issuedAt + registration.clientSecretLifetime],
      registrationTokenDigest: digest(token),
    },
    issued: { secret: secret?.client_secret, token },
  }
}
