// Each addition looks at a few entries, so that expired ones go at the pace at which new ones come; at more when full.
const sweptPerAddition = 4
const sweptWhenFull = 1000

/** A map whose entries end by themselves, of bounded size: one more is refused, never a live one dropped. */
export class ExpiringMap<Value> {
  private readonly entries = new Map<string, Value>()
  private broom = this.entries.entries()

  constructor(
    private readonly maximumEntries: number,
    private readonly hasExpired: (value: Value) => boolean,
  ) {}

  get(key: string): Value | undefined {
    const value = this.entries.get(key)
    return value === undefined || this.hasExpired(value) ? undefined : value
  }

  /** Whether it was kept: not when the map is full of live entries. */
  set(key: string, value: Value): boolean {
    if (!this.hasRoomFor(key)) return false
    this.entries.set(key, value)
    return true
  }

  delete(key: string): void {
    this.entries.delete(key)
  }

  private hasRoomFor(key: string): boolean {
    this.sweep(sweptPerAddition)
    if (this.entries.size < this.maximumEntries || this.entries.has(key)) return true
    this.sweep(sweptWhenFull)
    return this.entries.size < this.maximumEntries
  }

  private sweep(entries: number): void {
    for (let looked = 0; looked < entries; looked++) {
      const { value, done } = this.broom.next()
      if (done === true) this.broom = this.entries.entries()
      else if (this.hasExpired(value[1])) this.entries.delete(value[0])
    }
  }
}
