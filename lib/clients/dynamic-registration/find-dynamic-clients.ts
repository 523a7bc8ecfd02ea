import { ConfigurationError } from '../../primitives/configuration-error'
import { isText } from '../../primitives/values'
import type { Client, FindClient } from '../../protocol/client'
import { parseStoredClient, type ServerCapabilities } from '../../protocol/parse-client'
import { covers, formatScope, parseScope, type Scope } from '../../protocol/scope'
import { clientLookUps, ParsedRegistrations } from '../../stores/clients'
import { type DynamicClient, type DynamicClientRecords, isDynamicClientId } from './dynamic-clients'

interface DynamicClients {
  readonly findHostClient: FindClient
  readonly records: DynamicClientRecords
  readonly capabilities: ServerCapabilities
  readonly scope: Scope
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

/** The host's clients come first: a registration must not hide their scope or their `disabled`. */
export function withDynamicClients(clients: DynamicClients): FindClient {
  const { findHostClient, records, capabilities, scope, clock } = clients
  const parsed = new ParsedRegistrations((source) => {
    const client = parseStoredClient(withinScope(source, scope), capabilities)
    return Object.freeze({ ...client, ...withoutPages, selfRegistered: true as const })
  })
  const find = async (clientId: string) => {
    // In one turn, so that a store may answer both reads together.
    const [ofHost, found] = await Promise.all([findHostClient(clientId), records.find(clientId)])
    if (ofHost !== undefined || found === undefined) return ofHost
    return withLiveSecrets(clientOf(found, parsed), found, Math.floor(clock() / 1000))
  }
  const lookUps = clientLookUps()
  return (clientId, sender) =>
    isDynamicClientId(clientId)
      ? lookUps.share(clientId, () => find(clientId))
      : findHostClient(clientId, sender)
}

// A logo or a link would lend the name of any host to the client.
const withoutPages = {
  client_uri: undefined,
  logo_uri: undefined,
  policy_uri: undefined,
  tos_uri: undefined,
} satisfies Partial<Client>

// The host may have narrowed what such clients get. A client that cannot work counts as ended: it can
// register again.
function clientOf({ registration }: DynamicClient, parsed: ParsedRegistrations): Client | undefined {
  try {
    return parsed.clientOf(registration)
  } catch (error) {
    if (error instanceof ConfigurationError) return undefined
    throw error
  }
}

function withinScope(registration: object, allowed: Scope): object {
  const scope =
    'scope' in registration && isText(registration.scope) ? parseScope(registration.scope) : undefined
  if (scope === undefined || covers(allowed, scope)) return registration
  return { ...registration, scope: formatScope(scope.filter((token) => allowed.includes(token))) }
}

// RFC 7591 3.2.1: a secret ends at its client_secret_expires_at.
function withLiveSecrets(
  client: Client | undefined,
  { secretExpiries }: DynamicClient,
  now: number,
): Client | undefined {
  if (client === undefined || secretExpiries.every((end) => end > now)) return client
  const client_secret_hashes = client.client_secret_hashes.filter((_, at) => (secretExpiries[at] ?? 0) > now)
  return Object.freeze({ ...client, client_secret_hashes })
}
