import { generateClientSecret } from '../client-authentication/client-secret'
import { type Client, type ClientRegistration, liveSecrets } from '../protocol/client'
import { ConfigurationError, type ConfigurationIssue } from '../primitives/configuration-error'
import { isRecord } from '../primitives/values'
import { createId, secureRandom } from '../protocol/credential'
import {
  anyCapabilities,
  parseWrittenClient,
  registrationOf,
  type ServerCapabilities,
} from '../protocol/parse-client'
import type { ClientRegistry } from '../stores/registered'

/**
 * The metadata of a new client (RFC 7591 2). Only a client that moves here brings its own `client_id` and
 * `client_secret_hashes`. Default: registration issues them.
 */
export type ClientMetadata = Omit<ClientRegistration, 'client_id'> & {
  readonly client_id?: string | undefined
}

/** RFC 6749 2.2 and 2.3. */
export interface IssuedCredentials {
  /** 22 characters of base64url, 132 random bits; or the `client_id` of the metadata. */
  readonly client_id: string
  /**
   * 43 characters of base64url, 258 random bits. Undefined for a public client, and for one with its own
   * digests. The registration holds only its digest.
   */
  readonly client_secret: string | undefined
}

/**
 * Issues an identifier and, to a confidential client without its own digests, a secret.
 *
 * @param offered the server's capabilities, a limit. Default: no limit; other rules apply.
 * @throws ConfigurationError that lists every mistake, or if the chosen `client_id` is taken (RFC 6749 2.2).
 */
export function registerClient(
  clients: ClientRegistry,
  metadata: ClientMetadata,
  offered: ServerCapabilities = anyCapabilities,
): Promise<IssuedCredentials> {
  return registerFrom(clients, metadata, offered)
}

export async function registerFrom(
  clients: ClientRegistry,
  metadata: unknown,
  offered: ServerCapabilities,
): Promise<IssuedCredentials> {
  if (!isRecord(metadata)) throw refused([{ path: 'metadata', message: 'must be an object.' }])
  const secret = needsSecret(metadata) ? generateClientSecret() : undefined
  const issued = {
    client_id: metadata['client_id'] ?? createId(secureRandom),
    client_secret_hashes:
      secret === undefined ? metadata['client_secret_hashes'] : [secret.client_secret_hash],
  }
  const client = read({ ...metadata, ...issued }, offered)
  if (!(await clients.add(registrationOf(client))))
    throw refused([{ path: 'client_id', message: 'is taken: another client has it, and keeps it.' }])
  return { client_id: client.client_id, client_secret: secret?.client_secret }
}

// RFC 6749 2.3. `parseClient` reports an empty list of digests.
function needsSecret(metadata: Readonly<Record<string, unknown>>): boolean {
  return (
    metadata['client_type'] === 'confidential' &&
    (metadata['client_secret_hashes'] ?? undefined) === undefined
  )
}

function read(source: unknown, offered: ServerCapabilities): Client {
  const issues: ConfigurationIssue[] = []
  const client = parseWrittenClient(source, '', issues, offered)
  // Each digest may cost a bcrypt comparison, and every refusal costs as much as the dearest client.
  if (client.client_secret_hashes.length > liveSecrets)
    issues.push({
      path: 'client_secret_hashes',
      message: 'must hold two digests at most: one of the previous secret and one of the current secret.',
    })
  if (issues.length > 0) throw refused(issues)
  return client
}

const refused = (issues: readonly ConfigurationIssue[]) =>
  new ConfigurationError('The client cannot be registered:', issues)
