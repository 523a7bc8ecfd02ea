import { aWhole } from '../../primitives/fields'
import { type Fields, group, needed } from '../../primitives/schema'
// Tuning: the option `cache` of redisStore. authorization-cache.ts is its memory, invalidations.ts keeps it
// current.
// Buys: a guard sends no command to Redis for a known token.
// Measured: 2026-11-22, Node 20, docs/reports/performance.md. A guarded request takes 0.38 ms in place of 1.77
// ms with Redis on the same machine, 0.24 ms in place of 2.40 ms with 1 ms to Redis. It saves little or no
// processor time.
// Can go: when the Redis client has a cache that stops within a second if changes no longer arrive.
import { type AuthorizationStore, confirmAbsence, decorate } from '../../authorization/store'
import { withinDeadline } from '../deadline'
import type { StoreWarning } from '../storage'
import { AuthorizationCache } from './authorization-cache'
import type { RedisConnection } from './connection'
import type { RedisWarning } from './health-check'
import { RedisInvalidations } from './invalidations'

export interface CacheOptions {
  /**
   * The largest number of cached authorizations, from 1 to 100 000, about 2 KB each. Evicts the least recently
   * used.
   */
  readonly maximum: number
}

interface CachePlan extends CacheOptions {
  readonly url: string
  readonly prefix: string
  readonly clock: () => number
}

interface CheckedStore extends AuthorizationStore {
  check(issuer?: string): Promise<readonly StoreWarning[]>
  close(): Promise<void>
}

export function cached(
  store: CheckedStore,
  reading: RedisConnection,
  { maximum, url, prefix, clock }: CachePlan,
): CheckedStore {
  const cache = new AuthorizationCache(maximum, clock)
  const invalidations = new RedisInvalidations({ url, prefix, reading, cache })
  reading.onLost(() => invalidations.restart())
  return {
    ...remembering(store, cache),
    check: async (issuer) => {
      const warnings = await store.check(issuer)
      const refusal = await withinDeadline(() => invalidations.refusal(), patience)
      return [...warnings, ...warningsOf(refusal)]
    },
    close: async () => {
      await Promise.all([invalidations.close(), store.close()])
    },
  }
}

// Seconds. By then Redis has refused, or the first mark has arrived.
const patience = 2

type Verbs = AuthorizationStore & { readonly getCached: NonNullable<AuthorizationStore['getCached']> }

/** `find` reads the store, so no write rests on a cached record. */
function remembering(store: AuthorizationStore, cache: AuthorizationCache): Verbs {
  // After a failed write too: perhaps only its reply was lost.
  const dropping = async <T>(id: string, write: Promise<T>): Promise<T> => write.finally(() => cache.drop(id))
  const decorated = decorate(store, {
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
    confirmAbsent: (id) => dropping(id, confirmAbsence(store, id)),
  })
  return { ...decorated, getCached: (id) => cache.getCached(id) }
}

function warningsOf(refusal: string | undefined): readonly RedisWarning[] {
  if (refusal === undefined) return []
  const message = `Redis does not support the option cache here (${refusal}), so each guarded request reads from Redis. Allow CLIENT TRACKING, SUBSCRIBE to __redis__:invalidate and SET, or leave the option out.`
  return [{ code: 'EAS_REDIS_TRACKING', message }]
}

// Every cached record makes garbage collection longer.
export const cacheOption = group({
  maximum: needed(1, aWhole(1, 100_000, 'a whole number')),
} satisfies Fields<CacheOptions>)
