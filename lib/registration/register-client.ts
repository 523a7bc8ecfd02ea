import { generateClientSecret } from '../client-authentication/client-secret'
import { type Client, type ClientRegistration, liveSecrets } from '../protocol/client'
import { ConfigurationError, type ConfigurationIssue, isRecord } from '../protocol/configuration'
import { createId, secureRandom } from '../protocol/credential'
import {
  anyCapabilities,
  parseClient,
  registrationOf,
  type ServerCapabilities,
} from '../protocol/parse-client'
import type { ClientRegistry } from '../stores/client-store'

/**
 * What is registered of a client (RFC 7591 2): a registration to which the suite adds what it issues. `client_id` and
 * `client_secret_hashes` are for clients that had theirs before, elsewhere; left out, both are issued.
 */
export type ClientMetadata = Omit<ClientRegistration, 'client_id'> & {
  readonly client_id?: string | undefined
}

/** What a client gets to identify and authenticate itself by (RFC 6749 2.2 and 2.3). */
export interface IssuedCredentials {
  /** 22 characters of base64url, 128 random bits, unless one was chosen. */
  readonly client_id: string
  /** 43 characters of base64url, 256 random bits. It is here and nowhere else: the registration keeps its digest. */
  readonly client_secret: string | undefined
}

/**
 * Registers a client and issues its identifier and, to a confidential one without digests of its own, a secret.
 *
 * @param offered what the server has, so that nothing beyond it is registered; left out, every other rule is checked.
 * @throws ConfigurationError that lists every mistake, or because the chosen `client_id` is taken (RFC 6749 2.2).
 */
export function registerClient(
  clients: ClientRegistry,
  metadata: ClientMetadata,
  offered: ServerCapabilities = anyCapabilities,
): Promise<IssuedCredentials> {
  return registerFrom(clients, metadata, offered)
}

/** Registers a client from metadata of unknown content; see {@link registerClient}. */
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

// RFC 6749 2.3: a confidential client has credentials. An empty list of digests is a mistake, and told as one.
function needsSecret(metadata: Readonly<Record<string, unknown>>): boolean {
  return (
    metadata['client_type'] === 'confidential' &&
    (metadata['client_secret_hashes'] ?? undefined) === undefined
  )
}

function read(source: unknown, offered: ServerCapabilities): Client {
  const issues: ConfigurationIssue[] = []
  const client = parseClient(source, '', issues, offered)
  // Each may cost a comparison, and every refusal costs what those of any one client would.
  if (client.client_secret_hashes.length > liveSecrets)
    issues.push({
      path: 'client_secret_hashes',
      message: 'must hold two digests at most: of the secret before, and of the current one.',
    })
  if (issues.length > 0) throw refused(issues)
  return client
}

const refused = (issues: readonly ConfigurationIssue[]) =>
  new ConfigurationError('The client cannot be registered:', issues)
