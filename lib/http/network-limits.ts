import type { Request, RequestHandler, Response } from 'express'
import type * as ExpressRateLimit from 'express-rate-limit'
import type { Store } from 'express-rate-limit'
import { warnOnce } from '../audit/warning'
import type { Limit, RateLimits } from '../limits/limit'
import { factorOfWidest, networkOf, networksOf, widestOf } from '../limits/network'
import { BoundedWindows, type Counts, NetworkLimit } from '../limits/windows'
import { steadyClock } from '../primitives/clock'
import { Throttled } from '../protocol/oauth-error'
import { withinDeadline } from '../store/deadline'
import { authorizationOf } from './request'
import { proxyWatch } from './transport'

/** @throws Throttled over the limit. */
export type RequestLimit = (request: Request, response: Response) => Promise<void>

interface NetworkLimitSettings {
  readonly limits: { readonly networks: RateLimits }
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Seconds for one call. */
  readonly storeDeadline: number
  readonly dynamicRegistration: object | undefined
}

/** Undefined if off. */
export type NetworkLimits = ReturnType<typeof networkLimits>

/** Parts of one kind share one count. */
export function networkLimits(settings: NetworkLimitSettings) {
  const { authorization, registration, clients, stores } = settings.limits.networks
  const clock = steadyClock(settings.clock)
  type Name = 'authorization' | 'registration' | 'clients'
  const storeOf = (name: Name, limit: Limit): Counts =>
    stores === undefined
      ? new BoundedWindows(clock, limit.seconds * 1000)
      : storeOfHost(stores(name), limit, settings, clock)
  const limitOf = (name: Name, limit: Limit, factors: readonly number[]) => {
    const store = storeOf(name, limit)
    return requestLimit(() => factors.map((factor) => limiter(limit, factor, store, clock)))
  }
  const ofClients = clients && storeOf('clients', clients)
  const failuresIn = (store: Counts, attempts: number) =>
    new FailureLimit(new NetworkLimit(attempts, store, clock))
  return {
    authorization: authorization && limitOf('authorization', authorization, [1]),
    /** A stranger may use all networks of a subscriber. */
    registration:
      settings.dynamicRegistration &&
      registration &&
      limitOf('registration', registration, [factorOfWidest, 1]),
    /** Only failures: honest clients may share an address. */
    clients: clients && ofClients && failuresIn(ofClients, clients.attempts),
    /** Refusals that the protocol has honest clients cause, such as `authorization_pending`. */
    answers: clients && ofClients && failuresIn(apart(ofClients), clients.attempts * factorOfAnswers),
  }
}

// Honest devices ask twelve times a minute.
export const factorOfAnswers = 10

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
 * After a refusal, the request counts neither for smaller networks nor for wider ones, whose other networks
 * it must not harm.
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
 * processed whole, but the refusal of all over the limit hides their result.
 */
class FailureLimit {
  private readonly watchProxy = proxyWatch()

  constructor(private readonly limit: NetworkLimit) {}

  refusalOf(request: Request): Throttled | undefined {
    this.watchProxy(request)
    return this.limit.isUsedUpByNone ? undefined : this.limit.refusal(networkOf(request.ip))
  }

  async count(request: Request): Promise<Throttled | undefined> {
    if (isFromAnyPage(request)) return undefined
    try {
      return await this.limit.count(networkOf(request.ip))
    } catch (error) {
      return warnOfLimitStore(error)
    }
  }
}

// RFC 9110 9.2.1: any web page can cause these, with an image for example; not with `Authorization`.
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
const isFromAnyPage = (request: Request) =>
  safeMethods.has(request.method) && authorizationOf(request).length === 0

/**
 * express-rate-limit waits for its store without a deadline, and `resetTime` must follow a clock that does
 * not step.
 */
function storeOfHost(
  store: Store,
  { attempts, seconds }: Limit,
  { storeDeadline: deadline, clock: wallClock }: NetworkLimitSettings,
  clock: () => number,
): Counts {
  const { rateLimit }: typeof ExpressRateLimit = require('express-rate-limit')
  const windowMs = seconds * 1000
  // Many stores learn the window's length only so.
  rateLimit({
    windowMs,
    limit: attempts,
    store,
    validate: false,
    logger: { error: warnOfLimitStore, warn: warnOfLimitStore },
  })
  return {
    async increment(key) {
      const { totalHits, resetTime } = await withinDeadline(async () => store.increment(key), deadline)
      const left = resetTime instanceof Date ? resetTime.getTime() - wallClock() : 0
      // No count outlasts its window, even if clocks differ.
      return { totalHits, resetTime: new Date(clock() + Math.min(left, windowMs)) }
    },
    decrement: (key) => withinDeadline(async () => store.decrement(key), deadline).catch(() => undefined),
  }
}

function warnOfLimitStore(error: unknown): undefined {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const why = cause instanceof Error ? cause.message : String(cause)
  warnOnce(
    'EAS_RATE_LIMIT_STORE',
    `The option limits.networks cannot count, so requests pass uncounted: ${why}`,
  )
}
