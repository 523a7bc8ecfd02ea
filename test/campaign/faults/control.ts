import { setTimeout } from 'node:timers/promises'
import type { Span } from './history'

// Milliseconds. What is asked here takes a few of them on a machine that is not busy with something else.
const slow = 250
const pause = 50

type Probe = () => Promise<unknown>

/**
 * Asks again and again for something that has nothing to do with the suite, along the same way as the suite's requests:
 * the same processes, the same Redis. While such an answer is slow the machine stands still, which is no fault of a server.
 */
export class Control {
  private readonly past: Span[] = []
  private readonly running = new Set<{ readonly from: number }>()

  constructor(
    probes: readonly Probe[],
    private readonly signal: AbortSignal,
  ) {
    for (const probe of probes) void this.repeat(probe)
  }

  /** When the machine stood still, up to now. */
  get standstills(): readonly Span[] {
    const to = performance.now()
    const now = [...this.running].map(({ from }) => ({ from, to }))
    return [...this.past, ...now.filter(isSlow)]
  }

  private async repeat(probe: Probe): Promise<void> {
    while (!this.signal.aborted) {
      const begun = { from: performance.now() }
      this.running.add(begun)
      // A refusal is an answer, too.
      await probe().catch(() => {})
      this.running.delete(begun)
      const span = { ...begun, to: performance.now() }
      if (isSlow(span)) this.past.push(span)
      await setTimeout(pause)
    }
  }
}

const isSlow = ({ from, to }: Span): boolean => to - from >= slow
