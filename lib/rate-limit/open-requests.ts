import { shortKey } from '../protocol/credential'
import { type Throttled, tooManyAttempts } from '../protocol/oauth-error'
import { BoundedWindows } from './bounded-windows'
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
  const windows = new BoundedWindows(clock, seconds * 1000, maximumOwners)
  return {
    opened(subject: string): void {
      const key = shortKey(subject)
      const open = windows.get(key)
      // A refused request is not open: a page that its owner reloads meanwhile costs nothing.
      if (open !== undefined && open.totalHits >= attempts)
        throw tooManyOpen(secondsToWait(Math.ceil((open.resetTime.getTime() - clock()) / 1000)))
      windows.count(key)
    },
    ended(subject: string): void {
      windows.decrement(shortKey(subject))
    },
  }
}

const tooManyOpen = (secondsLeft: number): Throttled =>
  tooManyAttempts(
    'too_many_open_requests',
    'Too many apps are waiting for your answer. Please try again later.',
    secondsLeft,
  )
