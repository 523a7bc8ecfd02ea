import { shortKey } from '../protocol/credential'
import { tooManyAttempts } from '../protocol/oauth-error'
import { BoundedWindows } from './bounded-windows'
import { type Limit, secondsToWait } from './limit'
import { networkOf } from './network'

/** Authorization requests that wait for a decision. */
export interface OpenRequests {
  /** @throws Throttled if the owner has too many open requests. */
  opened(subject: string): void
  /** For a request that was decided, or that was not stored. */
  ended(subject: string): void
}

/**
 * Limits the open requests of each owner, in memory, without a round trip. Against one owner with many
 * requests, not against many owners: without room for another owner, requests of that owner pass uncounted.
 *
 * @param clock milliseconds of a clock that does not step.
 * @param maximumOwners default: 100 000.
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
      // A refused request does not count: an owner who reloads it loses nothing.
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
 * The demanded logins of each network that wait in the store. They begin before their owner is known, so no
 * share of an owner bounds them.
 */
export interface DemandedLogins {
  /** @throws Throttled if too many wait. */
  opened(address: string | undefined): void
  ended(address: string | undefined): void
}

/**
 * A network may have as many in the lifetime of a request (`seconds`) as it may send requests in the window
 * of `limits.networks.authorization`.
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
