// Each addition removes more than it brings, so that expired ones go at the pace at which new ones come; more when full.
const sweptPerAddition = 4
const sweptWhenFull = 1000
// After a long time without additions the seconds in between are many, and looking at each one costs something.
const secondsPerSweep = 100_000
// A Map copies itself when it grows: one of a million entries stops the process for 30 ms and more, a small one does not.
const parts = 64

interface Entry<Value> {
  readonly key: string
  readonly value: Value
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
  /** Second under which it is listed, and its place there. */
  readonly second: number
  place: number
}

/**
 * A map whose entries end by themselves, of bounded size: one more is refused, never a live one dropped. Entries are
 * listed by the second in which they end, so that an expired one is found without looking at those that live: a full map
 * refuses nothing while it holds an expired one, and a refusal costs next to nothing.
 */
export class ExpiringMap<Value> {
  private readonly entries = Array.from({ length: parts }, () => new Map<string, Entry<Value>>())
  private readonly endings = new Map<number, Entry<Value>[]>()
  private size = 0
  /** Every second before this one is swept. */
  private nextSecond: number

  constructor(
    private readonly maximumEntries: number,
    private readonly clock: () => number,
  ) {
    this.nextSecond = Math.floor(clock() / 1000)
  }

  get(key: string): Value | undefined {
    const entry = this.partOf(key).get(key)
    return entry === undefined || entry.expiresAt <= this.clock() ? undefined : entry.value
  }

  /** Whether it was kept: not when the map is full of live entries. */
  set(key: string, value: Value, expiresAt: number): boolean {
    this.sweep(sweptPerAddition)
    const before = this.partOf(key).get(key)
    if (before === undefined && !this.hasRoom()) return false
    if (before !== undefined) this.remove(before)
    this.add(key, value, expiresAt)
    return true
  }

  /** It sweeps as an addition does, so that a map from which much is taken shrinks. */
  delete(key: string): void {
    this.sweep(sweptPerAddition)
    const entry = this.partOf(key).get(key)
    if (entry !== undefined) this.remove(entry)
  }

  private hasRoom(): boolean {
    if (this.size >= this.maximumEntries) this.sweep(sweptWhenFull)
    return this.size < this.maximumEntries
  }

  private sweep(most: number): void {
    const now = Math.floor(this.clock() / 1000)
    let removed = 0
    for (let looked = 0; this.nextSecond <= now && looked < secondsPerSweep; looked++) {
      const list = this.endings.get(this.nextSecond)
      for (let last = list?.at(-1); last !== undefined; last = list?.at(-1)) {
        if (removed++ === most) return
        this.remove(last)
      }
      // This second may bring more to its list, all of them expired already.
      if (this.nextSecond === now) return
      this.nextSecond++
    }
  }

  private add(key: string, value: Value, expiresAt: number): void {
    // A clock that was set back must not list an entry where the sweep has been.
    const second = Math.max(Math.ceil(expiresAt / 1000), this.nextSecond)
    const list = this.endings.get(second) ?? []
    if (list.length === 0) this.endings.set(second, list)
    const entry = { key, value, expiresAt, second, place: list.length }
    list.push(entry)
    this.partOf(key).set(key, entry)
    this.size++
  }

  // The last one of the list takes its place.
  private remove({ key, second, place }: Entry<Value>): void {
    this.partOf(key).delete(key)
    this.size--
    const list = this.endings.get(second) ?? []
    const last = list.pop()
    if (list.length === 0) this.endings.delete(second)
    if (last === undefined || last.place === place) return
    list[place] = last
    last.place = place
  }

  private partOf(key: string): Map<string, Entry<Value>> {
    let hash = 0
    for (let at = 0; at < key.length; at++) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0
    return this.entries[(hash >>> 0) % parts] ?? new Map()
  }
}
