import { type Field, kind, usual } from '../primitives/schema'
import { type Deadline, inTime } from '../primitives/deadlines'
import { isText } from '../primitives/values'
import { bareError, type OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import type { AuthorizationIndex } from '../authorization/authorization-index'
import type { ConsentStore } from '../authorization/consent-store'
import { type ClientRegistry, notesUses } from './client-store'
import type { DynamicClientStore } from './dynamic-client-store'
import { InMemory, isInMemory } from './in-memory'
import type { Store } from './store'

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

/** `peek` returns at once. */
export function withDeadline(store: Store, seconds: number): Store {
  const deadline = deadlineOfStore(seconds, store)
  const { peek, confirmAbsent, place, obstacle } = store
  const timely: Store = {
    read: (key) => inTime(() => store.read(key), deadline),
    write: (key, value, terms) => inTime(() => store.write(key, value, terms), deadline),
    remove: (key) => inTime(() => store.remove(key), deadline),
    add: (key, amount, window) => inTime(() => store.add(key, amount, window), deadline),
    list: (records) => inTime(() => store.list(records), deadline),
    peek: peek?.bind(store),
    confirmAbsent: confirmAbsent && ((key) => inTime(() => confirmAbsent.call(store, key), deadline)),
    place,
    obstacle: obstacle?.bind(store),
  }
  return isInMemory(store) ? Object.assign(new InMemory(), timely) : timely
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
