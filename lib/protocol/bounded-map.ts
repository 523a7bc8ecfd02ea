/** Values by their keys, of bounded number: the one that was put there longest ago makes room for another. */
export class BoundedMap<Value> {
  // In the order in which they were put there.
  private readonly values = new Map<string, Value>()

  /** @param maximum at least 1. */
  constructor(private readonly maximum: number) {}

  has(key: string): boolean {
    return this.values.has(key)
  }

  get(key: string): Value | undefined {
    return this.values.get(key)
  }

  /** Puts a value there, or the same one again, as the latest. */
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
