import { isText } from '../protocol/configuration'
import { bareError, type OAuthError, OverShare, temporarilyUnavailable } from '../protocol/oauth-error'
import { type AuthorizationStore, confirmAbsence } from './authorization-store'
import type { ClientRegistry } from './client-store'
import type { Counters } from './counters'

/**
 * Waits for a store no longer than `seconds`, because a client's own defaults may wait for ever. Trouble of any
 * kind is `temporarily_unavailable`: it must never look like a bad grant or an unknown client.
 *
 * @param store names the place that messages blame, if it knows it.
 */
export function withinDeadline<T>(call: () => Promise<T>, seconds: number, store: object = {}): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () =>
      reject(
        storeTrouble(new Error(`${describeStore(store) ?? 'The store'} did not answer within ${seconds} s.`)),
      )
    const timer = setTimeout(late, seconds * 1000)
    const answered = (value: T) => {
      clearTimeout(timer)
      resolve(value)
    }
    const failed = (cause: unknown) => {
      clearTimeout(timer)
      reject(storeTrouble(cause, describeStore(store)))
    }
    // A store of the host's own may throw where it should reject.
    try {
      call().then(answered, failed)
    } catch (cause) {
      failed(cause)
    }
  })
}

// A share that is used up is no trouble of the store, and is told as it is. Of trouble, the record that was to be written
// must reach no log.
function storeTrouble(thrown: unknown, place?: string): OAuthError {
  if (thrown instanceof OverShare) return thrown
  const bare = bareError(thrown)
  const cause = place === undefined ? bare : ofPlace(place, bare)
  return temporarilyUnavailable('store_unavailable', 'The server is temporarily unable to answer.', { cause })
}

/** Writes the place before the message of an error, which keeps its name and codes: hosts tell errors by these. */
function ofPlace(place: string, error: Error): Error {
  const message = `${place}: ${error.message}`
  return Object.assign(error, { message, stack: error.stack?.replace(error.message, () => message) })
}

/** Where a store is, for messages that say what cannot be reached; undefined where it does not tell. */
export function describeStore(store: object): string | undefined {
  return 'place' in store && isText(store.place) ? store.place : undefined
}

/** Sets a deadline on each call of a store, but for `getCached`, which answers at once. */
export function withDeadline(store: AuthorizationStore, seconds: number): AuthorizationStore {
  return {
    getCached: (id) => store.getCached?.(id),
    find: (id) => withinDeadline(() => store.find(id), seconds, store),
    save: (authorization, revision, expected) =>
      withinDeadline(() => store.save(authorization, revision, expected), seconds, store),
    remove: (id) => withinDeadline(() => store.remove(id), seconds, store),
    confirmAbsent:
      store.confirmAbsent && ((id) => withinDeadline(() => confirmAbsence(store, id), seconds, store)),
  }
}

/** Sets a deadline on each call of counters. */
export function countersWithDeadline(counters: Counters, seconds: number): Counters {
  return {
    add: (key, amount, window) => withinDeadline(() => counters.add(key, amount, window), seconds, counters),
    useOnce: (key, window, clientId) =>
      withinDeadline(() => counters.useOnce(key, window, clientId), seconds, counters),
  }
}

/** Sets a deadline on each call of a client registry. What a change throws is no trouble of the store, and comes through. */
export function clientsWithDeadline(clients: ClientRegistry, seconds: number): ClientRegistry {
  return {
    find: (clientId) => withinDeadline(() => clients.find(clientId), seconds, clients),
    add: (registration) => withinDeadline(() => clients.add(registration), seconds, clients),
    list: () => withinDeadline(() => clients.list(), seconds, clients),
    update: async (clientId, change) => {
      const refused: { error?: unknown } = {}
      const watched: typeof change = (registration) => {
        try {
          return change(registration)
        } catch (error) {
          refused.error = error
          throw error
        }
      }
      const call = () => clients.update(clientId, watched)
      return withinDeadline(call, seconds, clients).catch((trouble: unknown) => {
        throw refused.error ?? trouble
      })
    },
  }
}

/** Whether a value that a host gives can be a deadline. */
export function isDeadline(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value <= 60
}

/** What cures one that cannot, as the rest of a sentence. */
export const deadlineCure = 'must be seconds, more than 0 and at most 60.'
