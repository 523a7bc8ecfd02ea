import type { Authorization } from '../authorization/authorization'

/** An authorization as a store found it, with the revision that a later save names. */
export interface StoredAuthorization {
  readonly authorization: Authorization
  readonly revision: string
}

/**
 * Where authorizations live. Three verbs, of which `save` must be atomic; everything else that keeps codes and
 * tokens single-use is built on that. A rejected promise means that the store is in trouble, and is answered as
 * `temporarily_unavailable`.
 */
export interface AuthorizationStore {
  /** The authorization and its revision; undefined when there is none or it has expired. */
  find(id: string): Promise<StoredAuthorization | undefined>

  /**
   * Stores the authorization under its id, in one atomic act, if what is stored now has the revision `expected`
   * or, without `expected`, if nothing is stored. Resolves to whether it did. A save whose `revision` is already
   * the stored one has happened before (its reply was lost) and resolves to true. The record may vanish once
   * `expiryOf(authorization)` has passed.
   */
  save(authorization: Authorization, revision: string, expected?: string): Promise<boolean>

  /** Removes the authorization and with it every credential that descends from it. */
  remove(id: string): Promise<void>
}
