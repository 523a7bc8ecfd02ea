// Tuning: spares a decision or a redemption the read of its record, if the same process wrote the record.
// Buys: a code flow that stays in one process sends 3 commands to Redis. Over several processes it sends 5.
// Measured: 2026-11-22, docs/reports/scale.md. For refreshes the cache did not pay (docs/reports/performance.md, "What is left").
// Can go: whenever two more reads for each code flow are acceptable. Nothing but speed rests on this file.
import { BoundedMap } from '../primitives/bounded-map'
import { type AuthorizationStore, decorate, type StoredAuthorization } from '../authorization/store'

const maximumCached = 1000

/** A store that keeps its own last writes in memory: requests that wait for a decision, and codes. */
export interface OwnWrites {
  /** The decorated store: every write goes through this store. */
  readonly store: AuthorizationStore
  /**
   * Returns the record as this process wrote it, and forgets the record; undefined if the cache has none. Another
   * process may have changed or removed the record since. So only a save with the same expected revision may rest on
   * the record.
   */
  readonly takeCached: (id: string) => StoredAuthorization | undefined
}

/**
 * Decorates a store. Keeps the last 1000 records that this process wrote and that a decision or redemption soon needs.
 */
export function ownWrites(store: AuthorizationStore): OwnWrites {
  const written = new BoundedMap<StoredAuthorization>(maximumCached)
  const take = (id: string) => {
    const stored = written.get(id)
    written.delete(id)
    return stored
  }
  return {
    takeCached: take,
    store: decorate(store, {
      save(authorization, revision, expected) {
        const { id, state } = authorization
        take(id)
        const saved = store.save(authorization, revision, expected)
        if (state !== 'pending' && state !== 'approved') return saved
        return saved.then((isDone) => {
          if (isDone) written.put(id, { authorization, revision })
          return isDone
        })
      },
      remove(id) {
        take(id)
        return store.remove(id)
      },
    }),
  }
}
