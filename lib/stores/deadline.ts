import { type Field, kind, usual } from '../primitives/schema'
import { Wait } from '../primitives/deadlines'
import { isText } from '../primitives/values'
import { bareError, type OAuthError, OverShare } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import type { AuthorizationIndex } from '../authorization/authorization-index'
import type { ConsentStore } from '../authorization/consent-store'
import { type AuthorizationStore, confirmAbsence, decorate } from '../authorization/store'
import { type ClientRegistry, notesUses } from './client-store'
import type { Counters } from '../limits/counters'
import type { DynamicClientStore } from './dynamic-client-store'
import type { KeyStore } from './key-store'
import type { SharedCache } from './shared-cache'

/**
 * Waits `seconds` at most: a database client may wait for ever. Every failure becomes
 * `temporarily_unavailable`, never a bad grant or an unknown client.
 */
export function withinDeadline<T>(call: () => Promise<T>, seconds: number, store: object = {}): Promise<T> {
  return new Promise((resolve, reject) => {
    const waiting = new Wait(seconds, () => reject(tooLate(seconds, store)))
    const answered = (value: T) => {
      waiting.end()
      resolve(value)
    }
    const failed = (cause: unknown) => {
      waiting.end()
      reject(storeTrouble(cause, store))
    }
    // A host's store may throw where it should reject.
    try {
      call().then(answered, failed)
    } catch (cause) {
      failed(cause)
    }
  })
}

function tooLate(seconds: number, store: object): OAuthError {
  const place = describeStore(store) ?? 'The store'
  return storeTrouble(new Error(`${place} did not answer within ${seconds} s${because(store)}.`))
}

// A full share is no failure. Other errors lose their extra properties: database clients put the whole command
// there, and its record must not reach a log.
function storeTrouble(thrown: unknown, store: object = {}): OAuthError {
  if (thrown instanceof OverShare) return thrown
  const bare = bareError(thrown)
  const place = describeStore(store)
  const cause = place === undefined ? bare : withPlace(place, bare, obstacleOf(store))
  return refused('store_unavailable', {}, { cause })
}

// A command's error says only that the client gave up.
function obstacleOf(store: object): string | undefined {
  if (!('obstacle' in store) || typeof store.obstacle !== 'function') return undefined
  const obstacle: unknown = Reflect.apply(store.obstacle, store, [])
  return isText(obstacle) ? obstacle : undefined
}

function because(store: object): string {
  const obstacle = obstacleOf(store)
  return obstacle === undefined ? '' : ` (${obstacle})`
}

/** Name and codes stay: hosts recognize errors by these. */
function withPlace(place: string, error: Error, obstacle = error.message): Error {
  const message = `${place}: ${obstacle}`
  return Object.assign(error, { message, stack: error.stack?.replace(error.message, () => message) })
}

const describeStore = (store: object): string | undefined =>
  'place' in store && isText(store.place) ? store.place : undefined

/** `getCached` returns at once. */
export function withDeadline(store: AuthorizationStore, seconds: number): AuthorizationStore {
  return decorate(store, {
    find: (id) => withinDeadline(() => store.find(id), seconds, store),
    save: (authorization, revision, expected) =>
      withinDeadline(() => store.save(authorization, revision, expected), seconds, store),
    remove: (id) => withinDeadline(() => store.remove(id), seconds, store),
    confirmAbsent: (id) => withinDeadline(() => confirmAbsence(store, id), seconds, store),
  })
}

export function countersWithDeadline(counters: Counters, seconds: number): Counters {
  return {
    add: (key, amount, window) => withinDeadline(() => counters.add(key, amount, window), seconds, counters),
    useOnce: (key, window, share) =>
      withinDeadline(() => counters.useOnce(key, window, share), seconds, counters),
  }
}

export function cacheWithDeadline(cache: SharedCache, seconds: number): SharedCache {
  return {
    get: (key) => withinDeadline(() => cache.get(key), seconds, cache),
    set: (key, text, lifetime) => withinDeadline(() => cache.set(key, text, lifetime), seconds, cache),
  }
}

export function keysWithDeadline(keys: KeyStore, seconds: number): KeyStore {
  return {
    find: (name) => withinDeadline(() => keys.find(name), seconds, keys),
    save: (name, text, revision, expected) =>
      withinDeadline(() => keys.save(name, text, revision, expected), seconds, keys),
  }
}

export function indexWithDeadline(index: AuthorizationIndex, seconds: number): AuthorizationIndex {
  return {
    add: (owner, entry, terms) => withinDeadline(() => index.add(owner, entry, terms), seconds, index),
    list: (owner) => withinDeadline(() => index.list(owner), seconds, index),
    remove: (owner, ids) => withinDeadline(() => index.remove(owner, ids), seconds, index),
    mark: (owner, lasting) => withinDeadline(() => index.mark(owner, lasting), seconds, index),
    revokeClient: (client, at, lasting) =>
      withinDeadline(() => index.revokeClient(client, at, lasting), seconds, index),
    revokedBefore: (client) => withinDeadline(() => index.revokedBefore(client), seconds, index),
  }
}

export function consentsWithDeadline(consents: ConsentStore, seconds: number): ConsentStore {
  return {
    find: (owner, clientId) => withinDeadline(() => consents.find(owner, clientId), seconds, consents),
    list: (owner) => withinDeadline(() => consents.list(owner), seconds, consents),
    remember: (owner, clientId, consent, terms) =>
      withinDeadline(() => consents.remember(owner, clientId, consent, terms), seconds, consents),
    forget: (owner, clientId) => withinDeadline(() => consents.forget(owner, clientId), seconds, consents),
  }
}

export function clientsWithDeadline(clients: ClientRegistry, seconds: number): ClientRegistry {
  return {
    ...(notesUses(clients) && {
      noteUse: (clientId: string, day: number) =>
        withinDeadline(() => clients.noteUse(clientId, day), seconds, clients),
      lastUses: () => withinDeadline(() => clients.lastUses(), seconds, clients),
    }),
    find: (clientId) => withinDeadline(() => clients.find(clientId), seconds, clients),
    add: (registration) => withinDeadline(() => clients.add(registration), seconds, clients),
    list: () => withinDeadline(() => clients.list(), seconds, clients),
    update: (clientId, change) => updateWithin(clients, clientId, change, seconds),
  }
}

export function dynamicClientsWithDeadline(clients: DynamicClientStore, seconds: number): DynamicClientStore {
  return {
    find: (clientId) => withinDeadline(() => clients.find(clientId), seconds, clients),
    add: (addition) => withinDeadline(() => clients.add(addition), seconds, clients),
    update: (clientId, change) => updateWithin(clients, clientId, change, seconds),
    remove: (clientId) => withinDeadline(() => clients.remove(clientId), seconds, clients),
    extend: (clientId, lifetime, unlessLeft) =>
      withinDeadline(() => clients.extend(clientId, lifetime, unlessLeft), seconds, clients),
  }
}

/** An error that `change` throws passes: the store did not fail. */
async function updateWithin<Value>(
  store: { update(id: string, change: (value: Value) => Value): Promise<Value | undefined> },
  id: string,
  change: (value: Value) => Value,
  seconds: number,
): Promise<Value | undefined> {
  const rejected: { error?: unknown } = {}
  const watched = (value: Value) => {
    try {
      return change(value)
    } catch (error) {
      rejected.error = error
      throw error
    }
  }
  return withinDeadline(() => store.update(id, watched), seconds, store).catch((failure: unknown) => {
    throw rejected.error ?? failure
  })
}

export const aDeadline = kind(
  (value): value is number => typeof value === 'number' && value > 0 && value <= 60,
  'must be seconds, more than 0 and at most 60.',
)
export const deadlineOf = (fallback: number): Field<number> => usual(fallback, aDeadline)
