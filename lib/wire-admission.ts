import type { Store } from 'express-rate-limit'
import { countByStore } from './express/count-by-store'
import { failureLimit, unlimitedFailures, type FailureLimit } from './express/failure-limit'
import { countInMemory, type NetworkLimit } from './express/network-limit'
import { requestLimit, type Admit } from './express/request-limit'
import { steadyClock } from './protocol/steady-clock'
import type { ServerSettings } from './settings'
import { withinDeadline } from './stores/deadline'

/** What lets requests in, for each kind of endpoint. */
export interface NetworkLimits {
  readonly authorization: Admit
  /** Many honest clients may share an address, and what they do right is bounded by what they may do. */
  readonly clients: FailureLimit
}

export function networkLimitsOf({
  rateLimit,
  clock: wallClock,
  storeDeadline,
}: ServerSettings): NetworkLimits {
  const clock = steadyClock(wallClock)
  const limitOf = (name: keyof NetworkLimits): NetworkLimit | undefined => {
    const limit = rateLimit[name]
    if (limit === undefined) return undefined
    const { stores } = rateLimit
    if (stores === undefined) return { clock, count: countInMemory(limit, clock) }
    return { clock, count: countByStore(limit, hurried(stores(name), storeDeadline), { clock, wallClock }) }
  }
  const authorization = limitOf('authorization')
  const clients = limitOf('clients')
  return {
    authorization: authorization ? requestLimit(authorization) : async () => {},
    clients: clients ? failureLimit(clients) : unlimitedFailures,
  }
}

// express-rate-limit waits for its store as long as that likes.
function hurried(store: Store, seconds: number): Store {
  return {
    init: (options) => store.init?.(options),
    increment: (key) => withinDeadline(async () => store.increment(key), seconds),
    decrement: (key) => withinDeadline(async () => store.decrement(key), seconds).catch(() => undefined),
    resetKey: (key) => store.resetKey(key),
  }
}
