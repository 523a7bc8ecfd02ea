import { type Field, kind, usual } from '../primitives/schema'
import { type Deadline, inTime, madeInTime } from '../primitives/clock'
import { isText } from '../primitives/values'
import { bareError, type OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { InMemory, isInMemory, type Store, type StoredValue } from './store'

// A failure is never a bad grant or an unknown client.
const deadlineOfStore = (seconds: number, store: object): Deadline => ({
  seconds,
  late() {
    const { place = 'The store', failure } = saidBy(store)
    const because = failure === undefined ? '' : ` (${failure})`
    return unavailable(new Error(`${place} did not answer within ${seconds} s${because}.`))
  },
  failed(thrown) {
    // Database clients put the whole command into extra properties, which must not reach a log. Hosts
    // recognize errors by name and codes.
    const error = bareError(thrown)
    const { place, failure = error.message } = saidBy(store)
    if (place === undefined) return unavailable(error)
    const message = `${place}: ${failure}`
    const stack = error.stack?.replace(error.message, () => message)
    return unavailable(Object.assign(error, { message, stack }))
  },
})

const unavailable = (cause: Error): OAuthError => refused('store_unavailable', {}, { cause })

// A command's error says only that the client gave up.
function saidBy(store: object): { readonly place?: string; readonly failure?: string } {
  const { place, connectionFailure }: { place?: unknown; connectionFailure?: unknown } = store
  const failure: unknown =
    typeof connectionFailure === 'function' ? Reflect.apply(connectionFailure, store, []) : undefined
  return { ...(isText(place) && { place }), ...(isText(failure) && { failure }) }
}

export const withinDeadline = <T>(call: () => Promise<T>, seconds: number, store: object = {}): Promise<T> =>
  inTime(call, deadlineOfStore(seconds, store))

export interface TimelyStore extends Store {
  // In one promise.
  readAs<Made>(key: string, make: (found: StoredValue | undefined) => Made): Promise<Made>
}

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
