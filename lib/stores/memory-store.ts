import { expiryOf, type Authorization } from '../authorization/authorization'
import { ConfigurationError } from '../protocol/configuration'
import type { AuthorizationStore, StoredAuthorization } from './authorization-store'
import type { Counters } from './counters'
import { ExpiringMap } from './expiring-map'
import { memoryCounters } from './memory-counters'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** Records kept at most; one more is refused, never an older one dropped. Default 100 000. */
  readonly maximumRecords?: number
  /** Lets it run where `NODE_ENV` is `production`: one process, and a restart forgets every token. Default false. */
  readonly allowInProduction?: boolean
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

/** An {@link AuthorizationStore} in memory. */
export interface MemoryStore extends AuthorizationStore {
  /** What is counted beside it. */
  readonly counters: Counters
}

/**
 * Authorizations in the memory of this process: nothing to install, nothing survives a restart, no second process.
 *
 * @throws ConfigurationError where `NODE_ENV` is `production`, unless `allowInProduction` is set.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  if (process.env['NODE_ENV'] === 'production' && options.allowInProduction !== true)
    throw new ConfigurationError('The memory store is not for production:', [
      {
        path: 'store',
        problem:
          'must be one that processes share and restarts survive, such as redisStore({ url }); or say memoryStore({ allowInProduction: true }).',
      },
    ])
  return new RecordPerAuthorization(options.maximumRecords ?? 100_000, options.clock ?? Date.now)
}

class RecordPerAuthorization implements MemoryStore {
  readonly counters: Counters
  private readonly records: ExpiringMap<StoredAuthorization>

  constructor(maximumRecords: number, clock: () => number) {
    this.counters = memoryCounters({ maximumKeys: maximumRecords, clock })
    this.records = new ExpiringMap(
      maximumRecords,
      ({ authorization }) => expiryOf(authorization) * 1000 <= clock(),
    )
  }

  async find(id: string): Promise<StoredAuthorization | undefined> {
    return this.records.get(id)
  }

  // No await inside: comparing and writing are one act.
  async save(authorization: Authorization, revision: string, expected?: string): Promise<boolean> {
    const stored = this.records.get(authorization.id)
    if (stored?.revision === revision) return true
    if (stored?.revision !== expected) return false
    if (!this.records.set(authorization.id, { authorization, revision }))
      throw new Error('The memory store is full.')
    return true
  }

  async remove(id: string): Promise<void> {
    this.records.delete(id)
  }
}
