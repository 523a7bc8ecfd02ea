import type { Request } from 'express'
import type { Admission } from '../protected-resource/admit'
import { beside } from '../protocol/beside'
import type { Counters } from '../stores/counters'

const used = beside<Request, ReadonlySet<string>>()

/** Single use as one request sees it: it may pass several guards on its way, and is one use to all of them. */
export function singleUse(request: Request, counters: Counters): Admission['useOnce'] {
  return async (key, seconds, clientId) => {
    const own = used.get(request) ?? new Set()
    if (own.has(key)) return true
    const isFirst = await counters.spend(key, seconds, clientId)
    if (isFirst) used.set(request, new Set([...own, key]))
    return isFirst
  }
}
