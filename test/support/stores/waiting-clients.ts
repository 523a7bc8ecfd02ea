import { setImmediate as turn } from 'node:timers/promises'
import { type ClientRegistry, notesUses } from '../../../lib/clients/client-store'

/** Puts clients behind a way to a database: each call waits a while before and after, so that others come between. */
export function waitingClients(clients: ClientRegistry): ClientRegistry {
  return {
    find: (clientId) => slowly(() => clients.find(clientId)),
    add: (registration) => slowly(() => clients.add(registration)),
    update: (clientId, change) => slowly(() => clients.update(clientId, change)),
    list: () => slowly(() => clients.list()),
    ...(notesUses(clients) && {
      noteUse: (clientId: string, day: number) => slowly(() => clients.noteUse(clientId, day)),
      lastUses: () => slowly(() => clients.lastUses()),
    }),
  }
}

async function slowly<T>(call: () => Promise<T>): Promise<T> {
  await turn()
  const answer = await call()
  await turn()
  return answer
}
