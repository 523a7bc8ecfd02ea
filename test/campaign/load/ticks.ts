import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'

/**
 * Turns of the event loop, and the longest of them: the time that passed, or the processor time of this process if that
 * is less, since a turn in which the machine ran something else says nothing about this program.
 */
export class Ticks {
  private last = performance.now()
  private used = process.cpuUsage()
  private most = 0

  begin(): void {
    this.skip()
    this.most = 0
  }

  /** What the program did for itself, such as asking for a collection, is no turn. */
  skip(): void {
    this.last = performance.now()
    this.used = process.cpuUsage()
  }

  async next(): Promise<void> {
    await setImmediate()
    const passed = performance.now() - this.last
    // Asked only where it matters: the question costs more than a turn does.
    if (passed > this.most) this.most = Math.max(this.most, Math.min(passed, this.processorTime()))
    this.skip()
  }

  /** Milliseconds since it began. */
  longest(): number {
    return this.most
  }

  private processorTime(): number {
    const { user, system } = process.cpuUsage(this.used)
    return (user + system) / 1000
  }
}
