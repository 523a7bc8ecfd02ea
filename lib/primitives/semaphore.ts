/**
 * - `in line`: a bounded queue, for attempts that may be guesses;
 * - `before the line`: unbounded, for secrets that this process has verified before;
 * - `after the line`: unbounded, for calls of the host.
 */
export type Priority = 'before the line' | 'in line' | 'after the line'

const order: readonly Priority[] = ['before the line', 'in line', 'after the line']

export class Semaphore {
  private running = 0
  private readonly waiting: Readonly<Record<Priority, (() => void)[]>> = {
    'before the line': [],
    'in line': [],
    'after the line': [],
  }

  /** @param longestLine how many calls may wait `in line`. */
  constructor(
    private readonly atOnce: number,
    private readonly longestLine: number,
    private readonly refusal: () => Error,
  ) {}

  async take<Outcome>(place: Priority, act: () => Promise<Outcome>): Promise<Outcome> {
    await this.begin(place)
    try {
      return await act()
    } finally {
      this.end()
    }
  }

  private async begin(place: Priority): Promise<void> {
    if (this.running < this.atOnce) {
      this.running++
      return
    }
    const line = this.waiting[place]
    if (place === 'in line' && line.length >= this.longestLine) throw this.refusal()
    await new Promise<void>((resolve) => line.push(resolve))
  }

  // The turn is never free in between: a new call could overtake the queue.
  private end(): void {
    const place = order.find((each) => this.waiting[each].length > 0)
    const next = place && this.waiting[place].shift()
    if (next === undefined) this.running--
    else next()
  }
}
