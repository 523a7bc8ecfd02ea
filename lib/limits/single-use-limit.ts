import { steadyClock } from '../primitives/steady-clock'
import { tooManyForShare } from '../protocol/oauth-error'
import type { Counters } from './counters'
import type { Limit } from './limit'
import { TokenBuckets } from './token-buckets'

/** The default limit on single uses of one client in one process. */
export const usualSingleUses: Limit = { attempts: 60_000, seconds: 60 }

/**
 * Decorates counters: limits how many keys, such as nonces of mac tokens, each client may use up. All clients share
 * the room of the counters, and one client with good credentials must not fill it. The limit stands in the memory of
 * this process, without a round trip.
 *
 * @param limit undefined for no limit.
 * @param clock milliseconds since the epoch.
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
    async useOnce(key, seconds, clientId) {
      if (clientId !== undefined) uses.take(clientId)
      return counters.useOnce(key, seconds, clientId)
    },
  }
}

const tooManyUses = (seconds: number) =>
  tooManyForShare('single_use_limited', 'There were too many such requests. Try again later.', seconds)

/** Decorates counters: every single use belongs to this client. */
export function countersOfClient(counters: Counters, clientId: string): Counters {
  return {
    add: (key, amount, seconds) => counters.add(key, amount, seconds),
    useOnce: (key, seconds) => counters.useOnce(key, seconds, clientId),
  }
}
