import { shortKey } from '../protocol/credential'
import { type Throttled, tooManyAttempts } from '../protocol/oauth-error'
import { type Limit, secondsToWait } from './limit'

/**
 * Counts the open requests of each owner in this process, without a round trip more. When there are more owners than there is
 * room for, their requests pass: the limit is there for one owner with many requests, not for many owners.
 *
 * @param clock milliseconds of a clock that does not step.
 */
export function openRequests(limit: Limit | undefined, clock: () => number, maximumOwners?: number) {
  if (limit === undefined) return { opened: () => {}, ended: () => {} }
  const { attempts, seconds } = limit
  const open = new EqualWindows(clock, seconds * 1000, maximumOwners)
  return {
    opened(subject: string): void {
      const counted = open.begun(shortKey(subject))
      if (counted === undefined) return
      // One that is refused is not open, so that a page which is reloaded meanwhile costs its owner nothing.
      if (counted.count >= attempts)
        throw tooManyOpen(secondsToWait(Math.ceil((counted.endsAt - clock()) / 1000)))
      counted.count += 1
    },
    ended(subject: string): void {
      const key = shortKey(subject)
      const counted = open.get(key)
      if (counted === undefined) return
      counted.count -= 1
      if (counted.count <= 0) open.delete(key)
    },
  }
}

const tooManyOpen = (secondsLeft: number): Throttled =>
  tooManyAttempts(
    'too_many_open_requests',
    'Too many apps are waiting for your answer. Please try again later.',
    secondsLeft,
  )

/** A count, which begins anew at that time. */
export interface Window {
  count: number
  /** Milliseconds of the clock that the windows are counted by. */
  readonly endsAt: number
}

/**
 * Counts in the memory of this process, of bounded number and without a timer. All last equally long, so that those which
 * began first are the first to end.
 */
export class EqualWindows {
  private readonly windows = new Map<string, Window>()

  /** @param clock milliseconds of a clock that does not step: one that is set back would lengthen each window. */
  constructor(
    private readonly clock: () => number,
    private readonly milliseconds: number,
    private readonly maximum = 100_000,
  ) {}

  /** The count of the key as it stands. */
  get(key: string): Window | undefined {
    const known = this.windows.get(key)
    return known !== undefined && known.endsAt > this.clock() ? known : undefined
  }

  /** The count of the key, or one that begins now at zero; undefined when there is no room: to forget another would begin it anew. */
  begun(key: string): Window | undefined {
    const known = this.get(key)
    if (known !== undefined) return known
    const now = this.clock()
    this.windows.delete(key)
    for (const [ended, { endsAt }] of this.windows) {
      if (endsAt > now) break
      this.windows.delete(ended)
    }
    if (this.windows.size >= this.maximum) return undefined
    const window = { count: 0, endsAt: now + this.milliseconds }
    this.windows.set(key, window)
    return window
  }

  delete(key: string): void {
    this.windows.delete(key)
  }
}
