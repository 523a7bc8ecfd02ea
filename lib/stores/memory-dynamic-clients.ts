import { ConfigurationError } from '../primitives/configuration-error'
import { steadyClock } from '../primitives/steady-clock'
import {
  type DynamicClientAddition,
  type DynamicClientAdditionResult,
  changedDynamicClient,
  decodeDynamicClient,
  type DynamicClient,
  type DynamicClientStore,
  encodeDynamicClient,
  foundResult,
  generationOf,
  leastLifetime,
  markedId,
  removalMark,
} from './dynamic-client-store'
import { ExpiringMap } from '../primitives/expiring-map'
import { InMemory } from './in-memory'
import { givingWay, type UnusedClient } from './unused-clients'

export interface MemoryDynamicClientsOptions {
  /**
   * Allows production (`NODE_ENV`). A restart then loses every client, and no other process knows them. Default
   * false.
   */
  readonly allowInProduction?: boolean
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

/**
 * Stores clients that registered themselves in this process, for tests and first steps. At most 100 000.
 *
 * @throws ConfigurationError if `NODE_ENV` is `production`, unless `allowInProduction` is true.
 */
export function memoryDynamicClients(options: MemoryDynamicClientsOptions = {}): DynamicClientStore {
  if (process.env['NODE_ENV'] === 'production' && options.allowInProduction !== true)
    throw new ConfigurationError('Dynamic clients in memory are not for production:', [
      {
        path: 'dynamicRegistration.store',
        message:
          'must survive restarts and be shared by all processes, because NODE_ENV is production: use redisStore({ url }).dynamicClients, or allow memory: memoryDynamicClients({ allowInProduction: true }).',
      },
    ])
  return new MemoryDynamicClients(options.clock ?? Date.now)
}

interface Kept {
  readonly client: DynamicClient
  readonly endsAt: number
  /** Undefined for a client that gives way to no other. */
  readonly unused: UnusedClient | undefined
}

interface Mark {
  readonly generation: number
  readonly endsAt: number
}

const mostClients = 100_000

// No verb contains an await: each is atomic.
class MemoryDynamicClients extends InMemory implements DynamicClientStore {
  private readonly clock: () => number
  private readonly clients: ExpiringMap<Kept>
  private readonly marks: ExpiringMap<Mark>

  constructor(clock: () => number) {
    super()
    this.clock = steadyClock(clock)
    this.clients = new ExpiringMap(mostClients, this.clock)
    this.marks = new ExpiringMap(mostClients, this.clock)
  }

  async find(clientId: string): Promise<DynamicClient | undefined> {
    return this.clients.get(clientId)?.client
  }

  async add(addition: DynamicClientAddition): Promise<DynamicClientAdditionResult> {
    const { client, lifetime, maximum, network = '', grace = lifetime } = addition
    const { client_id } = client.registration
    const kept = this.clients.get(client_id)
    if (kept !== undefined) {
      this.put(this.registeredAgain(kept, addition))
      return foundResult(kept.client)
    }
    const mark = this.marks.get(markedId(client))
    if (mark !== undefined && mark.generation > generationOf(client))
      return { outcome: 'removed', generation: mark.generation }
    if (!this.makeRoom(Math.min(maximum, mostClients))) return { outcome: 'full' }
    const unused = { clientId: client_id, network, heldUntil: this.endOf(grace) }
    const added = { client: copyOf(client), endsAt: this.endOf(lifetime), unused }
    this.put(this.held(added, 0))
    return { outcome: 'stored', client: added.client }
  }

  async update(
    clientId: string,
    change: (client: DynamicClient) => DynamicClient,
  ): Promise<DynamicClient | undefined> {
    const kept = this.clients.get(clientId)
    if (kept === undefined) return undefined
    const next = changedDynamicClient(kept.client, change)
    if (next === kept.client) return next
    const least = leastLifetime(next)
    const endsAt = Math.max(kept.endsAt, this.endOf(least))
    const changed = { client: copyOf(next), endsAt, unused: least > 0 ? undefined : kept.unused }
    this.put(changed)
    return changed.client
  }

  async remove(clientId: string): Promise<void> {
    const kept = this.clients.get(clientId)
    if (kept === undefined) return
    const { generation, lifetime, outlivesClient, ...mark } = removalMark(kept.client)
    const endsAt = this.endOf(lifetime)
    this.mark(mark.clientId, generation, outlivesClient ? Math.max(endsAt, kept.endsAt) : endsAt)
    this.clients.delete(clientId)
  }

  async extend(clientId: string, lifetime: number, unlessLeft: number): Promise<void> {
    const kept = this.clients.get(clientId)
    if (kept !== undefined) this.put(this.held(this.prolonged(kept, lifetime, unlessLeft), lifetime))
  }

  private registeredAgain(
    kept: Kept,
    { lifetime, network = '', grace = lifetime }: DynamicClientAddition,
  ): Kept {
    const prolonged = this.prolonged(kept, lifetime, lifetime)
    // A client that lives on only by registering again is unused again.
    const isUnused = kept.unused === undefined && prolonged !== kept && leastLifetime(kept.client) === 0
    if (!isUnused) return this.held(prolonged, grace)
    const { client_id: clientId } = kept.client.registration
    return this.held({ ...prolonged, unused: { clientId, network, heldUntil: kept.endsAt } }, grace)
  }

  private prolonged(kept: Kept, lifetime: number, unlessLeft: number): Kept {
    return kept.endsAt < this.endOf(unlessLeft) ? { ...kept, endsAt: this.endOf(lifetime) } : kept
  }

  // A client that is held to its end is not unused.
  private held(kept: Kept, seconds: number): Kept {
    if (kept.unused === undefined) return kept
    const heldUntil = Math.max(kept.unused.heldUntil, this.endOf(seconds))
    return { ...kept, unused: heldUntil < kept.endsAt ? { ...kept.unused, heldUntil } : undefined }
  }

  private makeRoom(maximum: number): boolean {
    if (this.clients.hasRoom(maximum)) return true
    // One client makes no room where a host has lowered the maximum.
    if (!this.clients.hasRoom(maximum + 1)) return false
    const clientId = givingWay(this.unused(), this.clock())
    if (clientId !== undefined) this.clients.delete(clientId)
    return clientId !== undefined
  }

  private *unused(): Iterable<UnusedClient> {
    for (const { unused } of this.clients.values()) if (unused !== undefined) yield unused
  }

  private endOf(lifetime: number): number {
    return this.clock() + lifetime * 1000
  }

  private put(kept: Kept): void {
    const { client, endsAt } = kept
    this.clients.set(client.registration.client_id, kept, endsAt)
    const generation = generationOf(client)
    if (generation > 0) this.mark(markedId(client), generation, endsAt)
  }

  private mark(clientId: string, generation: number, endsAt: number): void {
    const before = this.marks.get(clientId) ?? { generation, endsAt }
    const mark = {
      generation: Math.max(before.generation, generation),
      endsAt: Math.max(before.endsAt, endsAt),
    }
    if (!this.marks.set(clientId, mark, mark.endsAt))
      throw new Error(
        `The memory holds the marks of ${mostClients} removed clients, and has no room for more.`,
      )
  }
}

// A frozen copy: as in a database, only `update` changes it.
const copyOf = (client: DynamicClient) => decodeDynamicClient(encodeDynamicClient(client))
