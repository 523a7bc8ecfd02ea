import type { ClientRateLimitInfo, Options, Store } from 'express-rate-limit'
import { EqualWindows } from '../attempts/equal-windows'

/** Counts of requests in the memory of this process, by the clock of the server, for a hundred thousand networks. */
export class CountedRequests implements Store {
  readonly localKeys = true
  private counts: EqualWindows

  /** @param clock milliseconds since the epoch. */
  constructor(private readonly clock: () => number) {
    this.counts = new EqualWindows(clock, 60_000)
  }

  init({ windowMs }: Options): void {
    this.counts = new EqualWindows(this.clock, windowMs)
  }

  async increment(key: string): Promise<ClientRateLimitInfo> {
    const counted = this.counts.begun(key)
    if (counted === undefined) throw new Error('The counts of requests in memory are full.')
    counted.count += 1
    return { totalHits: counted.count, resetTime: new Date(counted.endsAt) }
  }

  /** Part of the contract of a store, as `resetKey` is; the suite asks for neither. */
  async decrement(key: string): Promise<void> {
    const counted = this.counts.get(key)
    if (counted !== undefined && counted.count > 0) counted.count -= 1
  }

  async resetKey(key: string): Promise<void> {
    this.counts.delete(key)
  }
}
