import type { Request } from 'express'
import type { GuardedLookup } from '../protected-resource/admit'
import { privateState } from '../protocol/beside'
import type { Counters } from '../stores/counters'

const used = privateState<Request, ReadonlySet<string>>()

/** Single use as one request sees it: it may pass several guards on its way, and is one use to all of them. */
export function singleUse(request: Request, counters: Counters): GuardedLookup['useOnce'] {
  return async (key, seconds, clientId) => {
    const own = used.get(request) ?? new Set()
    if (own.has(key)) return true
    const isFirst = await counters.useOnce(key, seconds, clientId)
    if (isFirst) used.set(request, new Set([...own, key]))
    return isFirst
  }
}
