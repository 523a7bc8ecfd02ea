import type { AuthorizationStore } from '../../lib/stores/authorization-store'
import type { ClientRegistry } from '../../lib/stores/client-registry'
import type { Counters } from '../../lib/stores/counters'
import { memoryClients } from '../../lib/stores/memory-clients'
import { memoryCounters } from '../../lib/stores/memory-counters'
import { memoryStore } from '../../lib/stores/memory-store'

/** The three stores in memory, in a time that passes when it is told to. */
export function inMemory() {
  let ahead = 0
  const clock = () => Date.now() + ahead
  return {
    store: memoryStore({ clock }),
    counters: memoryCounters({ clock }),
    clients: memoryClients(),
    advance: (seconds: number) => void (ahead += seconds * 1000),
  }
}

/** The usual mistake: look, and then write. */
export const checksThenActs = (store: AuthorizationStore): AuthorizationStore => ({
  find: (id) => store.find(id),
  remove: (id) => store.remove(id),
  async save(authorization, revision, expected) {
    const found = await store.find(authorization.id)
    if (found?.revision !== revision && found?.revision !== expected) return false
    return overwrites(store).save(authorization, revision)
  },
})

/** Writes as most caches do. */
export const overwrites = (store: AuthorizationStore): AuthorizationStore => ({
  find: (id) => store.find(id),
  remove: (id) => store.remove(id),
  async save(authorization, revision) {
    const found = await store.find(authorization.id)
    return (
      (await store.save(authorization, revision, found?.revision)) ||
      overwrites(store).save(authorization, revision)
    )
  },
})

/** Takes a write that is sent again for another writer's. */
export const forgetsItsOwnWrite = (store: AuthorizationStore): AuthorizationStore => ({
  find: (id) => store.find(id),
  remove: (id) => store.remove(id),
  async save(authorization, revision, expected) {
    const found = await store.find(authorization.id)
    return found?.revision !== revision && store.save(authorization, revision, expected)
  },
})

/** Moves on what is not there any more. */
export const bringsBack = (store: AuthorizationStore): AuthorizationStore => ({
  find: (id) => store.find(id),
  remove: (id) => store.remove(id),
  save: async (authorization, revision, expected) =>
    (await store.save(authorization, revision, expected)) || store.save(authorization, revision),
})

/** Counts in two acts. */
export function readsThenWrites(counters: Counters): Counters {
  const spent = new Set<string>()
  return {
    add: (key, amount, seconds) => counters.add(key, amount, seconds),
    async spend(key, seconds) {
      const before = spent.has(key)
      await counters.add(`spent ${key}`, 1, seconds)
      spent.add(key)
      return !before
    },
  }
}

/** Replaces a registration that others have changed meanwhile. */
export const losesChanges = (clients: ClientRegistry): ClientRegistry => ({
  find: (clientId) => clients.find(clientId),
  add: (registration) => clients.add(registration),
  list: () => clients.list(),
  async update(clientId, change) {
    const current = await clients.find(clientId)
    if (current === undefined) return undefined
    const next = change(current)
    return clients.update(clientId, () => next)
  },
})
