import { isSameScheme, parseAuthorization, readBearerToken } from '../../protocol/http-authentication'
import { generateClientSecret } from '../../client-authentication/client-secret'
import { urlBelow } from '../../endpoints/server-metadata'
import { type Client, hasCredentials } from '../../protocol/client'
import { digest, secureRandom } from '../../protocol/credential'
import type { Endpoint, EndpointRequest, EndpointResponse } from '../../protocol/endpoint'
import { refused } from '../../protocol/refusals'
import { registrationOf } from '../../protocol/parse-client'
import type { Sender } from '../../protocol/sender'
import type { ResourceRequest } from '../../protocol/token-type'
import { confidentialClientId, publicClientId } from './client-id'
import { type DynamicClient, isPublic } from './dynamic-clients'
import { metadataOf, readClientMetadata, type StatedRegistration, usesSecret } from './registration-metadata'
import { type DynamicRegistration, registrationEndpointNames } from './registration-options'

/** RFC 7591 3. */
export function registrationEndpoint(registration: DynamicRegistration): Endpoint {
  return {
    name: registrationEndpointNames.registrationPath,
    path: registration.registrationPath,
    body: 'json',
    cors: true,
    clientAuthentication: 'none',
    handle: (request) => register(registration, request),
  }
}

async function register(
  registration: DynamicRegistration,
  request: ResourceRequest & Pick<EndpointRequest<undefined>, 'json' | 'address'>,
): Promise<EndpointResponse> {
  await requireInitialAccessToken(registration, request)
  const stated = await readClientMetadata(request.json, registration, senderOf(request))
  const { records, hostClients, unusedLifetime, maximumClients } = registration
  const { client, issued } = newClient(registration, stated)
  const { client_id } = client.registration
  const ofHost = isPublic(client) ? await hostClients.find(client_id) : undefined
  if (ofHost !== undefined) return answerForHostClient(ofHost, registration)
  const added = await records.add(client, unusedLifetime, maximumClients)
  return { status: 201, members: clientInformation(registration, added, issued) }
}

// The identifier is a digest of the metadata: the host has registered this very app, perhaps with more scope.
function answerForHostClient(client: Client, { capabilities }: DynamicRegistration): EndpointResponse {
  if (client.disabled || hasCredentials(client)) throw refused('client_metadata_disabled')
  const described = { ...registrationOf(client), token_endpoint_auth_method: 'none' }
  return { status: 201, members: { client_id: client.client_id, ...metadataOf(described, capabilities) } }
}

// RFC 7591 3
async function requireInitialAccessToken(
  { verifyInitialAccessToken }: DynamicRegistration,
  request: ResourceRequest,
): Promise<void> {
  if (verifyInitialAccessToken === undefined) return
  const token = bearerTokenOf(request)
  const isGood: unknown = token !== undefined && (await verifyInitialAccessToken(token))
  if (isGood !== true) throw refused('initial_access_token_refused')
}

/**
 * The identifier of a public client follows from its metadata, so clients that register at each start add
 * nothing. Strangers with the same metadata must not change or delete it, so it has no registration access
 * token.
 */
function newClient(
  registration: DynamicRegistration,
  stated: StatedRegistration,
): { readonly client: DynamicClient; readonly issued: IssuedWithRegistration } {
  const { issuer, issuerDigest, tokenLifetime, clientSecretLifetime, clock } = registration
  const issuedAt = Math.floor(clock() / 1000)
  const hasToken = stated.client_type === 'confidential'
  const token = hasToken ? secureRandom(43) : undefined
  const secret = usesSecret(stated) ? generateClientSecret() : undefined
  const client_id = hasToken ? confidentialClientId() : publicClientId(issuer, stated)
  return {
    client: {
      registration: {
        ...stated,
        client_id,
        ...(secret && { client_secret_hashes: [secret.client_secret_hash] }),
      },
      issuedAt,
      issuerDigest,
      tokenLifetime,
      secretExpiries: secret === undefined ? [] : [issuedAt + clientSecretLifetime],
      registrationTokenDigest: token && digest(token),
    },
    issued: { secret: secret?.client_secret, token },
  }
}

interface IssuedWithRegistration {
  /** Stores hold only its digest, so later responses do not have it. */
  readonly secret?: string | undefined
  readonly token?: string | undefined
}

/** RFC 7591 3.2.1, RFC 7592 3: may be less than the client asked for. */
export function clientInformation(
  { issuer, clientConfigurationPath, capabilities }: DynamicRegistration,
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
    ...(token !== undefined && {
      registration_access_token: token,
      registration_client_uri: `${urlBelow(issuer, clientConfigurationPath)}?client_id=${client_id}`,
    }),
    ...metadataOf(registration, capabilities),
  }
}

export const senderOf = ({ address }: Pick<EndpointRequest<undefined>, 'address'>): Sender => ({
  address,
  networkRefusal: undefined,
})

/** RFC 6750 2.1. */
export function bearerTokenOf({ headers }: ResourceRequest): string | undefined {
  const [header = '', second] = headers['authorization'] ?? []
  const { scheme, credentials } = parseAuthorization(header)
  return second === undefined && isSameScheme(scheme, 'Bearer')
    ? readBearerToken(credentials)?.accessToken
    : undefined
}
