import { digest } from '../protocol/credential'
import { tooManyAttempts } from '../protocol/oauth-error'
import type { FailureThrottle } from './attempt'
import type { Limit } from './limit'
import type { Reason } from '../protocol/reasons'

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
