import { digest } from '../protocol/credential'
import { NotAttempted, type OAuthError, tooManyAttempts } from '../protocol/oauth-error'
import type { Reason } from '../protocol/reasons'
import type { Counters } from './counters'
import { type Limit, secondsToWait } from './limit'

/** One limit on failed attempts, and the refusal over the limit. */
export interface FailureThrottle extends Limit {
  /** The key of the count. The store sees the key, so the key holds no credential and no name in clear. */
  readonly key: string
  /** @param secondsLeft whole seconds until the count begins again at 0. */
  readonly refusal: (secondsLeft: number) => OAuthError
}

/**
 * Runs an attempt if every limit has room for one more failure. Each attempt counts as a failure before it runs, so
 * even parallel attempts in several processes cannot exceed a limit. A success takes back exactly its own count. An
 * attempt that throws stays counted: a host that throws for a wrong password must not allow unlimited guesses. An
 * attempt that throws {@link NotAttempted} did not run, and its count is taken back.
 *
 * The function asks the limits in order. If one refuses, it takes the count back from this limit and all limits before
 * it; later limits have not counted. Put the limit that a single attacker reaches first at the beginning: refused
 * attempts then cannot use up the limits that honest clients share.
 *
 * @param attempt resolves to undefined for a failure.
 * @throws OAuthError the refusal of a limit, or `temporarily_unavailable` if the counters do not answer. The attempt
 * did not run.
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

// An error of the counters does not change the result of the attempt: a wrong count ends with its window. If a new
// window has begun meanwhile, it loses one count that was not its own. At most, it loses one for each attempt that
// was running.
async function takeBack(limits: readonly FailureThrottle[], counters: Counters): Promise<void> {
  await Promise.allSettled(limits.map(({ key, seconds }) => counters.add(key, -1, seconds)))
}

// All limits have the same text, because an attacker must not learn which limit refused.
const description = 'There were too many failed attempts. Try again later.'

/**
 * Makes the limit that refuses with this reason; an empty list if the limit is off.
 *
 * @param countedAs the kind of count, in clear in the key.
 * @param whose the client, owner or network that the count belongs to. The key holds only its digest.
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
