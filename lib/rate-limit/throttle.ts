import { digest } from '../protocol/credential'
import { NotAttempted, type OAuthError, tooManyAttempts } from '../protocol/oauth-error'
import type { Reason } from '../protocol/reasons'
import type { Counters } from '../stores/counters'
import { type Limit, secondsToWait } from './limit'

/** One count of failed attempts, and what is said to an attempt for which it has no room. */
export interface FailureThrottle extends Limit {
  /** Names the count; it goes to a store, so it holds no credential and no name in clear. */
  readonly key: string
  /** @param secondsLeft after which the count begins anew. */
  readonly refusal: (secondsLeft: number) => OAuthError
}

/**
 * Makes an attempt if every limit has room for one more failure. It is counted before it is made, so that of any number of
 * parallel attempts, on any number of processes, no more than the limit are made; a success takes back its own addition
 * and nothing else. One that throws counts as a failure: a host that throws for a wrong password must not give away free
 * guesses. One that was not made at all ({@link NotAttempted}) is taken back.
 *
 * Limits are asked in order, and only those before it have counted an attempt when one refuses; they take it back. So the
 * one that a single guesser reaches first stands first: nobody can use up a count by attempts that are refused.
 *
 * @param attempt resolves to undefined when it failed.
 * @throws OAuthError the refusal of a limit, or `temporarily_unavailable` when the counters do not answer; no attempt was
 * made then.
 */
export async function throttled<Success>(
  limits: readonly FailureThrottle[],
  counters: Counters,
  attempt: () => Promise<Success | undefined>,
): Promise<Success | undefined> {
  await count(limits, counters)
  try {
    const success = await attempt()
    if (success !== undefined) await takeBack(limits, counters)
    return success
  } catch (error) {
    if (error instanceof NotAttempted) await takeBack(limits, counters)
    throw error
  }
}

async function count(limits: readonly FailureThrottle[], counters: Counters): Promise<void> {
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

// Whatever comes of it, the answer stands: what stays counted wrongly is forgotten with its window. A count that began anew
// meanwhile loses one that was not its own, and no more than were under way.
async function takeBack(limits: readonly FailureThrottle[], counters: Counters): Promise<void> {
  await Promise.allSettled(limits.map(({ key, seconds }) => counters.add(key, -1, seconds)))
}

// One text for all: which limit it was is nothing for a guesser to know.
const description = 'There were too many failed attempts. Try again later.'

/**
 * The limit that refuses with this reason; none where it is switched off.
 *
 * @param countedAs what is counted, a part of the key.
 * @param whose it is counted for; the key holds its digest.
 */
export function tooManyFailures(
  reason: Reason<'temporarily_unavailable'>,
  limit: Limit | undefined,
  countedAs: string,
  whose: string,
): readonly FailureThrottle[] {
  if (limit === undefined) return []
  const refusal: FailureThrottle['refusal'] = (seconds) => tooManyAttempts(reason, description, seconds)
  return [{ ...limit, key: `${countedAs}:${digest(whose)}`, refusal }]
}
