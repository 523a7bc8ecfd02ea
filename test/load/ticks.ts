import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'

/** Turns of the event loop, and the longest of them. What passes on a busy machine counts, so measure on an idle one. */
export class Ticks {
  private last = performance.now()
  private most = 0

  begin(): void {
    this.last = performance.now()
    this.most = 0
  }

  /** What the program did for itself, such as asking for a collection, is no turn. */
  skip(): void {
    this.last = performance.now()
  }

  async next(): Promise<void> {
    await setImmediate()
    const now = performance.now()
    this.most = Math.max(this.most, now - this.last)
    this.last = now
  }

  /** Milliseconds since it began. */
  longest(): number {
    return this.most
  }
}
