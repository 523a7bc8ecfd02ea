import { aTextThat, someCalls } from '../primitives/fields'
import { type Field, kind, needed, optional, shape } from '../primitives/schema'
import { isRecord } from '../primitives/values'

/** A text under a key. */
export interface StoredValue {
  readonly value: string
  /** 22 characters of base64url, chosen by the writer. */
  readonly version: string
}

export interface WriteTerms {
  /** 22 characters of base64url, different for each content. */
  readonly version: string
  /** The version that must be stored. Undefined: creates the record. */
  readonly expected?: string | undefined
  /** Until the store may drop the record. Undefined: the record stays. */
  readonly seconds?: number | undefined
}

/** `secondsLeft`: whole seconds until the count begins again at 0. */
export interface Count {
  readonly count: number
  readonly secondsLeft: number
}

/** A problem around a store, such as a setting of its database. */
export interface StoreWarning {
  /** A code of `docs/warnings.md`. */
  readonly code: string
  /** The problem and its cure. */
  readonly message: string
}

/**
 * A database as the suite uses it: texts under keys, each with a version. The single use of codes and tokens rests on
 * `write` alone.
 *
 * Keys are printable ASCII and at most 1000 characters long; values are JSON. A rejected promise means that the store
 * failed: the server responds with `temporarily_unavailable`.
 */
export interface Store {
  /** Resolves to undefined for a key that is absent, removed or past its end. */
  read(key: string): Promise<StoredValue | undefined>

  /**
   * Stores a value in one atomic act, if the stored version is `expected`; without `expected`, if nothing is stored.
   * Resolves to whether it stored. If the stored version is `version` already, only the reply of an earlier call was
   * lost: resolves to true, and may write the same again.
   *
   * A create is void once its caller no longer waits, by the clock of the database, and rejects while a removal of the
   * key is marked: no late copy of it brings back a removed record.
   */
  write(key: string, value: string, terms: WriteTerms): Promise<boolean>

  /**
   * Removes a record whose key is never used again, and marks the key for longer than a create may be on its way, also
   * if nothing was stored. Every reader takes the mark for absence.
   */
  remove(key: string): Promise<void>

  /**
   * Adds to a count in one atomic act, which is sent once. The count ends `seconds` after its first addition, is never
   * below 0, and a count of 0 has no end. A count and a record of the same key are independent.
   */
  add(key: string, amount: 1 | -1, seconds: number): Promise<Count>

  /**
   * Resolves to the keys, without the kind and its colon, of the records without an end. Misses none; may name one that
   * is not there.
   */
  list(kind: 'client'): Promise<readonly string[]>

  /**
   * Optional, for a store that learns of every change. Returns at once what is known to be current; otherwise
   * undefined, never what was there before a settled `write` or `remove` of this process. The same value is the same
   * object.
   */
  readonly peek?: ((key: string) => StoredValue | undefined) | undefined

  /**
   * Optional. A store whose `remove` waits for more than the database, such as for replicas, waits here too: another
   * process may have removed the record. Resolves to true once the absence is as durable as after a removal; to false,
   * without any change, if a record exists.
   */
  readonly confirmAbsent?: ((key: string) => Promise<boolean>) | undefined

  /**
   * Checks the surroundings of the store: one warning for each problem. The first server or guard calls it in the
   * background, and again while it rejects.
   *
   * @param issuer of this server or guard.
   */
  readonly check?: ((issuer: string) => Promise<readonly StoreWarning[]>) | undefined

  /** The last server or guard of the process that uses the store calls it, and waits for it. */
  readonly close?: (() => unknown) | undefined

  /** For messages, such as `Redis at localhost:6379`. Never a password. */
  readonly place?: string | undefined

  /** Why the last attempt to connect failed; undefined if the store is connected. */
  readonly connectionFailure?: (() => string | undefined) | undefined
}

/**
 * Seconds that a removal stays marked, longer than a create may be on its way: twice the longest deadline, and some.
 */
export const markSeconds = 124

const verbs = ['read', 'write', 'remove', 'add', 'list'] as const

export const isStore = (value: unknown): value is Store =>
  isRecord(value) && verbs.every((verb) => typeof value[verb] === 'function')

const withVerbs = kind(
  isStore,
  'must have the functions read, write, remove, add and list, as redisStore({ url }) and memoryStore() have.',
)

const whole = shape<Store>({
  ...someCalls(...verbs, 'peek', 'confirmAbsent', 'check', 'close', 'connectionFailure'),
  place: optional(
    aTextThat('must be a text that names the store in messages, such as Redis at localhost:6379.'),
  ),
})

const reject = () => Promise.reject(new Error('There is no store.'))

export const noStore: Store = { read: reject, write: reject, remove: reject, add: reject, list: reject }

export const aStore: Field<Store> = needed(noStore, (given, at, name) =>
  withVerbs(given, at, name) === undefined ? undefined : whole(given, at, name),
)

// A second copy of this package must recognize the mark.
const mark = Symbol.for('express-authorization-server:in-memory')

export class InMemory {
  readonly [mark] = true
}

export const isInMemory = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && mark in value
