/** Bounded map: evicts the least recently inserted entry. */
export class BoundedMap<Value> {
  private readonly values = new Map<string, Value>()

  constructor(private readonly maximum: number) {}

  get size(): number {
    return this.values.size
  }

  has(key: string): boolean {
    return this.values.has(key)
  }

  get(key: string): Value | undefined {
    return this.values.get(key)
  }

  /** The entry then counts as the latest. */
  put(key: string, value: Value): void {
    this.values.delete(key)
    const oldest = this.values.keys().next()
    if (this.values.size >= this.maximum && oldest.done !== true) this.values.delete(oldest.value)
    this.values.set(key, value)
  }

  delete(key: string): void {
    this.values.delete(key)
  }

  clear(): void {
    this.values.clear()
  }
}
