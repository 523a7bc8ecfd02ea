import { inTime } from '../primitives/deadlines'
import type { ClientRegistration } from '../protocol/client'
import { deadlineOfStore } from '../store/deadline'
import { type ClientRegistry, notesUses } from './client-store'

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
    async update(clientId, change) {
      // An error that `change` throws passes: the store did not fail.
      const rejected: { error?: unknown } = {}
      const watched = (registration: ClientRegistration) => {
        try {
          return change(registration)
        } catch (error) {
          rejected.error = error
          throw error
        }
      }
      return inTime(() => clients.update(clientId, watched), deadline).catch((failure: unknown) => {
        throw rejected.error ?? failure
      })
    },
  }
}
