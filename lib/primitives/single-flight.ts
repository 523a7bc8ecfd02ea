/** Callers with the same key share one running act. */
export class SingleFlight<Outcome> {
  private readonly running = new Map<string, Promise<Outcome>>()

  /** `end of turn`: callers may join only in the same turn of the event loop. */
  constructor(private readonly until: 'settled' | 'end of turn' = 'settled') {}

  has(key: string): boolean {
    return this.running.has(key)
  }

  /** Callers share a failure too, except an error that `act` throws before it returns a promise. */
  share(key: string, act: () => Promise<Outcome>): Promise<Outcome> {
    const other = this.running.get(key)
    if (other !== undefined) return other
    const own = this.until === 'settled' ? act().finally(() => this.running.delete(key)) : act()
    if (this.until === 'end of turn' && this.running.size === 0) setImmediate(() => this.running.clear())
    this.running.set(key, own)
    return own
  }

  /** If the running act rejects or resolves to undefined, each caller runs its own. */
  async shareSuccess(key: string, act: () => Promise<Outcome>): Promise<Outcome> {
    const other = this.running.get(key)
    if (other === undefined) return this.share(key, act)
    return (await other.catch(() => undefined)) ?? act()
  }
}
