import type { Request } from 'express'
import type { Limit } from '../limits/limit'
import {
  type CountedPrefix,
  hasPrefixes,
  networkOf,
  networksOf,
  networkWith,
  subscriberPrefixes,
} from '../limits/network'
import { type Counts, NetworkLimit } from '../limits/network-limit'
import { BoundedWindows } from '../limits/bounded-windows'
import type { RateLimits } from '../limits/rate-limit-options'
import { isLater } from '../primitives/eventual'
import { steadyClock } from '../primitives/steady-clock'
import { Throttled } from '../protocol/oauth-error'
import { storeOfHost, warnOfLimitStore } from './limit-store'
import { authorizationOf } from './request'
import { proxyWatch } from './transport'

/** @throws Throttled over the limit. */
export type RequestLimit = (request: Request) => Promise<void>

interface FailureLimit {
  refusalOf(request: Request): Throttled | undefined
  /** Ignores what any web page can cause. The refusal replaces the request's error. */
  count(request: Request): Promise<Throttled | undefined>
}

/** Undefined: the limit is off. */
export interface NetworkLimits {
  readonly authorization: RequestLimit | undefined
  /** A stranger may register as many clients as the server lets him. */
  readonly registration: RequestLimit | undefined
  /** Counts only failures: honest clients may share an address, and `limits.issuing` bounds successes. */
  readonly clients: FailureLimit | undefined
  /** Counts refusals that the protocol has honest clients cause, such as `authorization_pending`. */
  readonly answers: FailureLimit | undefined
}

interface NetworkLimitSettings {
  readonly rateLimit: RateLimits
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Seconds for one call. */
  readonly storeDeadline: number
  readonly dynamicRegistration: object | undefined
}

/** Parts of one kind share one count, however often the host makes them. */
export function networkLimits({
  rateLimit,
  clock: wallClock,
  storeDeadline: deadline,
  dynamicRegistration,
}: NetworkLimitSettings): NetworkLimits {
  const { authorization, registration, clients, stores } = rateLimit
  const clock = steadyClock(wallClock)
  type Name = Exclude<keyof NetworkLimits, 'answers'>
  const storeOf = (name: Name, limit: Limit): Counts =>
    stores === undefined
      ? new BoundedWindows(clock, limit.seconds * 1000)
      : storeOfHost(stores(name), limit, { deadline, clock, wallClock })
  const limitOf = (name: Name, limit: Limit, prefixes: readonly CountedPrefix[]) =>
    requestLimit(limit, prefixes, storeOf(name, limit), clock)
  const ofClients = clients && storeOf('clients', clients)
  const failuresIn = (store: Counts, attempts: number) =>
    failureLimit(new NetworkLimit(attempts, store, clock))
  return {
    authorization: authorization && limitOf('authorization', authorization, [{ bits: 64, factor: 1 }]),
    // A stranger may send from all networks of a subscriber.
    registration:
      dynamicRegistration && registration && limitOf('registration', registration, subscriberPrefixes),
    clients: clients && ofClients && failuresIn(ofClients, clients.attempts),
    answers: clients && ofClients && failuresIn(apart(ofClients), clients.attempts * factorOfAnswers),
  }
}

// Honest devices ask twelve times a minute and more.
const factorOfAnswers = 10

const apart = (store: Counts): Counts => ({
  increment: (network) => store.increment(`${network} answers`),
  decrement: (network) => store.decrement(`${network} answers`),
})

/** While a store fails, requests pass uncounted, with a warning. */
function requestLimit(
  { attempts }: Limit,
  prefixes: readonly CountedPrefix[],
  store: Counts,
  clock: () => number,
): RequestLimit {
  const watchProxy = proxyWatch()
  const counted = prefixes.map(({ bits, factor }) => {
    return { bits, factor, limit: new NetworkLimit(attempts * factor, store, clock) }
  })
  return async (request) => {
    watchProxy(request)
    const { ip: address } = request
    try {
      for (const { bits, factor, limit } of counted) {
        // An IPv4 address is one network.
        if (factor > 1 && !hasPrefixes(address)) continue
        const counting = limit.count(networkWith(bits, address))
        const refusal = isLater(counting) ? await counting : counting
        if (refusal === undefined) continue
        // The refused request counts no longer for wider networks, whose other networks it must not harm.
        const wider = networksOf(address).filter((each) => each.factor > factor)
        await Promise.all(wider.map(async (each) => store.decrement(each.network)))
        throw refusal
      }
    } catch (error) {
      if (error instanceof Throttled) throw error
      warnOfLimitStore(error)
    }
  }
}

/**
 * Counts afterwards: before, every honest request would cost two calls of the store. A parallel burst is
 * processed whole, but all over the limit get the same refusal, which hides their result.
 */
function failureLimit(limit: NetworkLimit): FailureLimit {
  const watchProxy = proxyWatch()
  return {
    refusalOf(request) {
      watchProxy(request)
      // Before Express computes the address: usually no network is over the limit.
      return limit.isUsedUpByNone ? undefined : limit.refusal(networkOf(request.ip))
    },
    async count(request) {
      if (isFromAnyPage(request)) return undefined
      try {
        return await limit.count(networkOf(request.ip))
      } catch (error) {
        warnOfLimitStore(error)
        return undefined
      }
    },
  }
}

// RFC 9110 9.2.1: any web page can cause these, with an image for example. An `Authorization` header takes a
// script and a preflight.
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
const isFromAnyPage = (request: Request) =>
  safeMethods.has(request.method) && authorizationOf(request).length === 0
