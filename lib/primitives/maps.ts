/** Evicts the entry that was set longest ago. */
export class BoundedMap<Value> extends Map<string, Value> {
  constructor(private readonly maximum: number) {
    super()
  }

  override set(key: string, value: Value): this {
    this.delete(key)
    if (this.size >= this.maximum) this.delete(this.keys().next().value ?? key)
    return super.set(key, value)
  }
}

// More than an addition brings: expired entries cannot pile up.
const sweptPerAddition = 4
const sweptWhenFull = 1000
// Bounds a sweep after a long pause.
const secondsPerSweep = 100_000

interface Entry<Value> {
  readonly value: Value
  readonly expiresAt: number
  readonly second: number
}

/** A full map refuses new keys and never drops a live entry. */
export class ExpiringMap<Value> {
  private readonly entries = new Map<string, Entry<Value>>()
  private readonly buckets = new Map<number, Set<string>>()
  private nextSecond: number
  private swept: { readonly bucket: Set<string>; readonly keys: Iterator<string, undefined> } | undefined

  /** @param clock must not step. */
  constructor(
    private readonly maximum: number,
    private readonly clock: () => number,
  ) {
    this.nextSecond = Math.floor(clock() / 1000)
  }

  get(key: string): Value | undefined {
    const entry = this.entries.get(key)
    return entry !== undefined && entry.expiresAt > this.clock() ? entry.value : undefined
  }

  *values(): IterableIterator<Value> {
    const now = this.clock()
    for (const { value, expiresAt } of this.entries.values()) if (expiresAt > now) yield value
  }

  /** Of entries that never expire. */
  lastingKeys(): Iterable<string> {
    return this.buckets.get(Infinity) ?? []
  }

  /** Returns false if the key is new and the map is full. */
  set(key: string, value: Value, expiresAt: number): boolean {
    this.sweep(sweptPerAddition)
    const before = this.entries.get(key)
    if (before === undefined && !this.hasRoom()) return false
    // The sweep never returns to an earlier second.
    const second = Math.max(Math.ceil(expiresAt / 1000), this.nextSecond)
    // In its place: a Map and a Set are slow where one key is often deleted and added again.
    this.entries.set(key, { value, expiresAt, second })
    if (before?.second !== second) this.move(key, before?.second, second)
    return true
  }

  /** Also sweeps, so that the map shrinks. */
  delete(key: string): void {
    this.sweep(sweptPerAddition)
    const entry = this.entries.get(key)
    if (entry !== undefined) this.remove(key, entry)
  }

  private hasRoom(): boolean {
    if (this.entries.size >= this.maximum) this.sweep(sweptWhenFull)
    return this.entries.size < this.maximum
  }

  /** Returns whether expired entries are left. */
  private sweep(most: number): boolean {
    const now = Math.floor(this.clock() / 1000)
    let removed = 0
    for (let looked = 0; this.nextSecond <= now && looked < secondsPerSweep; looked++) {
      for (; removed < most; removed++) {
        const key = this.nextKey()
        if (key === undefined) break
        const entry = this.entries.get(key)
        if (entry !== undefined) this.remove(key, entry)
      }
      if (removed === most) return true
      // The bucket of the current second may still get keys.
      if (this.nextSecond === now) return false
      this.nextSecond++
    }
    return this.nextSecond <= now
  }

  /** A new iterator would pass again what a large bucket has lost. */
  private nextKey(): string | undefined {
    const bucket = this.buckets.get(this.nextSecond)
    if (bucket !== this.swept?.bucket) this.swept = bucket && { bucket, keys: bucket.values() }
    return this.swept?.keys.next().value
  }

  private move(key: string, from: number | undefined, to: number | undefined): void {
    if (from !== undefined) {
      const bucket = this.buckets.get(from)
      bucket?.delete(key)
      if (bucket?.size === 0) this.buckets.delete(from)
    }
    if (to === undefined) return
    const bucket = this.buckets.get(to)
    if (bucket === undefined) this.buckets.set(to, new Set([key]))
    else bucket.add(key)
  }

  private remove(key: string, { second }: Entry<Value>): void {
    this.entries.delete(key)
    this.move(key, second, undefined)
  }
}
