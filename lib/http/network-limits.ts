import type { Request, RequestHandler, Response } from 'express'
import type * as ExpressRateLimit from 'express-rate-limit'
import type { Limit, RateLimits } from '../limits/limit'
import { factorOfWidest, networkOf, networksOf, widestOf } from '../limits/network'
import { BoundedWindows, type Counts, NetworkLimit } from '../limits/windows'
import { steadyClock } from '../primitives/clock'
import { Throttled } from '../protocol/oauth-error'
import { storeOfHost, warnOfLimitStore } from './limit-store'
import { authorizationOf } from './request'
import { proxyWatch } from './transport'

/** @throws Throttled over the limit. */
export type RequestLimit = (request: Request, response: Response) => Promise<void>

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
  readonly limits: { readonly networks: RateLimits }
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Seconds for one call. */
  readonly storeDeadline: number
  readonly dynamicRegistration: object | undefined
}

/** Parts of one kind share one count, however often the host makes them. */
export function networkLimits({
  limits,
  clock: wallClock,
  storeDeadline: deadline,
  dynamicRegistration,
}: NetworkLimitSettings): NetworkLimits {
  const { authorization, registration, clients, stores } = limits.networks
  const clock = steadyClock(wallClock)
  type Name = Exclude<keyof NetworkLimits, 'answers'>
  const storeOf = (name: Name, limit: Limit): Counts =>
    stores === undefined
      ? new BoundedWindows(clock, limit.seconds * 1000)
      : storeOfHost(stores(name), limit, { deadline, clock, wallClock })
  const limitOf = (name: Name, limit: Limit, factors: readonly number[]) => {
    const store = storeOf(name, limit)
    return requestLimit(() => factors.map((factor) => limiter(limit, factor, store, clock)))
  }
  const ofClients = clients && storeOf('clients', clients)
  const failuresIn = (store: Counts, attempts: number) =>
    failureLimit(new NetworkLimit(attempts, store, clock))
  return {
    authorization: authorization && limitOf('authorization', authorization, [1]),
    // A stranger may send from all networks of a subscriber.
    registration:
      dynamicRegistration && registration && limitOf('registration', registration, [factorOfWidest, 1]),
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

/**
 * While a store fails, requests pass uncounted, with a warning.
 *
 * @param make runs at the first request: loading express-rate-limit takes milliseconds.
 */
function requestLimit(make: () => readonly RequestHandler[]): RequestLimit {
  const watchProxy = proxyWatch()
  let limiters: readonly RequestHandler[] | undefined
  return (request, response) => {
    watchProxy(request)
    limiters ??= make()
    return passed(limiters, request, response)
  }
}

// An error ends the row: a failing store must hold up the request only once.
const passed = (limiters: readonly RequestHandler[], request: Request, response: Response, at = 0) =>
  new Promise<void>((resolve, reject) => {
    void limiters[at]?.(request, response, (error?: unknown) => {
      if (error === undefined)
        return resolve(at + 1 < limiters.length ? passed(limiters, request, response, at + 1) : undefined)
      if (error instanceof Throttled) return reject(error)
      warnOfLimitStore(error)
      resolve()
    })
  })

/**
 * After a refusal, the request counts for no smaller network, and no longer for wider ones, whose other
 * networks it must not harm.
 */
function limiter(
  { attempts, seconds }: Limit,
  factor: number,
  store: Counts,
  clock: () => number,
): RequestHandler {
  const { rateLimit }: typeof ExpressRateLimit = require('express-rate-limit')
  const limit = new NetworkLimit(attempts * factor, store, clock)
  const networkFor = factor === 1 ? networkOf : widestOf
  return rateLimit({
    windowMs: seconds * 1000,
    limit: limit.attempts,
    store: limit,
    standardHeaders: false,
    legacyHeaders: false,
    // These checks write to the host's console.
    validate: false,
    // The default name may be a host's.
    requestPropertyName: 'oauthRateLimit',
    // An IPv4 address is one network.
    skip: ({ ip }: Request) => factor > 1 && widestOf(ip) === networkOf(ip),
    keyGenerator: ({ ip }: Request) => networkFor(ip),
    async handler({ ip }: Request, _response, next) {
      const wider = networksOf(ip).filter((network) => network.factor > factor)
      await Promise.all(wider.map(async ({ network }) => store.decrement(network)))
      next(limit.refusal(networkFor(ip)) ?? limit.refusalUntil(0))
    },
  })
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
