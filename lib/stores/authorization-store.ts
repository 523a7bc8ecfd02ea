import type { Authorization } from '../authorization/authorization'
import { isRecord } from '../protocol/configuration'

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
 * A rejected promise means that the store failed. The server then responds with `temporarily_unavailable`. A store may
 * also have a function `close`, which `oauth.close()` calls at the end.
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
   * stored under the id, also if none was stored before.
   */
  remove(id: string): Promise<void>

  /**
   * Optional. Returns at once, without a call to the database, a record that the store knows to be current; undefined
   * if the store does not know. Bearer guards call `getCached` before `find`, and call `find` before they refuse a
   * token. After a `save` or `remove` of this process has settled, `getCached` must not return the record from before.
   */
  getCached?(id: string): StoredAuthorization | undefined

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

/** Whether a value has the three verbs of a store. Each optional verb must be a function if the value has the verb. */
export function isAuthorizationStore(value: unknown): value is AuthorizationStore {
  if (!isRecord(value)) return false
  const isVerb = (verb: string) => typeof value[verb] === 'function'
  return (
    ['find', 'save', 'remove'].every(isVerb) &&
    ['getCached', 'confirmAbsent'].every((verb) => value[verb] === undefined || isVerb(verb))
  )
}

/** Says what a store needs, as the rest of a sentence that begins with the path of the option. */
export const storeCure =
  'must have the functions find, save and remove, as redisStore({ url }) and memoryStore() have.'

/** A problem in the surroundings of a store, such as a setting of its database, that does harm now or will later. */
export interface StoreWarning {
  /** A code of `docs/warnings.md`. */
  readonly code: string
  /** Says what the store found and how to cure the problem. */
  readonly message: string
}

const reject = () => Promise.reject(new Error('There is no store.'))

/**
 * Placeholder for a store that the options name wrongly. Every verb rejects, and no server starts with the placeholder.
 */
export const noStore: AuthorizationStore = { find: reject, save: reject, remove: reject }
