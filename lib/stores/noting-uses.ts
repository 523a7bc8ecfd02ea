import type { Authorization } from '../authorization/authorization'
import { type AuthorizationStore, decorate } from '../authorization/store'

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
