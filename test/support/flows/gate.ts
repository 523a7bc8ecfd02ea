/** Something that takes as long as the test wants it to. */
export class Gate {
  /** How many wait, or have waited. */
  waiting = 0
  open = (): void => {}
  private readonly opened = new Promise<void>((resolve) => {
    this.open = resolve
  })

  async pass(): Promise<void> {
    this.waiting += 1
    await this.opened
  }
}
