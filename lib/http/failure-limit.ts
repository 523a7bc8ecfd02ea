import type { Request } from 'express'
import { networkOf } from '../limits/network'
import type { NetworkLimit } from '../limits/network-limit'
import type { Throttled } from '../protocol/oauth-error'
import { warnOfLimitStore } from './limit-store'
import { authorizationOf } from './request'
import { proxyWatch } from './transport'

export interface FailureLimit {
  refusalOf(request: Request): Throttled | undefined
  /** Ignores what any web page can cause. The refusal replaces the request's error. */
  count(request: Request): Promise<Throttled | undefined>
}

/**
 * Counts afterwards: before, every honest request would cost two calls of the store. A parallel burst is
 * processed whole, but all over the limit get the same refusal, which hides their result.
 */
export function failureLimit(limit: NetworkLimit): FailureLimit {
  const watchProxy = proxyWatch()
  return {
    refusalOf(request) {
      watchProxy(request)
      // Before Express computes the address: usually no network is over the limit.
      if (limit.isUsedUpByNone) return undefined
      const network = networkOf(request.ip)
      return limit.isUsedUp(network) ? limit.refusal(network) : undefined
    },
    async count(request) {
      if (isFromAnyPage(request)) return undefined
      const network = networkOf(request.ip)
      try {
        const { totalHits } = await limit.increment(network)
        return totalHits > limit.attempts ? limit.refusal(network) : undefined
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
