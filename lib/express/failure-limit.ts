import type { Request, Response } from 'express'
import { networkOf } from '../attempts/network'
import type { Throttled } from '../protocol/oauth-error'
import { overLimit, type NetworkLimit } from './network-limit'
import { proxyWatch } from './proxy-watch'

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
