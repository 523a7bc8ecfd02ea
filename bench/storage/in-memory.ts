interface Entry {
  readonly value: object
  readonly until: number
}

type Entries = Map<string, Entry>

/**
 * Maps in place of Redis, for programs that are measured in one process: what is left of their work when storage costs
 * nothing. They keep values as they are, and those alone that were used last: what waits in Redis does not burden the heap of a server.
 */
export class InMemory {
  private readonly places = new Map<string, Entries>()
  private entries: Entries = new Map()

  constructor(private readonly maximum = 256) {}

  /** From now on the entries of that place are found, and no others. */
  changeTo(place: string): void {
    this.entries = this.places.get(place) ?? new Map<string, Entry>()
    this.places.set(place, this.entries)
  }

  keep(key: string, value: object, seconds: number): void {
    // What is written again is young again.
    this.entries.delete(key)
    this.entries.set(key, { value, until: Date.now() + seconds * 1000 })
    if (this.entries.size <= this.maximum) return
    const [oldest = ''] = this.entries.keys()
    this.entries.delete(oldest)
  }

  find(key: string): object | undefined {
    const entry = this.entries.get(key)
    if (entry === undefined) return undefined
    const isExpired = entry.until <= Date.now()
    if (!isExpired && this.entries.size < this.maximum / 2) return entry.value
    this.entries.delete(key)
    if (isExpired) return undefined
    // What is asked for is young again: the oldest are dropped soon.
    this.entries.set(key, entry)
    return entry.value
  }

  take(key: string): object | undefined {
    const value = this.find(key)
    this.entries.delete(key)
    return value
  }

  remove(key: string): boolean {
    return this.entries.delete(key)
  }
}
