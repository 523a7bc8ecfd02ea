import type { ClientRateLimitInfo, Store } from 'express-rate-limit'

/** The hits of one key, in the form that express-rate-limit reads. */
interface CountedHits extends ClientRateLimitInfo {
  /** The end of the window, by the clock of the windows. */
  readonly resetTime: Date
}

interface Window {
  hits: number
  /** Milliseconds of the clock. */
  readonly endsAt: number
}

/**
 * Counts hits in fixed windows, in the memory of this process: a bounded store for express-rate-limit, without a timer.
 * A window begins with the first hit of its key. All windows have the same length, so they end in the order in which
 * they began.
 */
export class BoundedWindows implements Store {
  private readonly windows = new Map<string, Window>()

  /**
   * @param clock milliseconds of a clock that does not step. A clock that steps back would lengthen each window.
   * @param milliseconds length of a window.
   * @param maximum how many keys may have a window at the same time.
   */
  constructor(
    private readonly clock: () => number,
    private readonly milliseconds: number,
    private readonly maximum = 100_000,
  ) {}

  /** The hits of a key in its window; undefined without a window. */
  get(key: string): CountedHits | undefined {
    const window = this.current(key)
    return window && infoOf(window)
  }

  /**
   * Counts one hit. Returns undefined for a new key if all windows are taken. The store drops no other window, because
   * the key of that window would then begin a new count.
   */
  count(key: string): CountedHits | undefined {
    const window = this.current(key) ?? this.begin(key)
    if (window === undefined) return undefined
    window.hits += 1
    return infoOf(window)
  }

  /** Counts one hit for express-rate-limit. @throws Error for a new key if all windows are taken. */
  increment(key: string): CountedHits {
    const counted = this.count(key)
    if (counted === undefined) throw new Error('The counts of requests in memory are full.')
    return counted
  }

  /** Takes one hit back. A window without hits ends at once and makes room for another key. */
  decrement(key: string): void {
    const window = this.current(key)
    if (window === undefined) return
    window.hits -= 1
    if (window.hits === 0) this.windows.delete(key)
  }

  resetKey(key: string): void {
    this.windows.delete(key)
  }

  private current(key: string): Window | undefined {
    const window = this.windows.get(key)
    return window !== undefined && window.endsAt > this.clock() ? window : undefined
  }

  private begin(key: string): Window | undefined {
    const now = this.clock()
    this.windows.delete(key)
    for (const [ended, { endsAt }] of this.windows) {
      if (endsAt > now) break
      this.windows.delete(ended)
    }
    if (this.windows.size >= this.maximum) return undefined
    const window = { hits: 0, endsAt: now + this.milliseconds }
    this.windows.set(key, window)
    return window
  }
}

// Copies the count, because each of several parallel requests must see the count after its own hit.
const infoOf = ({ hits, endsAt }: Window): CountedHits => ({
  totalHits: hits,
  resetTime: new Date(endsAt),
})
