import { ConfigurationError } from '../primitives/configuration-error'
import { ExpiringMap } from '../primitives/maps'
import { steadyClock } from '../primitives/clock'
import { type Count, InMemory, markSeconds, type Store, type StoredValue, type WriteTerms } from './store'

export interface MemoryStoreOptions {
  /**
   * The largest number of records of each kind, such as authorizations, about 2 KB each. A full store rejects new
   * records. Default 100 000.
   */
  readonly maximumRecords?: number
  /** Allows production (`NODE_ENV`). Default false. */
  readonly allowInProduction?: boolean
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

/**
 * Stores everything in this process, for tests and first steps: a restart loses every token, and no other process knows
 * them.
 *
 * @throws ConfigurationError if `NODE_ENV` is `production`, unless `allowInProduction` is true.
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  if (process.env['NODE_ENV'] === 'production' && options.allowInProduction !== true)
    throw new ConfigurationError('The memory store is not for production:', [
      {
        path: 'store',
        message:
          'must survive restarts and be shared by all processes, because NODE_ENV is production: use storeFrom(process.env) with STORE_URL, or allow memory: memoryStore({ allowInProduction: true }).',
      },
    ])
  return new RecordsInMemory(options.maximumRecords ?? usualMaximum, options.clock ?? Date.now)
}

export const usualMaximum = 100_000

interface Counted {
  readonly count: number
  readonly endsAt: number
}

const removed: StoredValue = { value: '', version: '' }

// No verb contains an await: each is atomic.
class RecordsInMemory extends InMemory implements Store {
  private readonly rooms = new Map<string, ExpiringMap<StoredValue>>()
  private readonly counts: ExpiringMap<Counted>
  private readonly steady: () => number

  constructor(
    private readonly maximumRecords: number,
    clock: () => number,
  ) {
    super()
    // A step of the host's clock ends no record early or late.
    this.steady = steadyClock(clock)
    this.counts = new ExpiringMap(maximumRecords, this.steady)
  }

  async read(key: string): Promise<StoredValue | undefined> {
    const stored = this.roomOf(key).get(key)
    return stored === removed ? undefined : stored
  }

  async write(
    key: string,
    value: string,
    { version, expected, seconds = Infinity }: WriteTerms,
  ): Promise<boolean> {
    const room = this.roomOf(key)
    const stored = room.get(key)
    if (stored?.version === version) return true
    if (stored === removed && expected === undefined) throw new Error('The record was removed.')
    if (stored?.version !== expected || stored === removed) return false
    this.put(room, key, { value, version }, seconds)
    return true
  }

  async remove(key: string): Promise<void> {
    this.put(this.roomOf(key), key, removed, markSeconds)
  }

  async add(key: string, amount: 1 | -1, seconds: number): Promise<Count> {
    const now = this.steady()
    const { count: before, endsAt } = this.counts.get(key) ?? { count: 0, endsAt: now + seconds * 1000 }
    const count = before + amount
    if (count <= 0) {
      this.counts.delete(key)
      return { count: 0, secondsLeft: 0 }
    }
    // A dropped key would let its failed attempts begin again.
    if (!this.counts.set(key, { count, endsAt }, endsAt)) throw full()
    return { count, secondsLeft: Math.ceil((endsAt - now) / 1000) }
  }

  async list(kind: 'client'): Promise<readonly string[]> {
    const from = `${kind}:`
    const keys = this.roomOf(from).lastingKeys()
    return Array.from(keys, (key) => key.slice(from.length))
  }

  private put(room: ExpiringMap<StoredValue>, key: string, stored: StoredValue, seconds: number): void {
    if (!room.set(key, stored, this.steady() + seconds * 1000)) throw full()
  }

  // Records of one kind must not crowd out others.
  private roomOf(key: string): ExpiringMap<StoredValue> {
    const kind = key.slice(0, key.indexOf(':'))
    const known = this.rooms.get(kind)
    if (known !== undefined) return known
    const room = new ExpiringMap<StoredValue>(this.maximumRecords, this.steady)
    this.rooms.set(kind, room)
    return room
  }
}

const full = () => new Error('The memory store is full.')
