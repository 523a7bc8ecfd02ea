import type { Authorization } from './authorization'

/** A record as a store found it. A later save names its revision. */
export interface StoredAuthorization {
  readonly authorization: Authorization
  /** 22 characters of base64url. The writer chooses the revision. */
  readonly revision: string
}

/**
 * Stores authorizations, one record under one id. A store has three verbs: `find`, `save` and `remove`. `save` must be
 * atomic, because the single use of codes and tokens rests on `save` alone.
 *
 * A rejected promise means that the store failed. The server then responds with `temporarily_unavailable`. `Storage`
 * names what else a store may have.
 */
export interface AuthorizationStore {
  /** Resolves to the authorization and its revision; undefined if no record exists or the record has expired. */
  find(id: string): Promise<StoredAuthorization | undefined>

  /**
   * Stores the authorization under its id, in one atomic act, if the stored record has the revision `expected`. Without
   * `expected`, the save succeeds only if no record is stored. Resolves to whether the save succeeded.
   *
   * If the stored record already has `revision`, an earlier call succeeded and only its reply was lost: the save
   * resolves to true. A store that waits for more than its own database, such as for replicas, waits in this case too.
   * The store may drop the record once `expiryOf(authorization)` has passed.
   */
  save(authorization: Authorization, revision: string, expected?: string): Promise<boolean>

  /**
   * Removes the authorization, and with the record every credential that descends from it. Resolves once no record is
   * stored under the id, also if none was stored before. Ids are never used again, so a store may reject a later create
   * under the id, which can only be a late copy of an earlier one.
   */
  remove(id: string): Promise<void>

  /**
   * Optional. Returns at once, without a call to the database, a record that the store knows to be current; undefined
   * if the store does not know. Bearer guards call `getCached` before `find`, and call `find` before they refuse a
   * token. After a `save` or `remove` of this process has settled, `getCached` must not return the record from before.
   */
  readonly getCached?: ((id: string) => StoredAuthorization | undefined) | undefined

  /**
   * Optional for a store whose `remove` waits for its own database alone. A store that waits for more, such as for
   * replicas, waits here as `remove` does, because another process may have removed the record. Resolves to true once
   * the absence is as durable as after a removal, and to false, without any change, if a record exists. A redemption, a
   * refresh or a revocation that finds no record calls `confirmAbsent` before the server responds.
   */
  readonly confirmAbsent?: ((id: string) => Promise<boolean>) | undefined
}

/** Confirms that no record exists. True for a store without the verb `confirmAbsent`: its `find` is proof enough. */
export function confirmAbsence(store: AuthorizationStore, id: string): Promise<boolean> {
  return store.confirmAbsent?.(id) ?? Promise.resolve(true)
}

/**
 * Replaces verbs of a store. A verb that is not replaced runs on the store itself, which may be an instance of a class,
 * and costs no further frame. An optional verb that the store lacks stays absent, also if it is replaced.
 */
export function decorate(store: AuthorizationStore, verbs: Partial<AuthorizationStore>): AuthorizationStore {
  return {
    find: verbs.find ?? store.find.bind(store),
    save: verbs.save ?? store.save.bind(store),
    remove: verbs.remove ?? store.remove.bind(store),
    getCached: store.getCached && (verbs.getCached ?? store.getCached.bind(store)),
    confirmAbsent: store.confirmAbsent && (verbs.confirmAbsent ?? store.confirmAbsent.bind(store)),
  }
}
