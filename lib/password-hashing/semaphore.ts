import { tooManyAtOnce } from '../protocol/oauth-error'

/**
 * Where an act waits for its turn: in the line, which has an end; before it, without end, for what is known to be right;
 * after it, without end, for what nobody from outside asks for.
 */
export type Priority = 'before the line' | 'in line' | 'after the line'

const order: readonly Priority[] = ['before the line', 'in line', 'after the line']

/** Acts of which only so many may be under way at once. The others wait; those for whom the line is too long are refused. */
export class Semaphore {
  private underWay = 0
  private readonly waiting: Readonly<Record<Priority, (() => void)[]>> = {
    'before the line': [],
    'in line': [],
    'after the line': [],
  }

  constructor(
    private readonly atOnce: number,
    private readonly longestLine: number,
  ) {}

  /** @throws NotAttempted when the line is too long; the act was not begun then. */
  async take<Outcome>(place: Priority, act: () => Promise<Outcome>): Promise<Outcome> {
    await this.begin(place)
    try {
      return await act()
    } finally {
      this.end()
    }
  }

  private async begin(place: Priority): Promise<void> {
    if (this.underWay < this.atOnce) {
      this.underWay++
      return
    }
    const line = this.waiting[place]
    if (place === 'in line' && line.length >= this.longestLine)
      throw tooManyAtOnce('bcrypt_busy', 'Too many secrets are being verified. Try again later.')
    await new Promise<void>((resolve) => line.push(resolve))
  }

  // Who waited takes over the turn of who is done: nobody who comes meanwhile gets in between.
  private end(): void {
    const place = order.find((each) => this.waiting[each].length > 0)
    const next = place && this.waiting[place].shift()
    if (next === undefined) this.underWay--
    else next()
  }
}
