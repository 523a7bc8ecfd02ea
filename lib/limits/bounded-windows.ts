interface CountedHits {
  readonly hits: number
  /** Milliseconds of the clock. */
  readonly endsAt: number
}

/**
 * Counts hits in fixed windows in memory: bounded, without a timer. All windows have the same length, so they
 * end in the order in which they began.
 */
export class BoundedWindows {
  private readonly windows = new Map<string, CountedHits>()

  /**
   * @param clock milliseconds of a clock that does not step: a step back would lengthen each window.
   * @param milliseconds length of a window.
   * @param maximum how many keys may have a window at the same time.
   */
  constructor(
    private readonly clock: () => number,
    private readonly milliseconds: number,
    private readonly maximum = 100_000,
  ) {}

  get(key: string): CountedHits | undefined {
    const window = this.windows.get(key)
    return window !== undefined && window.endsAt > this.clock() ? window : undefined
  }

  /** Undefined for a new key if all windows are taken: a dropped window would give its key a new count. */
  count(key: string): CountedHits | undefined {
    const window = this.get(key) ?? this.begin(key)
    return window && this.put(key, { hits: window.hits + 1, endsAt: window.endsAt })
  }

  /** A window without hits ends at once and makes room. */
  decrement(key: string): void {
    const window = this.get(key)
    if (window === undefined) return
    if (window.hits === 1) this.windows.delete(key)
    else this.put(key, { hits: window.hits - 1, endsAt: window.endsAt })
  }

  resetKey(key: string): void {
    this.windows.delete(key)
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

  // A new value for each hit: each of several parallel requests must see the count after its own hit.
  private put(key: string, counted: CountedHits): CountedHits {
    this.windows.set(key, counted)
    return counted
  }
}
