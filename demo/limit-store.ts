import type { ClientRateLimitInfo, Options, Store } from 'express-rate-limit'
import type { Store as Counting } from '../lib/index'

/** Keeps the counts of one limit in the store, for all processes. While the store is away it throws. */
export class LimitStore implements Store {
  private seconds = 60

  constructor(
    private readonly store: Counting,
    readonly prefix: string,
  ) {}

  // Asks the store for nothing: it may be away at the start.
  init({ windowMs }: Options): void {
    this.seconds = windowMs / 1000
  }

  increment(key: string): Promise<ClientRateLimitInfo> {
    return this.add(key, 1)
  }

  async decrement(key: string): Promise<void> {
    await this.add(key, -1)
  }

  /** Counts end by themselves, and nothing here resets one. */
  resetKey(): void {}

  private async add(key: string, amount: 1 | -1): Promise<ClientRateLimitInfo> {
    const { count, secondsLeft } = await this.store.add(this.prefix + key, amount, this.seconds)
    return { totalHits: count, resetTime: new Date(Date.now() + secondsLeft * 1000) }
  }
}
