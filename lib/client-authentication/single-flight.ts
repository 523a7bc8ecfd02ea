/** Acts that are under way, so that the same one, asked for meanwhile, shares a success and is not done twice. */
export class SingleFlight<Success> {
  private readonly acts = new Map<string, Promise<Success | undefined>>()

  /**
   * What an act of this key that is under way succeeds with, else what this one comes to. A failure is not shared: each has
   * to answer for itself.
   *
   * @param act resolves to undefined when it failed.
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
