import type { ClientRegistry } from '../../../lib/clients/client-store'
import type { Counters } from '../../../lib/limits/counters'
import { memoryClients } from '../../../lib/stores/memory-clients'
import { memoryCounters } from '../../../lib/stores/memory-counters'
import { memoryDynamicClients } from '../../../lib/stores/memory-dynamic-clients'
import { memoryStore } from '../../../lib/stores/memory-store'

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

/** Dynamic clients in memory, in a time that passes when it is told to. */
export function dynamicInMemory() {
  let ahead = 0
  return {
    clients: memoryDynamicClients({ clock: () => Date.now() + ahead }),
    advance: (seconds: number) => void (ahead += seconds * 1000),
  }
}

/** Counts in two acts. */
export function readsThenWrites(counters: Counters): Counters {
  const spent = new Set<string>()
  return {
    add: (key, amount, seconds) => counters.add(key, amount, seconds),
    async useOnce(key, seconds) {
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
