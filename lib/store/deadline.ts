import { type Field, kind, usual } from '../primitives/schema'
import { type Deadline, inTime, madeInTime } from '../primitives/clock'
import { isText } from '../primitives/values'
import { bareError, type OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { InMemory, isInMemory, type Store, type StoredValue } from './store'

/**
 * A database client may wait for ever. Every failure becomes `temporarily_unavailable`, never a bad grant or an
 * unknown client.
 */
const deadlineOfStore = (seconds: number, store: object): Deadline => ({
  seconds,
  late: () => tooLate(seconds, store),
  failed: (cause) => storeTrouble(cause, store),
})

export const withinDeadline = <T>(call: () => Promise<T>, seconds: number, store: object = {}): Promise<T> =>
  inTime(call, deadlineOfStore(seconds, store))

function tooLate(seconds: number, store: object): OAuthError {
  const place = describeStore(store) ?? 'The store'
  return storeTrouble(new Error(`${place} did not answer within ${seconds} s${because(store)}.`))
}

// Errors lose their extra properties: database clients put the whole command there, and its record must not reach a
// log.
function storeTrouble(thrown: unknown, store: object = {}): OAuthError {
  const bare = bareError(thrown)
  const place = describeStore(store)
  const cause = place === undefined ? bare : withPlace(place, bare, connectionFailureOf(store))
  return refused('store_unavailable', {}, { cause })
}

// A command's error says only that the client gave up.
function connectionFailureOf(store: object): string | undefined {
  if (!('connectionFailure' in store) || typeof store.connectionFailure !== 'function') return undefined
  const reason: unknown = Reflect.apply(store.connectionFailure, store, [])
  return isText(reason) ? reason : undefined
}

function because(store: object): string {
  const reason = connectionFailureOf(store)
  return reason === undefined ? '' : ` (${reason})`
}

/** Name and codes stay: hosts recognize errors by these. */
function withPlace(place: string, error: Error, reason = error.message): Error {
  const message = `${place}: ${reason}`
  return Object.assign(error, { message, stack: error.stack?.replace(error.message, () => message) })
}

const describeStore = (store: object): string | undefined =>
  'place' in store && isText(store.place) ? store.place : undefined

/** A store whose calls end in time. */
export interface TimelyStore extends Store {
  /** Reads, and makes the result of what is found, in one promise. */
  readAs<Made>(key: string, make: (found: StoredValue | undefined) => Made): Promise<Made>
}

/** `peek` returns at once. */
export function withDeadline(store: Store, seconds: number): TimelyStore {
  const deadline = deadlineOfStore(seconds, store)
  const { peek, confirmAbsent, place, connectionFailure } = store
  const timely: TimelyStore = {
    readAs: (key, make) => madeInTime(() => store.read(key), deadline, make),
    read: (key) => inTime(() => store.read(key), deadline),
    write: (key, value, terms) => inTime(() => store.write(key, value, terms), deadline),
    remove: (key) => inTime(() => store.remove(key), deadline),
    add: (key, amount, window) => inTime(() => store.add(key, amount, window), deadline),
    list: (records) => inTime(() => store.list(records), deadline),
    peek: peek?.bind(store),
    confirmAbsent: confirmAbsent && ((key) => inTime(() => confirmAbsent.call(store, key), deadline)),
    place,
    connectionFailure: connectionFailure?.bind(store),
  }
  return isInMemory(store) ? Object.assign(new InMemory(), timely) : timely
}

export const aDeadline = kind(
  (value): value is number => typeof value === 'number' && value > 0 && value <= 60,
  'must be seconds, more than 0 and at most 60.',
)
export const deadlineOf = (fallback: number): Field<number> => usual(fallback, aDeadline)
