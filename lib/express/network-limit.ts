import type { Request, Response } from 'express'
import { EqualWindows } from '../attempts/equal-windows'
import { secondsToWait, type Limit } from '../attempts/limit'
import { networkOf } from '../attempts/network'
import { tooManyAttempts, type Throttled } from '../protocol/oauth-error'
import { warnOnce } from '../warning'

/** One limit on what comes from one network (an IPv4 address, or 64 bits of IPv6). */
export interface NetworkLimit {
  readonly count: CountOfNetwork
  /** Milliseconds of a clock that does not step. */
  readonly clock: () => number
}

/** Counts a request and tells how its network stands; undefined when the count could not be reached. */
export type CountOfNetwork = (
  request: Request,
  response: Response,
) => Standing | undefined | Promise<Standing | undefined>

/** How a network stands after one more of its requests was counted. */
export interface Standing {
  readonly network: string
  readonly isOver: boolean
  /** How many more the limit allows. */
  readonly remaining: number
  /** When its count begins anew, in milliseconds of the limit's clock. */
  readonly endsAt: number
}

/** Counts in the memory of this process, for a hundred thousand networks; one more passes uncounted. */
export function countInMemory({ attempts, seconds }: Limit, clock: () => number): CountOfNetwork {
  const counts = new EqualWindows(clock, seconds * 1000)
  return (request) => {
    const network = networkOf(request.ip)
    const counted = counts.begun(network)
    if (counted === undefined) return warnOfCounts('The counts of requests in memory are full.')
    counted.count += 1
    const remaining = Math.max(attempts - counted.count, 0)
    return { network, isOver: counted.count > attempts, remaining, endsAt: counted.endsAt }
  }
}

/** What a request is told whose network is over its limit until then. */
export function overLimit(endsAt: number, now: number): Throttled {
  const seconds = secondsToWait(Math.ceil((endsAt - now) / 1000))
  return tooManyAttempts('rate_limited', 'Too many requests from this network.', seconds)
}

/** Warns, once, that requests pass uncounted. */
export function warnOfCounts(why: string): undefined {
  warnOnce(
    'EAS_RATE_LIMIT_STORE',
    `The counts of the option rateLimit cannot be reached, so requests pass uncounted: ${why}`,
  )
}
