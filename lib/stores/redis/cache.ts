import { isRecord, OptionsReader } from '../../protocol/configuration'
import { type AuthorizationStore, confirmAbsence, type StoreWarning } from '../authorization-store'
import { withinDeadline } from '../deadline'
import { AuthorizationCache } from './authorization-cache'
import type { RedisConnection } from './connection'
import { RedisInvalidations } from './invalidations'
import type { RedisStore } from './redis-store'

/** How much of what was read is kept. */
export interface CacheOptions {
  /** Authorizations, from 1 to 100 000; some 2 KB each. The one that was used longest ago goes first. */
  readonly maximum: number
}

interface CachePlan extends CacheOptions {
  readonly url: string
  readonly prefix: string
  readonly clock: () => number
}

const stopwatch = () => performance.now()

/** Puts a cache beside a store. @param reading the connection over which the store reads. */
export function cached(
  store: RedisStore,
  reading: RedisConnection,
  { maximum, url, prefix, clock }: CachePlan,
): RedisStore {
  const cache = new AuthorizationCache(maximum, clock, stopwatch)
  const invalidations = new RedisInvalidations({ url, prefix, reading, cache, stopwatch })
  reading.onLost(() => invalidations.restart())
  return {
    ...remembering(store, cache),
    counters: store.counters,
    clients: store.clients,
    place: store.place,
    check: async (issuer) => {
      const cautions = await store.check(issuer)
      const refusal = await withinDeadline(() => invalidations.refusal(), patience)
      return [...cautions, ...cautionsAbout(refusal)]
    },
    close: async () => {
      await Promise.all([invalidations.close(), store.close()])
    },
  }
}

// Seconds in which Redis has refused, or invalidations were seen to arrive.
const patience = 2

type Verbs = AuthorizationStore & Required<Pick<AuthorizationStore, 'getCached'>>

/**
 * The verbs of a store with a cache beside it. Only `getCached` answers from it: whatever is written follows a `find`, and
 * that always reads.
 */
export function remembering(store: AuthorizationStore, cache: AuthorizationCache): Verbs {
  // Also when the write failed: it may have been done, and only its reply was lost.
  const dropping = async <T>(id: string, write: Promise<T>): Promise<T> => write.finally(() => cache.drop(id))
  return {
    getCached: (id) => cache.getCached(id),
    find: async (id) => {
      const ticket = cache.begin(id)
      if (ticket === undefined) return store.find(id)
      try {
        const found = await store.find(id)
        if (found !== undefined) cache.keep(ticket, found)
        return found
      } finally {
        cache.end(ticket)
      }
    },
    save: (authorization, ...words) => dropping(authorization.id, store.save(authorization, ...words)),
    remove: (id) => dropping(id, store.remove(id)),
    confirmAbsent: store.confirmAbsent && ((id) => dropping(id, confirmAbsence(store, id))),
  }
}

function cautionsAbout(refusal: string | undefined): readonly StoreWarning[] {
  if (refusal === undefined) return []
  const message = `Redis does not do what the option cache needs (${refusal}), so each guarded request reads from Redis. Allow CLIENT TRACKING, SUBSCRIBE to __redis__:invalidate and SET, or leave the option out.`
  return [{ code: 'EAS_REDIS_TRACKING', message }]
}

// Records on the heap hold up whoever collects garbage there.
const most = 100_000

/** Reads the option, and whether it can work with what came with it. */
export function checkCache(reading: OptionsReader, client: unknown): void {
  const value = reading.take('cache')
  if (value === undefined) return
  const cache = new OptionsReader(value, 'cache', reading.issues)
  if (isRecord(value)) {
    cache.required('maximum', 1, isMaximum, `must be a whole number from 1 to ${most}.`)
    cache.refuseUnknown()
  }
  if (client !== undefined)
    reading.wrong('cache', 'needs connections of the store itself: give url in place of client.')
}

function isMaximum(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= most
}
