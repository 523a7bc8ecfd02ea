import { digest } from '../protocol/credential'
import { NotAttempted, type OAuthError } from '../protocol/oauth-error'
import { overLimit, type RefusalName } from '../protocol/refusals'
import type { Counters } from './counters'
import { type Limit, secondsToWait } from './limit'
import { networksOf } from './network'

export interface FailureThrottle extends Limit {
  /** The store sees it: no credential and no name in clear. */
  readonly key: string
  readonly refusal: (secondsLeft: number) => OAuthError
}

/**
 * Each attempt counts as a failure before it runs, so even parallel attempts in several processes cannot exceed a
 * limit. An attempt that throws stays counted: a host that throws for a wrong
 * password must not allow unlimited guesses.
 *
 * Put first
 * what a single attacker reaches first: refused attempts then cannot use up what honest clients share.
 * @param attempt resolves to undefined for a failure.
 */
export async function throttled<Success>(
  limits: readonly FailureThrottle[],
  counters: Counters,
  attempt: () => Promise<Success | undefined>,
): Promise<Success | undefined> {
  await countAll(limits, counters)
  try {
    const success = await attempt()
    if (success !== undefined) await takeBack(limits, counters)
    return success
  } catch (error) {
    if (error instanceof NotAttempted) await takeBack(limits, counters)
    throw error
  }
}

/** A refusal takes back what it has counted. */
export async function countAll(limits: readonly FailureThrottle[], counters: Counters): Promise<void> {
  const counted: FailureThrottle[] = []
  try {
    for (const limit of limits) {
      const { count: attempts, secondsLeft } = await counters.add(limit.key, 1, limit.seconds)
      counted.push(limit)
      if (attempts > limit.attempts) throw limit.refusal(secondsToWait(secondsLeft))
    }
  } catch (error) {
    await takeBack(counted, counters)
    throw error
  }
}

// A wrong count ends with its window. A window that began meanwhile loses at most one count per running attempt.
async function takeBack(limits: readonly FailureThrottle[], counters: Counters): Promise<void> {
  await Promise.allSettled(limits.map(({ key, seconds }) => counters.add(key, -1, seconds)))
}

/** @param countedAs in clear in the key. @param whose the key holds only its digest. */
export function tooManyFailures(
  name: RefusalName,
  limit: Limit | undefined,
  countedAs: string,
  whose: string,
): readonly FailureThrottle[] {
  if (limit === undefined) return []
  const refusal = (seconds: number) => overLimit(name, seconds)
  return [{ ...limit, key: `${countedAs}:${digest(whose)}`, refusal }]
}

/** For strangers: by each network that one subscriber may have. */
export const tooManyOfNetwork = (
  name: RefusalName,
  limit: Limit | undefined,
  countedAs: string,
  address: string | undefined,
): readonly FailureThrottle[] =>
  networksOf(address).flatMap(({ network, factor }) =>
    tooManyFailures(name, limit && { ...limit, attempts: limit.attempts * factor }, countedAs, network),
  )
