import type { Authorization } from '../authorization/authorization'
import { isRecord } from '../protocol/configuration'

/** An authorization as a store found it, with the revision that a later save names. */
export interface StoredAuthorization {
  readonly authorization: Authorization
  /** 22 characters of base64url, as the writer chose it. */
  readonly revision: string
}

/**
 * Where authorizations live. Three verbs, of which `save` must be atomic; everything else that keeps codes and
 * tokens single-use is built on that. A rejected promise means that the store is in trouble, and is answered as
 * `temporarily_unavailable`. A store may have a function `close` besides: `oauth.close()` calls it at the end.
 */
export interface AuthorizationStore {
  /** The authorization and its revision; undefined when there is none or it has expired. */
  find(id: string): Promise<StoredAuthorization | undefined>

  /**
   * Stores the authorization under its id, in one atomic act, if what is stored now has the revision `expected`
   * or, without `expected`, if nothing is stored. Resolves to whether it did. A save whose `revision` is already
   * the stored one has happened before (its reply was lost) and resolves to true. A store that waits for more than
   * its database does (for replicas, say) waits in that case, too. The record may vanish once
   * `expiryOf(authorization)` has passed.
   */
  save(authorization: Authorization, revision: string, expected?: string): Promise<boolean>

  /**
   * Removes the authorization and with it every credential that descends from it. Resolves when it is gone, though it
   * may have been gone before.
   */
  remove(id: string): Promise<void>

  /**
   * May be left out. What the store has read before and knows to be current without asking its database, at once;
   * undefined when it does not know. Bearer guards ask it before `find`, and ask `find` before they refuse a token. Once
   * a `save` or `remove` of this process has settled, it never gives what was there before.
   */
  getCached?(id: string): StoredAuthorization | undefined

  /**
   * May be left out by a store whose `remove` waits for its database alone. A store that waits for more (for replicas,
   * say) waits here as `remove` does, although another process may have removed the record. Resolves to true when the
   * absence is as safe as a removal would have made it, and to false, without any change, when a record is there. A
   * redemption, a refresh or a revocation that found nothing calls it before it answers.
   */
  readonly confirmAbsent?: ((id: string) => Promise<boolean>) | undefined
}

/** Confirms that no record is there; a store without that verb has nothing to add to its `find`. */
export function confirmAbsence(store: AuthorizationStore, id: string): Promise<boolean> {
  return store.confirmAbsent?.(id) ?? Promise.resolve(true)
}

/** Whether a value that a host calls a store has the three verbs, and functions or nothing in place of the optional ones. */
export function isAuthorizationStore(value: unknown): value is AuthorizationStore {
  if (!isRecord(value)) return false
  const isVerb = (verb: string) => typeof value[verb] === 'function'
  return (
    ['find', 'save', 'remove'].every(isVerb) &&
    ['getCached', 'confirmAbsent'].every((verb) => value[verb] === undefined || isVerb(verb))
  )
}

/** What cures a store that is none, as the rest of a sentence. */
export const storeCure =
  'must have the functions find, save and remove, as redisStore({ url }) and memoryStore() have.'

/** Something around a store that does harm there, or will. */
export interface StoreWarning {
  /** A code of `docs/warnings.md`. */
  readonly code: string
  /** What was found and what cures it. */
  readonly message: string
}

const nothing = () => Promise.reject(new Error('There is no store.'))

/** Stands for a store that the options do not name rightly: no server starts with it. */
export const noStore: AuthorizationStore = { find: nothing, save: nothing, remove: nothing }
