import { digest } from '../protocol/credential'
import { tooManyAttempts, type Throttled } from '../protocol/oauth-error'
import type { Counters } from '../stores/counters'
import { secondsToWait, type Limit } from './limit'

/**
 * Counts the authorization requests of each resource owner that wait for a decision. Counters that cannot count (those in
 * memory may be full) let a request pass: the limit is there for one owner with many requests, not for many owners.
 */
export function openRequests(limit: Limit | undefined, counters: Counters) {
  if (limit === undefined) return { opened: async () => {}, ended: async () => {} }
  const { attempts, seconds } = limit
  const ended = async (subject: string): Promise<void> => {
    await counters.add(keyOf(subject), -1, seconds).catch(() => undefined)
  }
  return {
    ended,
    async opened(subject: string): Promise<void> {
      const counted = await counters.add(keyOf(subject), 1, seconds).catch(() => undefined)
      if (counted === undefined || counted.count <= attempts) return
      // One that is refused is not open, so that a page which is reloaded meanwhile costs its owner nothing.
      await ended(subject)
      throw tooManyOpen(secondsToWait(counted.secondsLeft))
    },
  }
}

const tooManyOpen = (secondsLeft: number): Throttled =>
  tooManyAttempts(
    'too_many_open_requests',
    'Too many apps are waiting for your answer. Please try again later.',
    secondsLeft,
  )

// Of bounded length, whatever the host calls its owners.
const keyOf = (subject: string) => `open:${digest(subject)}`
