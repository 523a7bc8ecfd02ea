import type { ClientRateLimitInfo, Store } from 'express-rate-limit'
import { type Eventual, following } from '../primitives/concurrency'
import { BoundedMap, ExpiringMap } from '../primitives/maps'
import type { Throttled } from '../protocol/oauth-error'
import { overLimit, type RefusalName } from '../protocol/refusals'
import { type Limit, secondsToWait } from './limit'

interface CountedHits {
  hits: number
  readonly endsAt: number
}

export const networksAtMost = 100_000

export class BoundedWindows {
  private readonly windows: ExpiringMap<CountedHits>

  // A step back of `clock` would lengthen each window.
  constructor(
    private readonly clock: () => number,
    private readonly milliseconds: number,
  ) {
    this.windows = new ExpiringMap(networksAtMost, clock)
  }

  // Undefined without room: a dropped window would give its key a new count.
  count(key: string): Readonly<CountedHits> | undefined {
    const window = this.windows.get(key) ?? this.begin(key)
    if (window !== undefined) window.hits += 1
    return window
  }

  // Without room, uncounted: whoever has so many networks has as many limits.
  increment(key: string): ClientRateLimitInfo {
    const { hits, endsAt } = this.count(key) ?? { hits: 0, endsAt: 0 }
    return { totalHits: hits, resetTime: new Date(endsAt) }
  }

  decrement(key: string): void {
    const window = this.windows.get(key)
    if (window === undefined) return
    window.hits -= 1
    if (window.hits === 0) this.windows.delete(key)
  }

  private begin(key: string): CountedHits | undefined {
    const window = { hits: 0, endsAt: this.clock() + this.milliseconds }
    return this.windows.set(key, window, window.endsAt) ? window : undefined
  }
}

export type Counts = Pick<Store, 'increment' | 'decrement'>

// By the last count of this process: another process may have counted more.
export class NetworkLimit implements Store {
  // Ends of windows.
  private readonly usedUp = new BoundedMap<number>(networksAtMost)

  // `resetTime` of the store follows the clock, which must not step.
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

  count(network: string): Eventual<Throttled | undefined> {
    return following(this.increment(network), ({ totalHits, resetTime }) =>
      totalHits > this.attempts ? this.refusalUntil(resetTime?.getTime() ?? 0) : undefined,
    )
  }

  get isUsedUpByNone(): boolean {
    return this.usedUp.size === 0
  }

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

export interface OpenRequests<Whose> {
  opened(whose: Whose): void
  // Decided, or not stored.
  ended(whose: Whose): void
}

// Against one owner or network with many requests: without room, requests of others pass uncounted.
export function openRequests<Whose>(
  limit: Limit | undefined,
  clock: () => number,
  name: RefusalName,
  keyOf: (whose: Whose) => string,
): OpenRequests<Whose> {
  if (limit === undefined) return { opened: () => {}, ended: () => {} }
  const windows = new BoundedWindows(clock, limit.seconds * 1000)
  return {
    opened(whose) {
      const key = keyOf(whose)
      const open = windows.count(key)
      if (open === undefined || open.hits <= limit.attempts) return
      windows.decrement(key)
      throw overLimit(name, secondsToWait((open.endsAt - clock()) / 1000))
    },
    ended: (whose) => windows.decrement(keyOf(whose)),
  }
}
