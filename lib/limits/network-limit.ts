import type { Store } from 'express-rate-limit'
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
export class NetworkLimit {
  // Ends of windows.
  private readonly usedUp = new BoundedMap<number>(mostUsedUp)

  /** @param store its `resetTime` follows the clock. @param clock milliseconds; must not step. */
  constructor(
    private readonly attempts: number,
    private readonly store: Counts,
    private readonly clock: () => number,
  ) {}

  /** Returns the refusal over the limit. */
  count(network: string): Eventual<Throttled | undefined> {
    return following(this.store.increment(network), ({ totalHits, resetTime }) => {
      const endsAt = resetTime?.getTime() ?? 0
      if (totalHits >= this.attempts) this.usedUp.put(network, endsAt)
      return totalHits > this.attempts ? this.refusalUntil(endsAt) : undefined
    })
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

  private refusalUntil(endsAt: number): Throttled {
    return overLimit('rate_limited', secondsToWait((endsAt - this.clock()) / 1000))
  }
}
