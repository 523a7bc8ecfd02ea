const failuresAtMost = 5
// Milliseconds.
const pause = 10_000

/** Opens after 5 failures in a row, then lets one act through every 10 seconds until one succeeds. */
export class CircuitBreaker {
  private failures = 0
  private opensAgainAt = 0

  /** @param clock milliseconds; must not step. */
  constructor(private readonly clock: () => number) {}

  get isClosed(): boolean {
    return this.failures < failuresAtMost
  }

  /** Every act that may run must end in `succeeded` or `failed`. */
  mayTry(): boolean {
    if (this.isClosed) return true
    const now = this.clock()
    if (now < this.opensAgainAt) return false
    // Until this act has ended, or the pause is over again, no other one runs.
    this.opensAgainAt = now + pause
    return true
  }

  succeeded(): void {
    this.failures = 0
  }

  failed(): void {
    this.failures += 1
    this.opensAgainAt = this.clock() + pause
  }

  open(): void {
    this.failures = failuresAtMost
    this.opensAgainAt = this.clock() + pause
  }
}
