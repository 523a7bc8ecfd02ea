/** Time that begins now and passes only when it is told to. */
export class Clock {
  private milliseconds = Date.now()

  /** Milliseconds since the epoch, as the options `clock` want it. */
  readonly read = (): number => this.milliseconds

  advance(seconds: number): void {
    this.milliseconds += seconds * 1000
  }
}
