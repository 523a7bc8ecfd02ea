import type { Client, FindClient } from '../protocol/client'
import { ConfigurationError, isText } from '../protocol/configuration'
import { parseStoredClient } from '../protocol/parse-client'
import { covers, formatScope, parseScope, type Scope } from '../protocol/scope'
import type { DynamicClient } from '../stores/dynamic-client-store'
import { oncePerTurn, ParsedRegistrations } from '../stores/registered-clients'
import { isDynamicClientId } from './client-id'
import type { DynamicRegistration } from './options'

/**
 * Finds clients that registered themselves, besides the clients of the host. The form of the identifier says where to
 * look first, so a look-up costs one read of one store. No registration can take the identifier of a client of the
 * host, because a client does not choose it. A client that has ended here may live on in the option `clients`, if the
 * host has put it there.
 */
export function withDynamicClients(
  findClient: FindClient,
  {
    store,
    capabilities,
    scope,
    clock,
  }: Pick<DynamicRegistration, 'store' | 'capabilities' | 'scope' | 'clock'>,
): FindClient {
  const parsed = new ParsedRegistrations((registration) => {
    const client = parseStoredClient(withinScope(registration, scope), capabilities)
    return Object.freeze({ ...client, selfRegistered: true as const })
  })
  const find = oncePerTurn(async (clientId) => {
    const found = await store.find(clientId)
    if (found === undefined || found === null || found.registration.client_id !== clientId)
      return findClient(clientId)
    return withLiveSecrets(clientOf(found, parsed), found, Math.floor(clock() / 1000))
  })
  return (clientId, networkRefusal) =>
    isDynamicClientId(clientId) ? find(clientId) : findClient(clientId, networkRefusal)
}

// The host may have changed what such clients get since the client registered. A client that cannot work any more
// counts as ended: its owner is a stranger, who can only register again.
function clientOf({ registration }: DynamicClient, parsed: ParsedRegistrations): Client | undefined {
  try {
    return parsed.clientOf(registration)
  } catch (error) {
    if (error instanceof ConfigurationError) return undefined
    throw error
  }
}

/** Leaves a client the scope that such clients still get. */
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
