import type { ClientRateLimitInfo, Store } from 'express-rate-limit'
import { BoundedMap } from '../primitives/bounded-map'
import { type Throttled, tooManyAttempts } from '../protocol/oauth-error'
import { secondsToWait } from './limit'

const mostUsedUp = 100_000

/**
 * Counts the hits of each network in a store of express-rate-limit, and remembers which networks have used up
 * the limit. The memory rests on the last count of this process: another process may have counted more.
 */
export class NetworkLimit implements Store {
  // The ends of their windows.
  private readonly usedUp = new BoundedMap<number>(mostUsedUp)

  /**
   * @param attempts of each network in its window.
   * @param store its `resetTime` follows the clock.
   * @param clock milliseconds of a clock that does not step.
   */
  constructor(
    readonly attempts: number,
    private readonly store: Store,
    private readonly clock: () => number,
  ) {}

  async increment(network: string): Promise<ClientRateLimitInfo> {
    const counted = await this.store.increment(network)
    if (counted.totalHits >= this.attempts) this.usedUp.put(network, counted.resetTime?.getTime() ?? 0)
    return counted
  }

  async decrement(network: string): Promise<void> {
    await this.store.decrement(network)
  }

  async resetKey(network: string): Promise<void> {
    await this.store.resetKey(network)
  }

  get isUsedUpByNone(): boolean {
    return this.usedUp.size === 0
  }

  isUsedUp(network: string): boolean {
    const endsAt = this.usedUp.get(network)
    if (endsAt === undefined) return false
    if (endsAt > this.clock()) return true
    this.usedUp.delete(network)
    return false
  }

  refusal(network: string): Throttled {
    const seconds = secondsToWait(((this.usedUp.get(network) ?? 0) - this.clock()) / 1000)
    return tooManyAttempts('rate_limited', 'Too many requests from this network.', seconds)
  }
}
