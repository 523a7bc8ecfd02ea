import type { Request, Response } from 'express'
import { beside } from '../protocol/beside'
import { networkCount, overLimit, proxyWatch, type NetworkLimit } from './network-limit'

/** Lets a request in, or throws what it is refused with; a request that passes several parts counts once. */
export type Admit = (request: Request, response: Response) => Promise<void>

/** Limits all requests from one network. What it throws is a `Throttled`. */
export function requestLimit(limit: NetworkLimit): Admit {
  const seen = beside<Request, true>()
  const count = networkCount(limit)
  const watchProxy = proxyWatch()
  return async (request, response) => {
    if (seen.get(request) === true) return
    seen.set(request, true)
    watchProxy(request)
    const standing = await count(request, response)
    if (standing?.isOver === true) throw overLimit(standing.endsAt, limit.clock())
  }
}
