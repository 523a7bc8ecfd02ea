import { type Field, kind, usual } from '../primitives/schema'
import { type Deadline, inTime } from '../primitives/deadlines'
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
  const deadline = deadlineOfStore(seconds, store)
  return decorate(store, {
    find: (id) => inTime(() => store.find(id), deadline),
    save: (authorization, revision, expected) =>
      inTime(() => store.save(authorization, revision, expected), deadline),
    remove: (id) => inTime(() => store.remove(id), deadline),
    confirmAbsent: (id) => inTime(() => confirmAbsence(store, id), deadline),
  })
}

export function countersWithDeadline(counters: Counters, seconds: number): Counters {
  const deadline = deadlineOfStore(seconds, counters)
  return {
    add: (key, amount, window) => inTime(() => counters.add(key, amount, window), deadline),
    useOnce: (key, window, share) => inTime(() => counters.useOnce(key, window, share), deadline),
  }
}

export function cacheWithDeadline(cache: SharedCache, seconds: number): SharedCache {
  const deadline = deadlineOfStore(seconds, cache)
  return {
    get: (key) => inTime(() => cache.get(key), deadline),
    set: (key, text, lifetime) => inTime(() => cache.set(key, text, lifetime), deadline),
  }
}

export function keysWithDeadline(keys: KeyStore, seconds: number): KeyStore {
  const deadline = deadlineOfStore(seconds, keys)
  return {
    find: (name) => inTime(() => keys.find(name), deadline),
    save: (name, text, revision, expected) =>
      inTime(() => keys.save(name, text, revision, expected), deadline),
  }
}

export function indexWithDeadline(index: AuthorizationIndex, seconds: number): AuthorizationIndex {
  const deadline = deadlineOfStore(seconds, index)
  return {
    add: (owner, entry, terms) => inTime(() => index.add(owner, entry, terms), deadline),
    list: (owner) => inTime(() => index.list(owner), deadline),
    remove: (owner, ids) => inTime(() => index.remove(owner, ids), deadline),
    mark: (owner, lasting) => inTime(() => index.mark(owner, lasting), deadline),
    revokeClient: (client, at, lasting) => inTime(() => index.revokeClient(client, at, lasting), deadline),
    revokedBefore: (client) => inTime(() => index.revokedBefore(client), deadline),
  }
}

export function consentsWithDeadline(consents: ConsentStore, seconds: number): ConsentStore {
  const deadline = deadlineOfStore(seconds, consents)
  return {
    find: (owner, clientId) => inTime(() => consents.find(owner, clientId), deadline),
    list: (owner) => inTime(() => consents.list(owner), deadline),
    remember: (owner, clientId, consent, terms) =>
      inTime(() => consents.remember(owner, clientId, consent, terms), deadline),
    forget: (owner, clientId) => inTime(() => consents.forget(owner, clientId), deadline),
  }
}

export function clientsWithDeadline(clients: ClientRegistry, seconds: number): ClientRegistry {
  const deadline = deadlineOfStore(seconds, clients)
  return {
    ...(notesUses(clients) && {
      noteUse: (clientId: string, day: number) => inTime(() => clients.noteUse(clientId, day), deadline),
      lastUses: () => inTime(() => clients.lastUses(), deadline),
    }),
    find: (clientId) => inTime(() => clients.find(clientId), deadline),
    add: (registration) => inTime(() => clients.add(registration), deadline),
    list: () => inTime(() => clients.list(), deadline),
    update: (clientId, change) => updateWithin(clients, clientId, change, deadline),
  }
}

export function dynamicClientsWithDeadline(clients: DynamicClientStore, seconds: number): DynamicClientStore {
  const deadline = deadlineOfStore(seconds, clients)
  return {
    find: (clientId) => inTime(() => clients.find(clientId), deadline),
    add: (addition) => inTime(() => clients.add(addition), deadline),
    update: (clientId, change) => updateWithin(clients, clientId, change, deadline),
    remove: (clientId) => inTime(() => clients.remove(clientId), deadline),
    extend: (clientId, lifetime, unlessLeft) =>
      inTime(() => clients.extend(clientId, lifetime, unlessLeft), deadline),
  }
}

/** An error that `change` throws passes: the store did not fail. */
async function updateWithin<Value>(
  store: { update(id: string, change: (value: Value) => Value): Promise<Value | undefined> },
  id: string,
  change: (value: Value) => Value,
  deadline: Deadline,
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
  return inTime(() => store.update(id, watched), deadline).catch((failure: unknown) => {
    throw rejected.error ?? failure
  })
}

export const aDeadline = kind(
  (value): value is number => typeof value === 'number' && value > 0 && value <= 60,
  'must be seconds, more than 0 and at most 60.',
)
export const deadlineOf = (fallback: number): Field<number> => usual(fallback, aDeadline)
