import type { Request } from 'express'
import type * as ExpressRateLimit from 'express-rate-limit'
import type { Limit } from '../attempts/limit'
import { networkOf } from '../attempts/network'
import { isRecord } from '../protocol/configuration'
import { warnOfCounts, type CountOfNetwork, type Standing } from './network-limit'

const property = 'oauthRateLimit'

interface Clocks {
  /** Milliseconds of a clock that does not step. */
  readonly clock: () => number
  /** Milliseconds since the epoch, as the store tells when a count begins anew. */
  readonly wallClock: () => number
}

/** Counts in a store of express-rate-limit, as that does. */
export function countByStore(
  { attempts, seconds }: Limit,
  store: ExpressRateLimit.Store,
  { clock, wallClock }: Clocks,
): CountOfNetwork {
  // Loaded here, because few hosts bring a store.
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
    handler: (_request, _response, next) => next('over'),
  })
  return (request, response) =>
    new Promise((resolve) => {
      void limiter(request, response, (over?: unknown) => resolve(standingOf(request, over !== undefined)))
    })

  function standingOf(request: Request, isOver: boolean): Standing | undefined {
    const info: unknown = Object.getOwnPropertyDescriptor(request, property)?.value
    if (!isRecord(info)) return undefined
    const { key, remaining, resetTime } = info
    const left = resetTime instanceof Date ? resetTime.getTime() - wallClock() : 0
    // The clocks of store and process may differ; no count lasts longer than its window.
    const endsAt = clock() + Math.min(left, seconds * 1000)
    return { network: String(key), isOver, remaining: Number(remaining), endsAt }
  }
}

function warnOfStore(...told: readonly unknown[]): void {
  const error = told.find((one) => one instanceof Error)
  const cause = error?.cause instanceof Error ? error.cause : error
  warnOfCounts(cause?.message ?? told.join(' '))
}
