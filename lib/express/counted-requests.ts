import type { ClientRateLimitInfo, Options, Store } from 'express-rate-limit'

const networksAtMost = 100_000

interface Counted {
  hits: number
  readonly endsAt: number
}

/**
 * Counts in the memory of this process, by the clock of the server, of bounded size and without a timer. All counts last
 * equally long, so that the first ones of the map are the first to end.
 */
export class CountedRequests implements Store {
  readonly localKeys = true
  private milliseconds = 60_000
  private readonly counts = new Map<string, Counted>()

  /** @param clock milliseconds since the epoch. */
  constructor(private readonly clock: () => number) {}

  init({ windowMs }: Options): void {
    this.milliseconds = windowMs
  }

  async increment(key: string): Promise<ClientRateLimitInfo> {
    const counted = this.countOf(key, this.clock())
    counted.hits += 1
    return { totalHits: counted.hits, resetTime: new Date(counted.endsAt) }
  }

  /** Part of the contract of a store, as `resetKey` is; the suite asks for neither. */
  async decrement(key: string): Promise<void> {
    const counted = this.counts.get(key)
    if (counted !== undefined && counted.hits > 0) counted.hits -= 1
  }

  async resetKey(key: string): Promise<void> {
    this.counts.delete(key)
  }

  private countOf(key: string, now: number): Counted {
    const known = this.counts.get(key)
    if (known !== undefined && known.endsAt > now) return known
    this.counts.delete(key)
    for (const [ended, { endsAt }] of this.counts) {
      if (endsAt > now) break
      this.counts.delete(ended)
    }
    // Forgetting a network would let it begin anew: one more than there is room for passes uncounted instead.
    if (this.counts.size >= networksAtMost) throw new Error('The counts of requests in memory are full.')
    const begun = { hits: 0, endsAt: now + this.milliseconds }
    this.counts.set(key, begun)
    return begun
  }
}
