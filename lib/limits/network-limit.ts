import type { ClientRateLimitInfo, Store } from 'express-rate-limit'
import { BoundedMap } from '../primitives/bounded-map'
import { following } from '../primitives/eventual'
import type { Throttled } from '../protocol/oauth-error'
import { overLimit } from '../protocol/refusals'
import { secondsToWait } from './limit'

const mostUsedUp = 100_000

/**
 * Remembers which networks have used up the limit, by the last count of this process: another process may have counted
 * more.
 */
export class NetworkLimit implements Store {
  // Ends of windows.
  private readonly usedUp = new BoundedMap<number>(mostUsedUp)

  /** @param store its `resetTime` follows the clock. @param clock milliseconds; must not step. */
  constructor(
    readonly attempts: number,
    private readonly store: Store,
    private readonly clock: () => number,
  ) {}

  increment(network: string): Promise<ClientRateLimitInfo> | ClientRateLimitInfo {
    return following(
      () => this.store.increment(network),
      (counted) => {
        if (counted.totalHits >= this.attempts) this.usedUp.put(network, counted.resetTime?.getTime() ?? 0)
        return counted
      },
    )
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
    return overLimit('rate_limited', seconds)
  }
}
