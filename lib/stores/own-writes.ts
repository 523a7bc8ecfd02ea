import type { Authorization } from '../authorization/authorization'
import { type AuthorizationStore, decorate, type StoredAuthorization } from '../authorization/store'
import { BoundedMap } from '../primitives/maps'

// Tuning: a decision or a redemption need not read a record that this process wrote.
// Buys: a code flow in one process sends 3 commands to Redis; over several processes, 5.
// Measured: 2026-11-22, docs/reports/scale.md. It did not pay for refreshes (docs/reports/performance.md, "What
// is left").
// Can go: whenever two more reads per code flow are acceptable.

const maximumCached = 1000

interface OwnWrites {
  readonly store: AuthorizationStore
  /**
   * Forgets the record. Another process may have changed or removed it, so only a save with the same expected
   * revision may rest on it.
   */
  readonly takeCached: (id: string) => StoredAuthorization | undefined
}

/** The last 1000 requests and codes that this process wrote. */
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
        written.delete(id)
        const saved = store.save(authorization, revision, expected)
        if (state === 'active') return saved
        // Only then: who decides reads the record here.
        return saved.then((isDone) => {
          if (isDone) written.set(id, { authorization, revision })
          return isDone
        })
      },
      remove(id) {
        written.delete(id)
        return store.remove(id)
      },
    }),
  }
}

/** Undefined if there is nothing to note. */
export type NoteUse = (authorization: Authorization) => Promise<void> | undefined

/**
 * A note leaves in the same turn of the event loop as the record, so Redis gets both in one packet. A failed
 * note takes nothing from the client.
 */
export function notingUses(store: AuthorizationStore, notes: readonly NoteUse[]): AuthorizationStore {
  if (notes.length === 0) return store
  return decorate(store, {
    save(authorization, revision, expected) {
      const saved = store.save(authorization, revision, expected)
      const noted = notes.map((note) => note(authorization)?.catch(() => undefined))
      if (noted.every((one) => one === undefined)) return saved
      return Promise.all([saved, ...noted]).then(([isSaved]) => isSaved)
    },
  })
}

export const isUse = (
  authorization: Authorization,
): authorization is Extract<Authorization, { state: 'approved' | 'active' }> =>
  authorization.state === 'approved' || authorization.state === 'active'
