import { generateClientSecret } from '../../client-authentication/client-secret'
import { digest, hasDigest, isSameText } from '../../protocol/credential'
import { isRecord } from '../../primitives/values'
import type { Endpoint, EndpointResponse, EndpointRequest } from '../../protocol/endpoint'
import { refused } from '../../protocol/refusals'
import { isDynamicClientId } from './client-id'
import type { DynamicClient } from './dynamic-clients'
import { bearerTokenOf, clientInformation, senderOf } from './register'
import { readClientMetadata, type StatedRegistration, usesSecret } from './registration-metadata'
import { type DynamicRegistration, registrationEndpointNames } from './registration-options'

/**
 * RFC 7592 2, for confidential clients. Each learns its own URI when it registers, so the metadata does not
 * name it.
 *
 * @param revokeClient ends the client's grants. Default: its access tokens work until they expire.
 */
export function clientConfigurationEndpoint(
  registration: DynamicRegistration,
  revokeClient?: (clientId: string) => Promise<void>,
): Endpoint {
  return {
    name: registrationEndpointNames.clientConfigurationPath,
    path: registration.clientConfigurationPath,
    method: ['GET', 'PUT', 'DELETE'],
    body: 'json',
    cors: true,
    listed: false,
    clientAuthentication: 'none',
    handle: async (request) => {
      const clientId = request.parameters.require('client_id')
      const token = bearerTokenOf(request) ?? ''
      const { hostClients, records } = registration
      // The host may have taken over the client.
      const isSelfRegistered = isDynamicClientId(clientId) && (await hostClients.find(clientId)) === undefined
      const found = isSelfRegistered ? await records.find(clientId) : undefined
      const client = ownedBy(token, found)
      if (request.method === 'PUT') return update(registration, client, token, request)
      if (request.method !== 'DELETE') return { members: clientInformation(registration, client, { token }) }
      // First: a client that is gone could not repeat the request if the mark failed.
      await revokeClient?.(clientId)
      await records.remove(clientId)
      return { status: 204, members: {} }
    },
  }
}

/**
 * One refusal also for an unknown client, a public one, one of another issuer, a disabled one and one of the host
 * (RFC 7592 2.1).
 */
function ownedBy(token: string, client: DynamicClient | undefined): DynamicClient {
  const isOwner = hasDigest(token, client?.registrationTokenDigest ?? noDigest)
  if (client !== undefined && isOwner && client.registration.disabled !== true) return client
  throw refused('registration_access_token_refused')
}

// Shorter than any digest.
const noDigest = '-'.repeat(42)

/**
 * RFC 7592 2.2: members that the request leaves out are gone. Issues a new secret in the last half of the
 * current one's lifetime, or if the client knows only an older one.
 */
async function update(
  registration: DynamicRegistration,
  { registration: { client_id } }: DynamicClient,
  token: string,
  request: Pick<EndpointRequest<undefined>, 'json' | 'address'>,
): Promise<EndpointResponse> {
  const { json } = request
  requireUpdate(json, client_id)
  const stated = await readClientMetadata(json, registration, senderOf(request))
  if (stated.client_type === 'public') throw refused('client_metadata_refused/method_none')
  const spare = generateClientSecret()
  const now = Math.floor(registration.clock() / 1000)
  const lifetime = registration.clientSecretLifetime
  const stored = await registration.records.update(client_id, (current) => {
    const secrets = nextSecrets(
      ownedBy(token, current),
      stated,
      { now, lifetime, ...spare },
      json['client_secret'],
    )
    return {
      ...current,
      registration: { ...stated, client_id, ...hashesOf(secrets) },
      secretExpiries: secrets.map(({ expiresAt }) => expiresAt),
    }
  })
  if (stored === undefined) throw refused('registration_access_token_refused')
  const isNew = stored.registration.client_secret_hashes?.includes(spare.client_secret_hash) === true
  const secret = isNew ? spare.client_secret : undefined
  return { members: clientInformation(registration, stored, { secret, token }) }
}

// RFC 7592 2.2: members that the server chose must not come back, except the client_id.
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

const hashesOf = (secrets: readonly Secret[]) =>
  secrets.length === 0 ? {} : { client_secret_hashes: secrets.map(({ hash }) => hash) }

interface Rotation {
  readonly client_secret_hash: string
  readonly lifetime: number
  readonly now: number
}

// The response with a new secret may get lost, so the previous one stays valid until its own end. The client
// then shows it in its next update, and gets another.
function nextSecrets(
  { registration, secretExpiries }: DynamicClient,
  stated: StatedRegistration,
  { client_secret_hash, lifetime, now }: Rotation,
  given: unknown,
): readonly Secret[] {
  const hashes = registration.client_secret_hashes ?? []
  const live = hashes
    .map((hash, at) => ({ hash, expiresAt: secretExpiries[at] ?? 0 }))
    .filter(({ expiresAt }) => expiresAt > now)
  const shown =
    given === undefined || given === null ? undefined : live.find(({ hash }) => isSecret(given, hash))
  // RFC 7592 2.2: a client may not choose its secret.
  if (given !== undefined && given !== null && shown === undefined)
    throw refused('client_metadata_refused/client_secret')
  if (!usesSecret(stated)) return []
  const current = live.at(-1)
  const isKept = current !== undefined && current.expiresAt - now > lifetime / 2
  if (isKept && (shown === undefined || shown === current)) return live
  const kept = shown ?? current
  return [...(kept === undefined ? [] : [kept]), { hash: client_secret_hash, expiresAt: now + lifetime }]
}

const isSecret = (given: unknown, hash: string) =>
  typeof given === 'string' && isSameText(`sha256:${digest(given)}`, hash)
