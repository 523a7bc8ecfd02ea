import { overLimit } from '../protocol/refusals'
import { steadyClock } from '../primitives/steady-clock'
import type { Count, Counters } from '../limits/counters'
import { ExpiringMap, shareWait } from '../primitives/expiring-map'
import { InMemory } from './in-memory'

export interface MemoryCountersOptions {
  /**
   * The largest number of keys. Full counters reject new keys and drop none. The single uses of one share get
   * at most a quarter. Default 100 000.
   */
  readonly maximumKeys?: number
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

/** Counts in this process. Each process counts for itself, and a restart loses all counts. */
export function memoryCounters({
  maximumKeys = 100_000,
  clock = Date.now,
}: MemoryCountersOptions = {}): Counters {
  return new MemoryCounters(maximumKeys, clock)
}

interface Counted {
  readonly count: number
  readonly endsAt: number
}

// No await in `add` and `useOnce`: each is atomic.
class MemoryCounters extends InMemory implements Counters {
  private readonly entries: ExpiringMap<Counted>

  private readonly clock: () => number

  constructor(maximumKeys: number, clock: () => number) {
    super()
    this.clock = steadyClock(clock)
    this.entries = new ExpiringMap(maximumKeys, this.clock)
  }

  async add(key: string, amount: 1 | -1, seconds: number): Promise<Count> {
    return this.change(`count:${key}`, amount, seconds)
  }

  async useOnce(key: string, seconds: number, share?: string): Promise<boolean> {
    return this.change(`spent:${key}`, 1, seconds, share === undefined ? [] : [share]).count === 1
  }

  private change(key: string, amount: 1 | -1, seconds: number, shares: readonly string[] = []): Count {
    const { count: before, endsAt } = this.entries.get(key) ?? {
      count: 0,
      endsAt: this.clock() + seconds * 1000,
    }
    const count = before + amount
    if (count <= 0) {
      this.entries.delete(key)
      return { count: 0, secondsLeft: 0 }
    }
    if (this.entries.fullShare(key, shares) !== undefined) throw overLimit('single_uses_full', shareWait)
    // Full counters fail: a dropped key would let its failed attempts begin again.
    if (!this.entries.set(key, { count, endsAt }, endsAt, shares))
      throw new Error('The counters in memory are full.')
    return { count, secondsLeft: Math.ceil((endsAt - this.clock()) / 1000) }
  }
}
