// Each addition removes more than it brings, so that expired entries go at the pace at which new ones come; more when full.
const sweptPerAddition = 4
const sweptWhenFull = 1000
// After a long time without additions the seconds in between are many, and looking at each one costs something.
const secondsPerSweep = 100_000

/** Seconds after which a client whose share is full may try again: which of its entries ends first is not known. */
export const shareWait = 60

interface Entry<Value> {
  readonly value: Value
  /** Milliseconds of the clock. */
  readonly expiresAt: number
  /** The bucket of its key. */
  readonly second: number
  readonly shares: readonly string[]
}

/**
 * Bounded map whose entries expire. It refuses one entry more than it has room for, and never drops a live one. A bucket
 * for each second holds the keys that expire then, so a full map finds an expired entry without a look at the live ones.
 *
 * An entry may count towards shares, such as that of one client: each share has at most a quarter of the map.
 */
export class ExpiringMap<Value> {
  private readonly entries = new Map<string, Entry<Value>>()
  private readonly buckets = new Map<number, Set<string>>()
  /** How many entries count towards each share. */
  private readonly shares = new Map<string, number>()
  private readonly shareAtMost: number
  /** Every second before this one is swept. */
  private nextSecond: number

  /** @param clock milliseconds of a clock that does not step. */
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

  /**
   * Returns whether the map keeps the value: it does not when it is full of live entries.
   *
   * @param shares of a new key; a known key keeps those that it has. None of them may be full: see {@link fullShare}.
   */
  set(key: string, value: Value, expiresAt: number, shares: readonly string[] = []): boolean {
    this.sweep(sweptPerAddition)
    const before = this.entries.get(key)
    if (before === undefined && !this.hasRoom()) return false
    if (before !== undefined) this.remove(key, before)
    this.add(key, value, expiresAt, before?.shares ?? shares)
    return true
  }

  /** The share that has no room for an entry under this key; undefined when each has room. */
  fullShare(key: string, shares: readonly string[]): string | undefined {
    if (this.entries.has(key)) return undefined
    return shares.find((share) => this.isFull(share))
  }

  /** Sweeps as an addition does, so that a map shrinks from which much is deleted. */
  delete(key: string): void {
    this.sweep(sweptPerAddition)
    const entry = this.entries.get(key)
    if (entry !== undefined) this.remove(key, entry)
  }

  private hasRoom(): boolean {
    if (this.entries.size >= this.maximum) this.sweep(sweptWhenFull)
    return this.entries.size < this.maximum
  }

  // Expired entries of other shares may stand before those of this one.
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
      // The bucket of this second may get more keys, all of them expired already.
      if (this.nextSecond === now) return false
      this.nextSecond++
    }
    return this.nextSecond <= now
  }

  private add(key: string, value: Value, expiresAt: number, shares: readonly string[]): void {
    // A clock that was set back must not put a key into a bucket where the sweep has been.
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
