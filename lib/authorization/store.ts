import type { Authorization } from './authorization'

export interface StoredAuthorization {
  readonly authorization: Authorization
  /** 22 characters of base64url, chosen by the writer. */
  readonly revision: string
}

/**
 * One record under one id. `save` must be atomic: the single use of codes and tokens rests on it alone. A rejected
 * promise gives `temporarily_unavailable`. `Store` names what else a store may have.
 */
export interface AuthorizationStore {
  /** Undefined if no record exists or it has expired. */
  find(id: string): Promise<StoredAuthorization | undefined>

  /**
   * Saves atomically if the stored record has the revision `expected`; without `expected`, if none is stored. Resolves
   * to whether it saved.
   *
   * If the stored record already has `revision`, only the reply of an earlier call was lost: resolves to true, after
   * the wait for replicas if there are any. The store may drop the record after `expiryOf(authorization)`.
   */
  save(authorization: Authorization, revision: string, expected?: string): Promise<boolean>

  /**
   * Removes the record and so every credential of it; resolves also if none was there. Ids are never used again: a store
   * may reject a later create, which can only be a late copy.
   */
  remove(id: string): Promise<void>

  /**
   * Returns at once, without the database, a record that is known to be current. Bearer guards call it before `find`,
   * and `find` before they refuse. After a `save` or `remove` of this process has settled, it must not return the
   * earlier record.
   */
  readonly getCached?: ((id: string) => StoredAuthorization | undefined) | undefined

  /**
   * For a store whose `remove` waits for more than its own database, such as for replicas: another process may have
   * removed the record. Resolves to true once the absence is as durable as after a removal; to false, without any
   * change, if a record exists. Called before the response that rests on an absence.
   */
  readonly confirmAbsent?: ((id: string) => Promise<boolean>) | undefined
}

export const confirmAbsence = (store: AuthorizationStore, id: string): Promise<boolean> =>
  store.confirmAbsent?.(id) ?? Promise.resolve(true)

/** A verb that is not replaced runs on the store itself, without a further frame. */
export function decorate(store: AuthorizationStore, verbs: Partial<AuthorizationStore>): AuthorizationStore {
  return {
    find: verbs.find ?? store.find.bind(store),
    save: verbs.save ?? store.save.bind(store),
    remove: verbs.remove ?? store.remove.bind(store),
    getCached: store.getCached && (verbs.getCached ?? store.getCached.bind(store)),
    confirmAbsent: store.confirmAbsent && (verbs.confirmAbsent ?? store.confirmAbsent.bind(store)),
  }
}
