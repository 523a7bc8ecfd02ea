import type { Request, Response } from 'express'
import { rateLimit, type Store } from 'express-rate-limit'
import { secondsToWait, type Limit } from '../attempts/limit'
import { networkOf } from '../attempts/network'
import { isRecord } from '../protocol/configuration'
import { tooManyAttempts, type Throttled } from '../protocol/oauth-error'
import { warnOnce } from '../warning'

/** One limit on what comes from one network (an IPv4 address, or 64 bits of IPv6). */
export interface NetworkLimit {
  readonly limit: Limit
  readonly store: Store
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

/** How a network stands after one more of its requests was counted. */
export interface Standing {
  readonly network: string
  readonly isOver: boolean
  /** How many more the limit allows. */
  readonly remaining: number
  /** When its count begins anew, in milliseconds since the epoch. */
  readonly endsAt: number
}

const property = 'oauthRateLimit'

/** Makes what counts requests against a limit; undefined tells that the count could not be reached. */
export function networkCount({
  limit,
  store,
  clock,
}: NetworkLimit): (request: Request, response: Response) => Promise<Standing | undefined> {
  const limiter = rateLimit({
    windowMs: limit.seconds * 1000,
    limit: limit.attempts,
    store,
    standardHeaders: false,
    legacyHeaders: false,
    requestPropertyName: property,
    keyGenerator: ({ ip }: Request) => networkOf(ip),
    // Its checks write to the console of the host; what matters of them is a coded warning here.
    validate: false,
    passOnStoreError: true,
    logger: { error: warnOfStore, warn: warnOfStore },
    handler: (_request, _response, next) => next('over'),
  })
  return (request, response) =>
    new Promise((resolve) => {
      void limiter(request, response, (over?: unknown) =>
        resolve(standingOf(request, over !== undefined, clock())),
      )
    })
}

function standingOf(request: Request, isOver: boolean, now: number): Standing | undefined {
  const info: unknown = Object.getOwnPropertyDescriptor(request, property)?.value
  if (!isRecord(info)) return undefined
  const { key, remaining, resetTime } = info
  const endsAt = resetTime instanceof Date ? resetTime.getTime() : now
  return { network: String(key), isOver, remaining: Number(remaining), endsAt }
}

/** What a request is told whose network is over its limit until then. */
export function overLimit(endsAt: number, now: number): Throttled {
  const seconds = secondsToWait(Math.ceil((endsAt - now) / 1000))
  return tooManyAttempts('rate_limited', 'Too many requests from this network.', seconds)
}

function warnOfStore(...told: readonly unknown[]): void {
  const error = told.find((one) => one instanceof Error)
  const cause = error?.cause instanceof Error ? error.cause : error
  warnOnce(
    'EAS_RATE_LIMIT_STORE',
    `The counts of the option rateLimit cannot be reached, so requests pass uncounted: ${cause?.message ?? told.join(' ')}`,
  )
}

/** Warns, once, of a setting by which all networks look like one, or each can choose which it looks like. */
export function proxyWatch(): (request: Request) => void {
  let looked = false
  return (request) => {
    const forwarded = request.headers['x-forwarded-for'] !== undefined
    if (looked && !forwarded) return
    looked = true
    warnOfProxy(request.app.get('trust proxy'), forwarded)
  }
}

function warnOfProxy(trust: unknown, forwarded: boolean): void {
  if (trust === true)
    warnOnce(
      'EAS_TRUST_PROXY',
      'Express is set to trust every proxy, so whoever sends X-Forwarded-For chooses the network that counts against the limits. Set trust proxy to the number or the addresses of your proxies.',
    )
  else if (trust === false && forwarded)
    warnOnce(
      'EAS_TRUST_PROXY',
      'A request has the header X-Forwarded-For, but Express trusts no proxy: all that come through one count as one network. Set trust proxy to the number or the addresses of your proxies.',
    )
}
