import { ConfigurationError } from '../protocol/configuration'
import { steadyClock } from '../protocol/steady-clock'
import {
  changedDynamicClient,
  decodeDynamicClient,
  type DynamicClient,
  type DynamicClientStore,
  encodeDynamicClient,
} from './dynamic-client-store'
import { ExpiringMap } from './expiring-map'
import { InMemory } from './in-memory'

/** Options of {@link memoryDynamicClients}. */
export interface MemoryDynamicClientsOptions {
  /**
   * Allows clients in memory if `NODE_ENV` is `production`. A restart then loses every client, and a second process
   * knows none of them. Default false.
   */
  readonly allowInProduction?: boolean
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

/**
 * Keeps clients that registered themselves in the memory of this process, for tests and first steps. At most 100 000
 * clients.
 *
 * @throws ConfigurationError if `NODE_ENV` is `production`, unless `allowInProduction` is true.
 */
export function memoryDynamicClients(options: MemoryDynamicClientsOptions = {}): DynamicClientStore {
  if (process.env['NODE_ENV'] === 'production' && options.allowInProduction !== true)
    throw new ConfigurationError('Dynamic clients in memory are not for production:', [
      {
        path: 'dynamicRegistration.store',
        message:
          'must be a store that processes share and that survives restarts, such as redisStore({ url }).dynamicClients; or allow it: memoryDynamicClients({ allowInProduction: true }).',
      },
    ])
  return new MemoryDynamicClients(options.clock ?? Date.now)
}

interface Kept {
  readonly client: DynamicClient
  /** Milliseconds by the clock of the map. */
  readonly endsAt: number
}

const mostClients = 100_000

// Each verb contains no await, so reading and writing are one atomic act.
class MemoryDynamicClients extends InMemory implements DynamicClientStore {
  private readonly clock: () => number
  private readonly clients: ExpiringMap<Kept>

  constructor(clock: () => number) {
    super()
    this.clock = steadyClock(clock)
    this.clients = new ExpiringMap(mostClients, this.clock)
  }

  async find(clientId: string): Promise<DynamicClient | undefined> {
    return this.clients.get(clientId)?.client
  }

  async add(client: DynamicClient, lifetime: number, maximum: number): Promise<DynamicClient | undefined> {
    const { client_id } = client.registration
    const kept = this.clients.get(client_id)
    if (kept !== undefined) {
      this.prolong(client_id, lifetime, lifetime)
      return kept.client
    }
    if (!this.clients.hasRoom(Math.min(maximum, mostClients))) return undefined
    return this.keep(client, this.endOf(lifetime))
  }

  async update(
    clientId: string,
    change: (client: DynamicClient) => DynamicClient,
  ): Promise<DynamicClient | undefined> {
    const kept = this.clients.get(clientId)
    if (kept === undefined) return undefined
    const next = changedDynamicClient(kept.client, change)
    return next === kept.client ? next : this.keep(next, kept.endsAt)
  }

  async remove(clientId: string): Promise<void> {
    this.clients.delete(clientId)
  }

  async extend(clientId: string, lifetime: number, unlessLeft: number): Promise<void> {
    this.prolong(clientId, lifetime, unlessLeft)
  }

  private prolong(clientId: string, lifetime: number, unlessLeft: number): void {
    const kept = this.clients.get(clientId)
    if (kept === undefined || kept.endsAt >= this.endOf(unlessLeft)) return
    this.clients.set(clientId, { ...kept, endsAt: this.endOf(lifetime) }, this.endOf(lifetime))
  }

  private endOf(lifetime: number): number {
    return this.clock() + lifetime * 1000
  }

  // Stores a frozen copy, made through text: as in a database, only `update` can change a stored client.
  private keep(client: DynamicClient, endsAt: number): DynamicClient {
    const stored = decodeDynamicClient(encodeDynamicClient(client))
    this.clients.set(stored.registration.client_id, { client: stored, endsAt }, endsAt)
    return stored
  }
}
