import { generateClientSecret } from '../../client-authentication/client-secret'
import { urlBelow } from '../../endpoints/server-urls'
import { isRecord } from '../../primitives/values'
import { type Client, hasCredentials } from '../../protocol/client'
import { digest, hasDigest, isSameText, secureRandom } from '../../protocol/credential'
import type { Endpoint, EndpointRequest, EndpointResponse } from '../../protocol/endpoint'
import { isSameScheme, parseAuthorization, readBearerToken } from '../../protocol/http-authentication'
import { registrationOf } from '../../protocol/parse-client'
import { refused } from '../../protocol/refusals'
import type { ResourceRequest } from '../../protocol/token-type'
import {
  confidentialClientId,
  type DynamicClient,
  isDynamicClientId,
  publicClientId,
} from './dynamic-clients'
import { metadataOf, readClientMetadata, usesSecret } from './registration-metadata'
import { clientConfigurationName, type DynamicRegistration, registrationName } from './registration-options'

// RFC 7591 3
export function registrationEndpoint(registration: DynamicRegistration): Endpoint {
  return {
    name: registrationName,
    path: registration.registrationPath,
    body: 'json',
    cors: true,
    clientAuthentication: 'none',
    handle: (request) => register(registration, request),
  }
}

// Strangers with the same metadata must not change a public client: it has no registration access token.
async function register(
  registration: DynamicRegistration,
  request: ResourceRequest & Pick<EndpointRequest<undefined>, 'json' | 'sender'>,
): Promise<EndpointResponse> {
  await requireInitialAccessToken(registration, request)
  const { issuer, issuerDigest, tokenLifetime, clientSecretLifetime, now } = registration
  const { stated, leftOut } = await readClientMetadata(request.json, registration, request.sender)
  const isConfidential = stated.client_type === 'confidential'
  const client_id = isConfidential ? confidentialClientId() : publicClientId(issuer, stated)
  const ofHost = isConfidential ? undefined : await registration.findHostClient(client_id)
  if (ofHost !== undefined) return answerForHostClient(ofHost, registration)
  const token = isConfidential ? secureRandom(43) : undefined
  const secret = usesSecret(stated) ? generateClientSecret() : undefined
  const hashes = secret && { client_secret_hashes: [secret.client_secret_hash] }
  const client: DynamicClient = {
    registration: { ...stated, client_id, ...hashes },
    issuedAt: now(),
    issuerDigest,
    tokenLifetime,
    secretExpiries: secret === undefined ? [] : [now() + clientSecretLifetime],
    registrationTokenDigest: token && digest(token),
  }
  const { records, unusedLifetime, maximumClients } = registration
  const added = await records.add(client, unusedLifetime, maximumClients)
  const issued = { secret: secret?.client_secret, token, leftOut }
  return { status: 201, members: clientInformation(registration, added, issued) }
}

// The identifier is a digest of the metadata: the host has registered this very app.
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

interface IssuedWithRegistration {
  // Stores hold only its digest.
  readonly secret?: string | undefined
  readonly token?: string | undefined
  readonly leftOut?: readonly string[]
}

// RFC 7591 3.2.1, RFC 7592 3
function clientInformation(
  { issuer, clientConfigurationPath, capabilities }: DynamicRegistration,
  { registration, issuedAt, secretExpiries }: DynamicClient,
  { secret, token, leftOut = [] }: IssuedWithRegistration,
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
    ...(leftOut.length > 0 && { left_out: leftOut }),
  }
}

// RFC 6750 2.1
function bearerTokenOf({ headers }: ResourceRequest): string | undefined {
  const [header = '', second] = headers['authorization'] ?? []
  const { scheme, credentials } = parseAuthorization(header)
  return second === undefined && isSameScheme(scheme, 'Bearer')
    ? readBearerToken(credentials)?.accessToken
    : undefined
}

// RFC 7592 2, for confidential clients. Without `revokeClient`, access tokens work until they expire.
export function clientConfigurationEndpoint(
  registration: DynamicRegistration,
  revokeClient?: (clientId: string) => Promise<void>,
): Endpoint {
  return {
    name: clientConfigurationName,
    path: registration.clientConfigurationPath,
    method: ['GET', 'PUT', 'DELETE'],
    body: 'json',
    cors: true,
    listed: false,
    clientAuthentication: 'none',
    handle: async (request) => {
      const clientId = request.parameters.require('client_id')
      const token = bearerTokenOf(request) ?? ''
      const { findHostClient, records } = registration
      // The host may have taken over the client.
      const isSelfRegistered = isDynamicClientId(clientId) && (await findHostClient(clientId)) === undefined
      const found = isSelfRegistered ? await records.find(clientId) : undefined
      const client = ownedBy(token, found)
      if (request.method === 'PUT') return update(registration, client, token, request)
      if (request.method !== 'DELETE') return { members: clientInformation(registration, client, { token }) }
      // First: a client that is gone could not repeat the request.
      await revokeClient?.(clientId)
      await records.remove(clientId)
      return { status: 204, members: {} }
    },
  }
}

// RFC 7592 2.1: one refusal also for unknown and disabled clients, and those of others.
function ownedBy(token: string, client: DynamicClient | undefined): DynamicClient {
  const isOwner = hasDigest(token, client?.registrationTokenDigest ?? noDigest)
  if (client !== undefined && isOwner && client.registration.disabled !== true) return client
  throw refused('registration_access_token_refused')
}

// Shorter than any digest.
const noDigest = '-'.repeat(42)

// RFC 7592 2.2: omitted members are gone. Issues a new secret in the last half of the current one, or to a client that
// knows only an older one.
async function update(
  registration: DynamicRegistration,
  { registration: { client_id } }: DynamicClient,
  token: string,
  { json, sender }: Pick<EndpointRequest<undefined>, 'json' | 'sender'>,
): Promise<EndpointResponse> {
  requireUpdate(json, client_id)
  const { stated, leftOut } = await readClientMetadata(json, registration, sender)
  if (stated.client_type === 'public') throw refused('client_metadata_refused/method_none')
  const spare = generateClientSecret()
  const now = registration.now()
  const next = { hash: spare.client_secret_hash, expiresAt: now + registration.clientSecretLifetime }
  const given = json['client_secret'] ?? undefined
  const stored = await registration.records.update(client_id, (current) => {
    const live = unexpiredSecrets(ownedBy(token, current), now)
    const shown = given === undefined ? undefined : live.find(({ hash }) => isSecret(given, hash))
    // RFC 7592 2.2: a client may not choose its secret.
    if (given !== undefined && shown === undefined) throw refused('client_metadata_refused/client_secret')
    const secrets = usesSecret(stated) ? nextSecrets(live, shown, next, now) : []
    const hashes = secrets.length > 0 && { client_secret_hashes: secrets.map(({ hash }) => hash) }
    return {
      ...current,
      registration: { ...stated, client_id, ...hashes },
      secretExpiries: secrets.map(({ expiresAt }) => expiresAt),
    }
  })
  if (stored === undefined) throw refused('registration_access_token_refused')
  const isNew = stored.registration.client_secret_hashes?.includes(spare.client_secret_hash) === true
  const secret = isNew ? spare.client_secret : undefined
  return { members: clientInformation(registration, stored, { secret, token, leftOut }) }
}

// RFC 7592 2.2: members that the server chose must not come back.
function requireUpdate(json: unknown, clientId: string): asserts json is Readonly<Record<string, unknown>> {
  if (!isRecord(json)) throw refused('client_metadata_malformed')
  const has = (name: string) => Object.hasOwn(json, name) && json[name] !== null
  if (json['client_id'] !== clientId) throw refused('client_metadata_refused/client_id')
  for (const member of chosenByServer)
    if (has(member)) throw refused('client_metadata_refused/left_out', { member })
}

const chosenByServer = [
  'registration_access_token',
  'registration_client_uri',
  'client_secret_expires_at',
  'client_id_issued_at',
]

interface Secret {
  readonly hash: string
  /** Seconds since the epoch. */
  readonly expiresAt: number
}

const unexpiredSecrets = ({ registration, secretExpiries }: DynamicClient, now: number): readonly Secret[] =>
  (registration.client_secret_hashes ?? [])
    .map((hash, at) => ({ hash, expiresAt: secretExpiries[at] ?? 0 }))
    .filter(({ expiresAt }) => expiresAt > now)

// The response with a new secret may get lost: the client then shows the previous one, and gets another.
function nextSecrets(
  live: readonly Secret[],
  shown: Secret | undefined,
  next: Secret,
  now: number,
): readonly Secret[] {
  const current = live.at(-1)
  const isKept = current !== undefined && current.expiresAt - now > (next.expiresAt - now) / 2
  if (isKept && (shown === undefined || shown === current)) return live
  const kept = shown ?? current
  return kept === undefined ? [next] : [kept, next]
}

const isSecret = (given: unknown, hash: string) =>
  typeof given === 'string' && isSameText(`sha256:${digest(given)}`, hash)
