import { steadyClock } from '../primitives/clock'
import { overLimit } from '../protocol/refusals'
import type { Counters } from './counters'
import { aLimit, type Limit } from './limit'
import { TokenBuckets } from './token-buckets'

export const singleUsesOption = aLimit(60_000, 60)

/**
 * Counters have one room: a client with good credentials must not fill it, such as with nonces of mac tokens. Counts in
 * memory, without a round trip.
 */
export function withSingleUseLimit(
  counters: Counters,
  limit: Limit | undefined,
  clock: () => number,
): Counters {
  if (limit === undefined) return counters
  const uses = new TokenBuckets(limit, tooManyUses, steadyClock(clock))
  return {
    add: (key, amount, seconds) => counters.add(key, amount, seconds),
    async useOnce(key, seconds, share) {
      if (share !== undefined) uses.take(share)
      return counters.useOnce(key, seconds, share)
    },
  }
}

const tooManyUses = (seconds: number) => overLimit('single_use_limited', seconds)

export function countersOf(counters: Counters, share: string): Counters {
  return {
    add: (key, amount, seconds) => counters.add(key, amount, seconds),
    useOnce: (key, seconds) => counters.useOnce(key, seconds, share),
  }
}
