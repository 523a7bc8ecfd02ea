/** The hits of one key in its window. */
interface CountedHits {
  readonly hits: number
  /** The end of the window, in milliseconds of the clock of the windows. */
  readonly endsAt: number
}

/**
 * Counts hits in fixed windows, in the memory of this process: bounded, and without a timer. A window begins with the
 * first hit of its key. All windows have the same length, so they end in the order in which they began.
 */
export class BoundedWindows {
  private readonly windows = new Map<string, CountedHits>()

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
    const window = this.windows.get(key)
    return window !== undefined && window.endsAt > this.clock() ? window : undefined
  }

  /**
   * Counts one hit. Returns undefined for a new key if all windows are taken. The store drops no other window, because
   * the key of that window would then begin a new count.
   */
  count(key: string): CountedHits | undefined {
    const window = this.get(key) ?? this.begin(key)
    return window && this.put(key, { hits: window.hits + 1, endsAt: window.endsAt })
  }

  /** Takes one hit back. A window without hits ends at once and makes room for another key. */
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

  // A new value for each hit, because each of several parallel requests must see the count after its own hit.
  private put(key: string, counted: CountedHits): CountedHits {
    this.windows.set(key, counted)
    return counted
  }
}
