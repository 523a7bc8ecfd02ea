import { setImmediate } from 'node:timers/promises'

/**
 * Turns of the event loop, and the longest of them. What counts is the processor time of this process, all of its threads
 * that collect garbage included: on a machine shared with others the time that passes would tell of them.
 */
export class Ticks {
  private last = processorTime()
  private most = 0

  begin(): void {
    this.last = processorTime()
    this.most = 0
  }

  /** What the program did for itself, such as asking for a collection, is no turn. */
  skip(): void {
    this.last = processorTime()
  }

  async next(): Promise<void> {
    await setImmediate()
    const now = processorTime()
    this.most = Math.max(this.most, now - this.last)
    this.last = now
  }

  /** Milliseconds since it began. */
  longest(): number {
    return this.most
  }
}

function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
