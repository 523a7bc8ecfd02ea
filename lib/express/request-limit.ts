import type { Request, Response } from 'express'
import { privateState } from '../protocol/beside'
import { overLimit, type NetworkLimit } from './network-limit'
import { proxyWatch } from './proxy-watch'

/** Lets a request in, or throws what it is refused with; a request that passes several parts counts once. */
export type Admit = (request: Request, response: Response) => Promise<void>

/** Limits all requests from one network. What it throws is a `Throttled`. */
export function requestLimit(limit: NetworkLimit): Admit {
  const seen = privateState<Request, true>()
  const watchProxy = proxyWatch()
  return async (request, response) => {
    if (seen.get(request) === true) return
    seen.set(request, true)
    watchProxy(request)
    const standing = await limit.count(request, response)
    if (standing?.isOver === true) throw overLimit(standing.endsAt, limit.clock())
  }
}
