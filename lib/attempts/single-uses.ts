import { tooManyForShare } from '../protocol/oauth-error'
import { steadyClock } from '../protocol/steady-clock'
import type { Counters } from '../stores/counters'
import type { Limit } from './limit'
import { TokenBuckets } from './token-buckets'

/** Uses of one client in one process, unless the host says otherwise. */
export const usualSingleUses: Limit = { attempts: 60_000, seconds: 60 }

/**
 * The same counters, in which each client may use up only so much once (nonces, assertions) in this process, without a
 * round trip: a client with good credentials must not fill what all clients share.
 *
 * @param clock milliseconds since the epoch.
 */
export function withSingleUseLimit(
  counters: Counters,
  limit: Limit | undefined,
  clock: () => number,
): Counters {
  if (limit === undefined) return counters
  const uses = new TokenBuckets(limit, steadyClock(clock))
  return {
    add: (key, amount, seconds) => counters.add(key, amount, seconds),
    async useOnce(key, seconds, clientId) {
      if (clientId !== undefined) {
        const wait = uses.wait(clientId)
        if (wait !== undefined)
          throw tooManyForShare(
            'single_use_limited',
            'There were too many such requests. Try again later.',
            wait,
          )
        uses.take(clientId)
      }
      return counters.useOnce(key, seconds, clientId)
    },
  }
}

/** The same counters, as the requests of one client use them. */
export function countersOfClient(counters: Counters, clientId: string): Counters {
  return {
    add: (key, amount, seconds) => counters.add(key, amount, seconds),
    useOnce: (key, seconds) => counters.useOnce(key, seconds, clientId),
  }
}
