/**
 * Shares one running act among all callers with the same key: a caller gets the success of the running act, and does
 * not repeat it.
 */
export class SingleFlight<Success> {
  private readonly acts = new Map<string, Promise<Success | undefined>>()

  /**
   * Resolves to the success of the running act with this key, if there is one. Otherwise, or if that act fails, runs
   * `act`: callers do not share a failure.
   *
   * @param act resolves to undefined if it fails.
   */
  async share(key: string, act: () => Promise<Success | undefined>): Promise<Success | undefined> {
    const other = this.acts.get(key)
    if (other !== undefined) return (await other.catch(() => undefined)) ?? act()
    const own = act()
    this.acts.set(key, own)
    try {
      return await own
    } finally {
      this.acts.delete(key)
    }
  }
}
