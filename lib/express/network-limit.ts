import type { Request, Response } from 'express'
import { rateLimit, type Store } from 'express-rate-limit'
import { secondsToWait, type Limit } from '../attempts/limit'
import { networkOf } from '../attempts/network'
import { isRecord } from '../protocol/configuration'
import { tooManyAttempts } from '../protocol/oauth-error'
import { warnOnce } from '../warning'

/** Lets a request in, or throws what it is refused with; a request that passes several parts counts once. */
export type Admit = (request: Request, response: Response) => Promise<void>

/** One limit on what comes from one network (an IPv4 address, or 64 bits of IPv6). */
export interface NetworkLimit {
  readonly limit: Limit
  readonly counts: 'every request' | 'failed requests'
  readonly store: Store
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

const property = 'oauthRateLimit'
const excused = new WeakSet<Response>()

/** Says that a failure is none of the client's making, and so does not count against its network. */
export function excuse(response: Response): void {
  excused.add(response)
}

/** Makes the limit of one server and one kind of endpoint. What it throws is a `Throttled`. */
export function networkLimit({ limit, counts, store, clock }: NetworkLimit): Admit {
  const seen = new WeakSet<Request>()
  const limiter = rateLimit({
    windowMs: limit.seconds * 1000,
    limit: limit.attempts,
    store,
    standardHeaders: false,
    legacyHeaders: false,
    requestPropertyName: property,
    keyGenerator: ({ ip }: Request) => networkOf(ip),
    skipSuccessfulRequests: counts === 'failed requests',
    requestWasSuccessful: (_request, response: Response) =>
      response.statusCode < 400 || response.statusCode >= 500 || excused.has(response),
    // Its checks write to the console of the host; what matters of them is a coded warning here.
    validate: false,
    passOnStoreError: true,
    logger: { error: warnOfStore, warn: warnOfStore },
    handler: (request, _response, next) =>
      next(
        tooManyAttempts('rate_limited', 'Too many requests from this network.', secondsLeft(request, clock)),
      ),
  })
  return (request, response) => {
    if (seen.has(request)) return Promise.resolve()
    seen.add(request)
    warnOfProxy(request)
    return new Promise((resolve, reject) => {
      void limiter(request, response, (refusal?: unknown) =>
        refusal === undefined ? resolve() : reject(refusal),
      )
    })
  }
}

function secondsLeft(request: object, clock: () => number): number {
  const info: unknown = Object.getOwnPropertyDescriptor(request, property)?.value
  const end = isRecord(info) ? info['resetTime'] : undefined
  return secondsToWait(end instanceof Date ? Math.ceil((end.getTime() - clock()) / 1000) : 0)
}

function warnOfStore(...told: readonly unknown[]): void {
  const error = told.find((one) => one instanceof Error)
  const cause = error?.cause instanceof Error ? error.cause : error
  warnOnce(
    'EAS_RATE_LIMIT_STORE',
    `The counts of the option rateLimit cannot be reached, so requests pass uncounted: ${cause?.message ?? told.join(' ')}`,
  )
}

function warnOfProxy({ app, headers }: Request): void {
  const trust: unknown = app.get('trust proxy')
  if (trust === true)
    warnOnce(
      'EAS_TRUST_PROXY',
      'Express is set to trust every proxy, so whoever sends X-Forwarded-For chooses the network that counts against the limits. Set trust proxy to the number or the addresses of your proxies.',
    )
  else if (trust === false && headers['x-forwarded-for'] !== undefined)
    warnOnce(
      'EAS_TRUST_PROXY',
      'A request has the header X-Forwarded-For, but Express trusts no proxy: all that come through one count as one network. Set trust proxy to the number or the addresses of your proxies.',
    )
}
