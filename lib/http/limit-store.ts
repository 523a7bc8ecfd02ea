import type * as ExpressRateLimit from 'express-rate-limit'
import type { Store } from 'express-rate-limit'
import { warnOnce } from '../audit/warning'
import type { Limit } from '../limits/limit'
import { withinDeadline } from '../stores/deadline'

/** The times that hold for a store of the host. */
interface StoreTimes {
  /** Seconds that one call may take. */
  readonly deadline: number
  /** Milliseconds of a clock that does not step. */
  readonly clock: () => number
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number
}

/**
 * Prepares a store of express-rate-limit from the host for one limit. Each call gets a deadline, because
 * express-rate-limit waits for its store without one, and `resetTime` follows the clock that does not step.
 */
export function storeOfHost(
  store: Store,
  { attempts, seconds }: Limit,
  { deadline, clock, wallClock }: StoreTimes,
): Store {
  const { rateLimit }: typeof ExpressRateLimit = require('express-rate-limit')
  const windowMs = seconds * 1000
  // Initializes the store. Many stores learn the length of the window only in this way.
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
      // The clocks of store and process may differ, but no count lasts longer than its window.
      return { totalHits, resetTime: new Date(clock() + Math.min(left, windowMs)) }
    },
    decrement: (key) => withinDeadline(async () => store.decrement(key), deadline).catch(() => undefined),
    resetKey: (key) => store.resetKey(key),
  }
}

/** Warns that a store failed, so a request passes uncounted. */
export function warnOfLimitStore(error: unknown): void {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const why = cause instanceof Error ? cause.message : String(cause)
  warnOnce(
    'EAS_RATE_LIMIT_STORE',
    `The option limits.networks cannot count, so requests pass uncounted: ${why}`,
  )
}
