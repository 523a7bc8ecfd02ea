import { shortKey } from '../protocol/credential'
import { type Throttled, tooManyAttempts } from '../protocol/oauth-error'
import { BoundedWindows } from './bounded-windows'
import { type Limit, secondsToWait } from './limit'

/**
 * Limits the open authorization requests of each resource owner. Counts in the memory of this process, without a round
 * trip. The limit is against one owner with many requests, not against many owners: if there is no room for another
 * owner, the requests of this owner pass uncounted.
 *
 * @param limit undefined for no limit.
 * @param clock milliseconds of a clock that does not step.
 * @param maximumOwners how many owners the process counts at the same time. Default: 100 000.
 */
export function openRequests(limit: Limit | undefined, clock: () => number, maximumOwners?: number) {
  if (limit === undefined) return { opened: () => {}, ended: () => {} }
  const { attempts, seconds } = limit
  const windows = new BoundedWindows(clock, seconds * 1000, maximumOwners)
  return {
    opened(subject: string): void {
      const key = shortKey(subject)
      const open = windows.get(key)
      // A refused request is not open and does not count: an owner who reloads the refused page loses nothing.
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
