import type * as ExpressRateLimit from 'express-rate-limit'
import type { Store } from 'express-rate-limit'
import { warnOnce } from '../audit/warning'
import type { Limit } from '../limits/limit'
import type { Counts } from '../limits/windows'
import { withinDeadline } from '../store/deadline'

interface StoreTimes {
  /** Seconds for one call. */
  readonly deadline: number
  /** Milliseconds; does not step. */
  readonly clock: () => number
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number
}

/**
 * express-rate-limit waits for its store without a deadline, and `resetTime` must follow a clock that does
 * not step.
 */
export function storeOfHost(
  store: Store,
  { attempts, seconds }: Limit,
  { deadline, clock, wallClock }: StoreTimes,
): Counts {
  const { rateLimit }: typeof ExpressRateLimit = require('express-rate-limit')
  const windowMs = seconds * 1000
  // Many stores learn the window's length only so.
  rateLimit({
    windowMs,
    limit: attempts,
    store,
    validate: false,
    logger: { error: warnOfLimitStore, warn: warnOfLimitStore },
  })
  return {
    async increment(key) {
      const { totalHits, resetTime } = await withinDeadline(async () => store.increment(key), deadline)
      const left = resetTime instanceof Date ? resetTime.getTime() - wallClock() : 0
      // Clocks of store and process may differ, but no count outlasts its window.
      return { totalHits, resetTime: new Date(clock() + Math.min(left, windowMs)) }
    },
    decrement: (key) => withinDeadline(async () => store.decrement(key), deadline).catch(() => undefined),
  }
}

export function warnOfLimitStore(error: unknown): void {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const why = cause instanceof Error ? cause.message : String(cause)
  warnOnce(
    'EAS_RATE_LIMIT_STORE',
    `The option limits.networks cannot count, so requests pass uncounted: ${why}`,
  )
}
