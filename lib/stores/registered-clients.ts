import type { Client, FindClient } from '../protocol/client'
import type { ClientStore } from './client-store'
import { withinDeadline } from './deadline'

/** Clients of the configuration: found without a round trip. */
export function configuredClients(clients: readonly Client[]): FindClient {
  const byId = new Map(clients.map((client) => [client.client_id, client]))
  return (clientId) => byId.get(clientId)
}

/**
 * Clients of the host's own store. A registration is parsed once for as long as the store returns the same object, and what
 * is asked for many times in one turn is looked up once.
 */
export function storedClients(
  store: ClientStore,
  parse: (registration: unknown) => Client,
  deadlineSeconds: number,
): FindClient {
  const parsed = new WeakMap<object, Client>()
  return onceATurn(async (clientId) => {
    const registration = await withinDeadline(() => store.find(clientId), deadlineSeconds)
    if (registration === undefined || registration === null) return undefined
    const client = parsed.get(registration) ?? parse(registration)
    parsed.set(registration, client)
    // A database may compare without regard to case or trailing spaces; an identifier is exact.
    return client.client_id === clientId ? client : undefined
  })
}

// Of one turn and no longer: who comes later may come after the client was disabled, and must not see what was read before.
function onceATurn(find: FindClient): FindClient {
  const underWay = new Map<string, ReturnType<FindClient>>()
  return (clientId) => {
    const shared = underWay.get(clientId)
    if (shared !== undefined) return shared
    if (underWay.size === 0) setImmediate(() => underWay.clear())
    const own = find(clientId)
    underWay.set(clientId, own)
    return own
  }
}
