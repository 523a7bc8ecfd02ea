import type { ClientRateLimitInfo } from 'express-rate-limit'

interface CountedHits {
  readonly hits: number
  readonly endsAt: number
}

/**
 * Fixed windows in memory, bounded and without a timer. All have the same length, so they end in the order in which
 * they began.
 */
export class BoundedWindows {
  private readonly windows = new Map<string, CountedHits>()

  /** @param clock milliseconds; must not step: a step back would lengthen each window. */
  constructor(
    private readonly clock: () => number,
    private readonly milliseconds: number,
    private readonly maximum = 100_000,
  ) {}

  current(key: string): CountedHits | undefined {
    const window = this.windows.get(key)
    return window !== undefined && window.endsAt > this.clock() ? window : undefined
  }

  /** Undefined for a new key if all windows are taken: a dropped window would give its key a new count. */
  count(key: string): CountedHits | undefined {
    const window = this.current(key) ?? this.begin(key)
    return window && this.put(key, { hits: window.hits + 1, endsAt: window.endsAt })
  }

  /** Without room, uncounted: whoever has so many networks has as many limits. */
  increment(key: string): ClientRateLimitInfo {
    const { hits, endsAt } = this.count(key) ?? { hits: 0, endsAt: 0 }
    return { totalHits: hits, resetTime: new Date(endsAt) }
  }

  decrement(key: string): void {
    const window = this.current(key)
    if (window === undefined) return
    if (window.hits === 1) this.windows.delete(key)
    else this.put(key, { hits: window.hits - 1, endsAt: window.endsAt })
  }

  private begin(key: string): CountedHits | undefined {
    const now = this.clock()
    this.windows.delete(key)
    for (const [ended, { endsAt }] of this.windows) {
      if (endsAt > now) break
      this.windows.delete(ended)
    }
    return this.windows.size < this.maximum ? { hits: 0, endsAt: now + this.milliseconds } : undefined
  }

  // Each of several parallel requests must see the count after its own hit.
  private put(key: string, counted: CountedHits): CountedHits {
    this.windows.set(key, counted)
    return counted
  }
}
