import { shortKey } from '../protocol/credential'
import { tooManyAttempts } from '../protocol/oauth-error'
import { BoundedWindows } from './bounded-windows'
import { type Limit, secondsToWait } from './limit'
import { networkOf } from './network'

/** The authorization requests of each resource owner that wait for a decision. */
export interface OpenRequests {
  /** Counts a new request of the owner. @throws Throttled if the owner has too many open requests. */
  opened(subject: string): void
  /** Takes back the count of a request that was decided, or that the store did not keep. */
  ended(subject: string): void
}

/**
 * Limits the open authorization requests of each resource owner. Counts in the memory of this process, without a round
 * trip. The limit is against one owner with many requests, not against many owners: if there is no room for another
 * owner, the requests of this owner pass uncounted.
 *
 * @param limit undefined for no limit.
 * @param clock milliseconds of a clock that does not step.
 * @param maximumOwners how many owners the process counts at the same time. Default: 100 000.
 */
export function openRequests(
  limit: Limit | undefined,
  clock: () => number,
  maximumOwners?: number,
  message = 'Too many apps are waiting for your answer. Please try again later.',
): OpenRequests {
  if (limit === undefined) return { opened: () => {}, ended: () => {} }
  const { attempts, seconds } = limit
  const windows = new BoundedWindows(clock, seconds * 1000, maximumOwners)
  return {
    opened(subject: string): void {
      const key = shortKey(subject)
      const open = windows.get(key)
      // A refused request is not open and does not count: an owner who reloads the refused page loses nothing.
      if (open !== undefined && open.hits >= attempts)
        throw tooManyAttempts(
          'too_many_open_requests',
          message,
          secondsToWait((open.endsAt - clock()) / 1000),
        )
      windows.count(key)
    },
    ended(subject: string): void {
      windows.decrement(shortKey(subject))
    },
  }
}

/**
 * The demanded logins of each network whose record waits in the store. Such a record begins before the server knows its
 * owner, so no share of an owner bounds it.
 */
export interface DemandedLogins {
  /** @throws Throttled if too many demanded logins of the network wait. */
  opened(address: string | undefined): void
  ended(address: string | undefined): void
}

/**
 * Limits the demanded logins that wait in the store, for each network: as many in the lifetime of a request as the
 * network may send requests in the window of `limits.networks.authorization`.
 *
 * @param limit undefined for no limit.
 * @param seconds the lifetime of a request.
 */
export function demandedLogins(
  limit: Limit | undefined,
  seconds: number,
  clock: () => number,
): DemandedLogins {
  const message = 'Too many logins of your network are open. Please try again later.'
  const windows = openRequests(limit && { ...limit, seconds }, clock, undefined, message)
  return {
    opened: (address) => windows.opened(networkOf(address)),
    ended: (address) => windows.ended(networkOf(address)),
  }
}
