import { shortKey } from '../protocol/credential'
import { tooManyAttempts, type Throttled } from '../protocol/oauth-error'
import { EqualWindows } from './equal-windows'
import { secondsToWait, type Limit } from './limit'

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
