import { shortKey } from '../protocol/credential'
import { overLimit } from '../protocol/refusals'
import { BoundedWindows } from './bounded-windows'
import { type Limit, secondsToWait } from './limit'
import { networkOf } from './network'

export interface OpenRequests {
  /** @throws Throttled */
  opened(subject: string): void
  /** Decided, or not stored. */
  ended(subject: string): void
}

/**
 * In memory, without a round trip. Against one owner with many requests, not against many owners: without room,
 * requests of another owner pass uncounted.
 *
 * @param clock milliseconds; must not step.
 */
export function openRequests(
  limit: Limit | undefined,
  clock: () => number,
  maximumOwners?: number,
  name: 'too_many_open_requests' | 'too_many_open_requests/logins' = 'too_many_open_requests',
): OpenRequests {
  if (limit === undefined) return { opened: () => {}, ended: () => {} }
  const { attempts, seconds } = limit
  const windows = new BoundedWindows(clock, seconds * 1000, maximumOwners)
  return {
    opened(subject: string): void {
      const key = shortKey(subject)
      const open = windows.current(key)
      if (open !== undefined && open.hits >= attempts)
        throw overLimit(name, secondsToWait((open.endsAt - clock()) / 1000))
      windows.count(key)
    },
    ended(subject: string): void {
      windows.decrement(shortKey(subject))
    },
  }
}

/** They wait in the store before their owner is known, so no share of an owner bounds them. */
export interface DemandedLogins {
  /** @throws Throttled */
  opened(address: string | undefined): void
  ended(address: string | undefined): void
}

/**
 * As many per network in `seconds`, the lifetime of a request, as requests in the window of
 * `limits.networks.authorization`.
 */
export function demandedLogins(
  limit: Limit | undefined,
  seconds: number,
  clock: () => number,
): DemandedLogins {
  const message = 'too_many_open_requests/logins'
  const windows = openRequests(limit && { ...limit, seconds }, clock, undefined, message)
  return {
    opened: (address) => windows.opened(networkOf(address)),
    ended: (address) => windows.ended(networkOf(address)),
  }
}
