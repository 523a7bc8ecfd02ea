import type { Request, Response } from 'express'
import type * as ExpressRateLimit from 'express-rate-limit'
import type { Store } from 'express-rate-limit'
import { warnOnce } from '../audit/warning'
import { isRecord, OptionsReader } from '../protocol/configuration'
import { type Throttled, tooManyAttempts } from '../protocol/oauth-error'
import { type Limit, type LimitOption, readLimit, secondsToWait } from '../rate-limit/limit'
import { networkOf } from '../rate-limit/network'
import type { RequestContexts } from './request-context'
import { proxyWatch } from './transport'

/** A limit on the requests from one network: an IPv4 address, or the first 64 bits of an IPv6 address. */
export interface NetworkLimit {
  readonly count: CountOfNetwork
  /** Milliseconds of a clock that does not step. */
  readonly clock: () => number
}

/** Counts a request for its network. Resolves to undefined if the store failed: the request then passes uncounted. */
export type CountOfNetwork = (request: Request, response: Response) => Promise<Standing | undefined>

/** The count of a network after one more request. */
export interface Standing {
  readonly network: string
  readonly isOver: boolean
  /** How many more requests the limit allows. */
  readonly remaining: number
  /** The time at which the count begins again at 0, in milliseconds of the clock of the limit. */
  readonly endsAt: number
}

/** The refusal of a request whose network is over its limit until `endsAt`. */
export function overLimit(endsAt: number, now: number): Throttled {
  const seconds = secondsToWait(Math.ceil((endsAt - now) / 1000))
  return tooManyAttempts('rate_limited', 'Too many requests from this network.', seconds)
}

/** Admits a request, or rejects with the refusal. A request that goes through several middlewares counts once. */
export type Admit = (request: Request, response: Response) => Promise<void>

/** Limits all requests from one network. The returned function rejects with `Throttled` over the limit. */
export function requestLimit(limit: NetworkLimit, contexts: RequestContexts): Admit {
  const watchProxy = proxyWatch()
  return async (request, response) => {
    const context = contexts.of(request)
    if (context.isCounted) return
    context.isCounted = true
    watchProxy(request)
    const standing = await limit.count(request, response)
    if (standing?.isOver === true) throw overLimit(standing.endsAt, limit.clock())
  }
}

/** Limits failed requests from one network. A request that succeeds costs nothing. */
export interface FailureLimit {
  /**
   * The refusal for a request that proves no client, if its network has used up its failures; undefined before that.
   * Rests on the last count that this process saw, so another process may have counted more.
   */
  refusalOf(request: Request): Throttled | undefined
  /** Counts a failed request. Over the limit, resolves to the refusal, which replaces the error of the request. */
  count(request: Request, response: Response): Promise<Throttled | undefined>
}

/** Limits nothing. */
export const unlimitedFailures: FailureLimit = {
  refusalOf: () => undefined,
  count: async () => undefined,
}

/**
 * Limits failed requests from one network. Counts a failure after it has happened: a count before it would cost every
 * honest request two calls of the store. So the server processes all requests of a parallel burst, but those over the
 * limit get the same refusal, which does not show their result.
 */
export function failureLimit(limit: NetworkLimit): FailureLimit {
  const { clock } = limit
  const watchProxy = proxyWatch()
  const over = new Map<string, number>()
  return {
    refusalOf(request) {
      watchProxy(request)
      if (over.size === 0) return undefined
      const endsAt = over.get(networkOf(request.ip)) ?? 0
      return endsAt > clock() ? overLimit(endsAt, clock()) : undefined
    },
    async count(request, response) {
      const standing = await limit.count(request, response)
      if (standing === undefined || standing.remaining > 0) return undefined
      const now = clock()
      for (const [network, endsAt] of over) if (endsAt <= now) over.delete(network)
      over.set(standing.network, standing.endsAt)
      return standing.isOver ? overLimit(standing.endsAt, now) : undefined
    },
  }
}

const property = 'oauthRateLimit'

/**
 * Counts with express-rate-limit. While the store fails, requests pass uncounted, and the process emits a warning.
 *
 * @param store a store whose `resetTime` follows the clock of the limit.
 */
export function countInStore({ attempts, seconds }: Limit, store: Store): CountOfNetwork {
  const { rateLimit }: typeof ExpressRateLimit = require('express-rate-limit')
  const limiter = rateLimit({
    windowMs: seconds * 1000,
    limit: attempts,
    store,
    standardHeaders: false,
    legacyHeaders: false,
    requestPropertyName: property,
    keyGenerator: ({ ip }: Request) => networkOf(ip),
    // The checks of express-rate-limit write to the console of the host. This package emits coded warnings instead.
    validate: false,
    passOnStoreError: true,
    logger: { error: warnOfStore, warn: warnOfStore },
    // The caller of the count refuses a request over the limit, in the form of the endpoint.
    handler: (_request, _response, next) => next(),
  })
  return (request, response) =>
    new Promise((resolve) => {
      void limiter(request, response, () => resolve(standingOf(request)))
    })
}

/**
 * Makes the count before its first use. Loading express-rate-limit takes milliseconds, and the start of a server need
 * not wait for them.
 */
export function lazyCount(make: () => CountOfNetwork): CountOfNetwork {
  let count: CountOfNetwork | undefined
  return (request, response) => {
    count ??= make()
    return count(request, response)
  }
}

function standingOf(request: Request): Standing | undefined {
  const info: unknown = Reflect.get(request, property)
  if (!isRecord(info)) return undefined
  const { key, limit, used, remaining, resetTime } = info
  return {
    network: String(key),
    isOver: Number(used) > Number(limit),
    remaining: Number(remaining),
    endsAt: resetTime instanceof Date ? resetTime.getTime() : 0,
  }
}

function warnOfStore(...logged: readonly unknown[]): void {
  const error = logged.find((value) => value instanceof Error)
  const cause = error?.cause instanceof Error ? error.cause : error
  const why = cause?.message ?? logged.join(' ')
  warnOnce('EAS_RATE_LIMIT_STORE', `The option rateLimit cannot count, so requests pass uncounted: ${why}`)
}

/**
 * How many requests one network may send: an IPv4 address, or the first 64 bits of an IPv6 address. A count begins with
 * the first request and ends after `seconds`. `attempts` are at most 1 000 000, and `seconds` at most 86 400. `false`
 * switches a limit off. Over a limit, the server answers 429 with `Retry-After`. Behind a proxy, set Express's
 * `trust proxy`; otherwise every request counts for the address of the proxy.
 */
export interface RateLimitOptions {
  /** For all requests at the authorization endpoint, including decisions. Default: 600 in 60 seconds. */
  readonly authorization?: LimitOption
  /**
   * For failed `POST` requests at the token, revocation and introspection endpoints together. Over the limit, a client
   * still passes if it proves itself by a key, a generated secret, or a chosen secret that this process has verified
   * from the same network within a day. Default: 600 in 60 seconds.
   */
  readonly clients?: LimitOption
  /**
   * Limits the registrations of clients (`dynamicRegistration`) from one network, successful ones included. Does not
   * apply if registration needs an initial access token. Default: 100 in 600 seconds.
   */
  readonly registration?: LimitOption
  /**
   * Makes a store of express-rate-limit for a limit, so several processes count together. Return a new store for each
   * name, and give each store its own key prefix. While a store fails, requests pass uncounted, and the process emits
   * the warning `EAS_RATE_LIMIT_STORE`. Default: the memory of this process, for 100 000 networks.
   */
  readonly stores?: (name: 'authorization' | 'clients' | 'registration') => Store
}

/** The limits with their defaults. Undefined means that a limit is off. */
export interface RateLimits {
  readonly authorization: Limit | undefined
  readonly clients: Limit | undefined
  readonly registration: Limit | undefined
  readonly stores: RateLimitOptions['stores']
}

const usual: Limit = { attempts: 600, seconds: 60 }
const usualRegistrations: Limit = { attempts: 100, seconds: 600 }
const key = 'rateLimit'

/** Reads the option `rateLimit`. `false` switches both limits off. */
export function resolveRateLimit(reading: OptionsReader): RateLimits {
  const given = reading.take(key)
  if (given === false)
    return { authorization: undefined, clients: undefined, registration: undefined, stores: undefined }
  if (given !== undefined && !isRecord(given))
    reading.wrong(key, 'must be false, or an object with authorization, clients, registration or stores.')
  const fields = new OptionsReader(isRecord(given) ? given : {}, reading.at(key), reading.issues)
  const limits = {
    authorization: readLimit(fields, 'authorization', usual),
    clients: readLimit(fields, 'clients', usual),
    registration: readLimit(fields, 'registration', usualRegistrations),
    stores: fields.optional<RateLimitOptions['stores']>('stores', undefined, isStores, 'must be a function.'),
  }
  fields.refuseUnknown()
  return limits
}

const isStores = (value: unknown): value is RateLimitOptions['stores'] => typeof value === 'function'
