import type { ClientRateLimitInfo, Store } from 'express-rate-limit'
import { BoundedMap } from '../primitives/maps'
import { type Eventual, following } from '../primitives/concurrency'
import type { Throttled } from '../protocol/oauth-error'
import { overLimit } from '../protocol/refusals'
import { secondsToWait } from './limit'

const mostUsedUp = 100_000

export type Counts = Pick<Store, 'increment' | 'decrement'>

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
    private readonly store: Counts,
    private readonly clock: () => number,
  ) {}

  increment(network: string): Promise<ClientRateLimitInfo> | ClientRateLimitInfo {
    return following(this.store.increment(network), (counted) => {
      if (counted.totalHits >= this.attempts) this.usedUp.set(network, counted.resetTime?.getTime() ?? 0)
      return counted
    })
  }

  async decrement(network: string): Promise<void> {
    await this.store.decrement(network)
  }

  // No middleware of this package resets a count.
  resetKey(): void {}

  /** Returns the refusal over the limit. */
  count(network: string): Eventual<Throttled | undefined> {
    return following(this.increment(network), ({ totalHits, resetTime }) =>
      totalHits > this.attempts ? this.refusalUntil(resetTime?.getTime() ?? 0) : undefined,
    )
  }

  get isUsedUpByNone(): boolean {
    return this.usedUp.size === 0
  }

  /** Undefined for a network that has attempts left. */
  refusal(network: string): Throttled | undefined {
    const endsAt = this.usedUp.get(network)
    if (endsAt === undefined) return undefined
    if (endsAt > this.clock()) return this.refusalUntil(endsAt)
    this.usedUp.delete(network)
    return undefined
  }

  refusalUntil(endsAt: number): Throttled {
    return overLimit('rate_limited', secondsToWait((endsAt - this.clock()) / 1000))
  }
}
