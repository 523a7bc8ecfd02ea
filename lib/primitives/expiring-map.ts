// More than an addition brings, so expired entries cannot pile up.
const sweptPerAddition = 4
const sweptWhenFull = 1000
// After a long pause, many seconds lie between the last sweep and now.
const secondsPerSweep = 100_000

interface Entry<Value> {
  readonly value: Value
  /** By the clock of the map. */
  readonly expiresAt: number
  readonly second: number
  readonly shares: readonly string[]
}

/**
 * A full map refuses new keys and never drops a live entry. Each share, such as that of a client, gets at most a
 * quarter of the map.
 */
export class ExpiringMap<Value> {
  private readonly entries = new Map<string, Entry<Value>>()
  private readonly buckets = new Map<number, Set<string>>()
  private readonly shares = new Map<string, number>()
  private readonly shareAtMost: number
  /** Every earlier second is swept. */
  private nextSecond: number

  /** @param clock milliseconds; must not step, as `steadyClock`. */
  constructor(
    private readonly maximum: number,
    private readonly clock: () => number,
  ) {
    this.nextSecond = Math.floor(clock() / 1000)
    this.shareAtMost = Math.ceil(maximum / 4)
  }

  get(key: string): Value | undefined {
    const entry = this.entries.get(key)
    return entry !== undefined && entry.expiresAt > this.clock() ? entry.value : undefined
  }

  *values(): IterableIterator<Value> {
    const now = this.clock()
    for (const { value, expiresAt } of this.entries.values()) if (expiresAt > now) yield value
  }

  /** Of the entries that never expire. */
  lastingKeys(): Iterable<string> {
    return this.buckets.get(Infinity) ?? []
  }

  /**
   * Returns false if the key is new and the map is full of live entries.
   *
   * @param expiresAt milliseconds by the clock of the map.
   * @param shares of a new key; a known key keeps its shares. First check {@link fullShare}.
   */
  set(key: string, value: Value, expiresAt: number, shares: readonly string[] = []): boolean {
    this.sweep(sweptPerAddition)
    const before = this.entries.get(key)
    if (before === undefined && !this.hasRoom()) return false
    if (before !== undefined) this.remove(key, before)
    this.add(key, value, expiresAt, before?.shares ?? shares)
    return true
  }

  /** Undefined also if the map already holds the key. */
  fullShare(key: string, shares: readonly string[]): string | undefined {
    if (this.entries.has(key)) return undefined
    return shares.find((share) => this.isFull(share))
  }

  /** Also sweeps, so a map with many deletions still shrinks. */
  delete(key: string): void {
    this.sweep(sweptPerAddition)
    const entry = this.entries.get(key)
    if (entry !== undefined) this.remove(key, entry)
  }

  hasRoom(maximum = this.maximum): boolean {
    if (this.entries.size >= maximum) this.sweep(sweptWhenFull)
    return this.entries.size < maximum
  }

  // Expired entries of other shares may come first.
  private isFull(share: string): boolean {
    const isAtMost = () => (this.shares.get(share) ?? 0) >= this.shareAtMost
    let mayHaveExpired = true
    while (isAtMost() && mayHaveExpired) mayHaveExpired = this.sweep(sweptWhenFull)
    return isAtMost()
  }

  /** Returns whether expired entries are left. */
  private sweep(most: number): boolean {
    const now = Math.floor(this.clock() / 1000)
    let removed = 0
    for (let looked = 0; this.nextSecond <= now && looked < secondsPerSweep; looked++) {
      for (const key of this.buckets.get(this.nextSecond) ?? []) {
        if (removed++ === most) return true
        const entry = this.entries.get(key)
        if (entry !== undefined) this.remove(key, entry)
      }
      // The bucket of the current second may still get keys.
      if (this.nextSecond === now) return false
      this.nextSecond++
    }
    return this.nextSecond <= now
  }

  private add(key: string, value: Value, expiresAt: number, shares: readonly string[]): void {
    // The sweep never returns to an earlier second.
    const second = Math.max(Math.ceil(expiresAt / 1000), this.nextSecond)
    this.entries.set(key, { value, expiresAt, second, shares })
    const bucket = this.buckets.get(second)
    if (bucket === undefined) this.buckets.set(second, new Set([key]))
    else bucket.add(key)
    for (const share of shares) this.shares.set(share, (this.shares.get(share) ?? 0) + 1)
  }

  private remove(key: string, { second, shares }: Entry<Value>): void {
    this.entries.delete(key)
    const bucket = this.buckets.get(second)
    bucket?.delete(key)
    if (bucket?.size === 0) this.buckets.delete(second)
    for (const share of shares) {
      const count = (this.shares.get(share) ?? 0) - 1
      if (count > 0) this.shares.set(share, count)
      else this.shares.delete(share)
    }
  }
}
