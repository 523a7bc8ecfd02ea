import type { Request, Response } from 'express'
import { networkCount, overLimit, proxyWatch, type NetworkLimit } from './network-limit'

/** Lets a request in, or throws what it is refused with; a request that passes several parts counts once. */
export type Admit = (request: Request, response: Response) => Promise<void>

/** Limits all requests from one network. What it throws is a `Throttled`. */
export function requestLimit(limit: NetworkLimit): Admit {
  const seen = new WeakSet<Request>()
  const count = networkCount(limit)
  const watchProxy = proxyWatch()
  return async (request, response) => {
    if (seen.has(request)) return
    seen.add(request)
    watchProxy(request)
    const standing = await count(request, response)
    if (standing?.isOver === true) throw overLimit(standing.endsAt, limit.clock())
  }
}
