import type { Store } from 'express-rate-limit'
import { CountedRequests } from './express/counted-requests'
import { networkLimit, type Admit } from './express/network-limit'
import type { Settings } from './settings'
import { withinDeadline } from './stores/deadline'
import { memoryCounters } from './stores/memory-counters'

/** What lets requests in, for each kind of endpoint. */
export type Admission = Readonly<Record<'authorization' | 'clients', Admit>>

export function wireAdmission({ rateLimit, clock, storeDeadline }: Settings): Admission {
  const counters = memoryCounters({ clock })
  const storeOf = (name: keyof Admission): Store =>
    rateLimit.stores === undefined
      ? new CountedRequests(counters, `${name}:`, clock)
      : hurried(rateLimit.stores(name), storeDeadline)
  const admit = (name: keyof Admission, counts: 'every request' | 'failed requests'): Admit => {
    const limit = rateLimit[name]
    return limit === undefined ? async () => {} : networkLimit({ limit, counts, store: storeOf(name), clock })
  }
  return {
    authorization: admit('authorization', 'every request'),
    // Many honest clients may share an address, and what they do right is bounded by what they may do.
    clients: admit('clients', 'failed requests'),
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
