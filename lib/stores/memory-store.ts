import { expiryOf, type Authorization } from '../authorization/authorization'
import { ConfigurationError } from '../protocol/configuration'
import type { AuthorizationStore, StoredAuthorization } from './authorization-store'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** Records kept at most; one more is refused, never an older one dropped. Default 100 000. */
  readonly maximumRecords?: number
  /** Lets it run where `NODE_ENV` is `production`: one process, and a restart forgets every token. Default false. */
  readonly allowInProduction?: boolean
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

// Each save looks at a few records, so that expired ones go at the pace at which new ones come; at more when it is full.
const sweptPerSave = 4
const sweptWhenFull = 1000

/**
 * Authorizations in the memory of this process: nothing to install, nothing survives a restart, no second process.
 *
 * @throws ConfigurationError where `NODE_ENV` is `production`, unless `allowInProduction` is set.
 */
export function memoryStore(options: MemoryStoreOptions = {}): AuthorizationStore {
  if (process.env['NODE_ENV'] === 'production' && options.allowInProduction !== true)
    throw new ConfigurationError('The memory store is not for production:', [
      {
        path: 'store',
        problem:
          'must be one that processes share and restarts survive, such as redisStore({ url }); or say memoryStore({ allowInProduction: true }).',
      },
    ])
  return new MemoryStore(options.maximumRecords ?? 100_000, options.clock ?? Date.now)
}

class MemoryStore implements AuthorizationStore {
  private readonly records = new Map<string, StoredAuthorization>()
  private broom = this.records.entries()

  constructor(
    private readonly maximumRecords: number,
    private readonly clock: () => number,
  ) {}

  async find(id: string): Promise<StoredAuthorization | undefined> {
    return this.live(id)
  }

  // No await inside: comparing and writing are one act.
  async save(authorization: Authorization, revision: string, expected?: string): Promise<boolean> {
    const stored = this.live(authorization.id)
    if (stored?.revision === revision) return true
    if (stored?.revision !== expected) return false
    this.makeRoomFor(authorization.id)
    this.records.set(authorization.id, { authorization, revision })
    return true
  }

  async remove(id: string): Promise<void> {
    this.records.delete(id)
  }

  private live(id: string): StoredAuthorization | undefined {
    const stored = this.records.get(id)
    return stored === undefined || this.hasExpired(stored) ? undefined : stored
  }

  private makeRoomFor(id: string): void {
    this.sweep(sweptPerSave)
    if (this.records.size < this.maximumRecords || this.records.has(id)) return
    this.sweep(sweptWhenFull)
    if (this.records.size >= this.maximumRecords) throw new Error('The memory store is full.')
  }

  private sweep(records: number): void {
    for (let looked = 0; looked < records; looked++) {
      const { value, done } = this.broom.next()
      if (done === true) this.broom = this.records.entries()
      else if (this.hasExpired(value[1])) this.records.delete(value[0])
    }
  }

  private hasExpired({ authorization }: StoredAuthorization): boolean {
    return expiryOf(authorization) * 1000 <= this.clock()
  }
}
