import type { ClientRateLimitInfo, Options, Store } from 'express-rate-limit'
import type { Counters } from '../stores/counters'

/** Counters as a store of express-rate-limit: of bounded size, by the clock of the server, and without a timer. */
export class CountedRequests implements Store {
  private seconds = 60

  constructor(
    private readonly counters: Counters,
    readonly prefix: string,
    /** Milliseconds since the epoch. */
    private readonly clock: () => number,
  ) {}

  init({ windowMs }: Options): void {
    this.seconds = windowMs / 1000
  }

  async increment(key: string): Promise<ClientRateLimitInfo> {
    const { count, secondsLeft } = await this.counters.add(this.prefix + key, 1, this.seconds)
    return { totalHits: count, resetTime: new Date(this.clock() + secondsLeft * 1000) }
  }

  async decrement(key: string): Promise<void> {
    await this.counters.add(this.prefix + key, -1, this.seconds)
  }

  /** Part of the contract of a store; the suite never asks for it. */
  async resetKey(key: string): Promise<void> {
    let left = 1
    while (left > 0) left = (await this.counters.add(this.prefix + key, -1, this.seconds)).count
  }
}
