import type { Request } from 'express'
import type { Store } from 'express-rate-limit'
import type { Limit } from '../limits/limit'
import {
  type CountedPrefix,
  hasPrefixes,
  networksOf,
  networkWith,
  subscriberPrefixes,
} from '../limits/network'
import { NetworkLimit } from '../limits/network-limit'
import { BoundedWindows } from '../limits/bounded-windows'
import type { RateLimits } from '../limits/rate-limit-options'
import { steadyClock } from '../primitives/steady-clock'
import { Throttled } from '../protocol/oauth-error'
import { type FailureLimit, failureLimit } from './failure-limit'
import { storeOfHost, warnOfLimitStore } from './limit-store'
import { proxyWatch } from './transport'

/** @throws Throttled over the limit. */
export type RequestLimit = (request: Request) => Promise<void>

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
  const storeOf = (name: Name, limit: Limit): Store =>
    stores === undefined
      ? new BoundedWindows(clock, limit.seconds * 1000)
      : storeOfHost(stores(name), limit, { deadline, clock, wallClock })
  const limitOf = (name: Name, limit: Limit, prefixes: readonly CountedPrefix[]) =>
    requestLimit(limit, prefixes, storeOf(name, limit), clock)
  const ofClients = clients && storeOf('clients', clients)
  const failuresIn = (store: Store, attempts: number) =>
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

const apart = (store: Store): Store => ({
  increment: (network) => store.increment(`${network} answers`),
  decrement: (network) => store.decrement(`${network} answers`),
  resetKey: (network) => store.resetKey(`${network} answers`),
})

/** While a store fails, requests pass uncounted, with a warning. */
function requestLimit(
  { attempts }: Limit,
  prefixes: readonly CountedPrefix[],
  store: Store,
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
        const network = networkWith(bits, address)
        const { totalHits } = await limit.increment(network)
        if (totalHits <= limit.attempts) continue
        // The refused request counts no longer for wider networks, whose other networks it must not harm.
        const wider = networksOf(address).filter((each) => each.factor > factor)
        await Promise.all(wider.map(async (each) => store.decrement(each.network)))
        throw limit.refusal(network)
      }
    } catch (error) {
      if (error instanceof Throttled) throw error
      warnOfLimitStore(error)
    }
  }
}
