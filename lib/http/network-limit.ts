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

/** One limit on what comes from one network (an IPv4 address, or 64 bits of IPv6). */
export interface NetworkLimit {
  readonly count: CountOfNetwork
  /** Milliseconds of a clock that does not step. */
  readonly clock: () => number
}

/** Counts a request and tells how its network stands; undefined when the count could not be reached. */
export type CountOfNetwork = (request: Request, response: Response) => Promise<Standing | undefined>

/** How a network stands after one more of its requests was counted. */
export interface Standing {
  readonly network: string
  readonly isOver: boolean
  /** How many more the limit allows. */
  readonly remaining: number
  /** When its count begins anew, in milliseconds of the limit's clock. */
  readonly endsAt: number
}

/** The refusal of a request whose network is over its limit until `endsAt`. */
export function overLimit(endsAt: number, now: number): Throttled {
  const seconds = secondsToWait(Math.ceil((endsAt - now) / 1000))
  return tooManyAttempts('rate_limited', 'Too many requests from this network.', seconds)
}

/** Lets a request in, or throws what it is refused with; a request that passes several parts counts once. */
export type Admit = (request: Request, response: Response) => Promise<void>

/** Limits all requests from one network. What it throws is a `Throttled`. */
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
   * What a request is refused with that proves no client, when its network has used up its failures as far as this process
   * has seen; undefined before that.
   */
  refusalOf(request: Request): Throttled | undefined
  /** Counts a failed request. What it resolves to is the answer, in place of what the request failed with. */
  count(request: Request, response: Response): Promise<Throttled | undefined>
}

/** No limit. */
export const unlimitedFailures: FailureLimit = {
  refusalOf: () => undefined,
  count: async () => undefined,
}

/**
 * A failure is counted when it has happened. Of many at once, those over the limit are all looked at, but none of their
 * answers tells anything: counting before would cost every honest request two counts for nothing.
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
 * Counts with express-rate-limit. While the store throws, requests pass uncounted, with a warning.
 *
 * @param store tells `resetTime` by the clock of the limit.
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
    // Its checks write to the console of the host; what matters of them is a coded warning here.
    validate: false,
    passOnStoreError: true,
    logger: { error: warnOfStore, warn: warnOfStore },
    // A request over its limit is refused by the caller of the count, in the form of its endpoint.
    handler: (_request, _response, next) => next(),
  })
  return (request, response) =>
    new Promise((resolve) => {
      void limiter(request, response, () => resolve(standingOf(request)))
    })
}

/**
 * Makes a count when the first request is to be counted: loading express-rate-limit takes milliseconds, and the start of a
 * server does not wait for them.
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

function warnOfStore(...told: readonly unknown[]): void {
  const error = told.find((one) => one instanceof Error)
  const cause = error?.cause instanceof Error ? error.cause : error
  const why = cause?.message ?? told.join(' ')
  warnOnce(
    'EAS_RATE_LIMIT_STORE',
    `The counts of the option rateLimit cannot be reached, so requests pass uncounted: ${why}`,
  )
}

/** How much may come from one network: an IPv4 address, or 64 bits of an IPv6 address. */
export interface RateLimitOptions {
  /** Requests at the authorization endpoint, decisions too. Default: 600 `attempts` in 60 `seconds`. */
  readonly authorization?: LimitOption
  /**
   * Failed `POST` requests at the token, revocation and introspection endpoints together. A client that proves itself by a
   * secret or key which is no guess passes beyond the limit, too. Default: 600 in 60 seconds.
   */
  readonly clients?: LimitOption
  /**
   * Stores of express-rate-limit, by which several processes count together: a new one for each name, under which it
   * counts. While one cannot be reached, requests pass uncounted. Default: the memory of this process,
   * for 100 000 networks.
   */
  readonly stores?: (name: 'authorization' | 'clients') => Store
}

/** The limits, complete; one that is undefined is switched off. */
export interface RateLimits {
  readonly authorization: Limit | undefined
  readonly clients: Limit | undefined
  readonly stores: RateLimitOptions['stores']
}

const usual: Limit = { attempts: 600, seconds: 60 }
const key = 'rateLimit'

export function resolveRateLimit(reading: OptionsReader): RateLimits {
  const given = reading.take(key)
  if (given === false) return { authorization: undefined, clients: undefined, stores: undefined }
  if (given !== undefined && !isRecord(given))
    reading.wrong(key, 'must be false, or an object of authorization, clients and stores.')
  const fields = new OptionsReader(isRecord(given) ? given : {}, reading.at(key), reading.issues)
  const limits = {
    authorization: readLimit(fields, 'authorization', usual),
    clients: readLimit(fields, 'clients', usual),
    stores: fields.optional<RateLimitOptions['stores']>('stores', undefined, isStores, 'must be a function.'),
  }
  fields.refuseUnknown()
  return limits
}

const isStores = (value: unknown): value is RateLimitOptions['stores'] => typeof value === 'function'
