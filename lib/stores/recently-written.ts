import { BoundedMap } from '../protocol/bounded-map'
import { confirmAbsence, type AuthorizationStore, type StoredAuthorization } from './authorization-store'

const rememberedAtMost = 1000

/** What this process wrote last and will soon be asked about: requests that wait for a decision, and codes. */
export interface WriteBackCache {
  readonly store: AuthorizationStore
  /**
   * The record as this process wrote it, once. Another process may have moved it on or removed it since, so that nothing
   * may rest on it but a save on condition that its revision is still the stored one.
   */
  readonly takeCached: (id: string) => StoredAuthorization | undefined
}

/** Decorates a store: keeps the last thousand records that this process wrote and that a decision or a code will soon ask for. */
export function writeBackCache(store: AuthorizationStore): WriteBackCache {
  const written = new BoundedMap<StoredAuthorization>(rememberedAtMost)
  const take = (id: string) => {
    const stored = written.get(id)
    written.delete(id)
    return stored
  }
  return {
    takeCached: take,
    store: {
      getCached: (id) => store.getCached?.(id),
      find: (id) => store.find(id),
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
      confirmAbsent: store.confirmAbsent && ((id) => confirmAbsence(store, id)),
    },
  }
}
