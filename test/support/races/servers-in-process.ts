import { once } from 'node:events'
import type { Server } from 'node:http'
import { memoryCounters, memoryStore, type AuthorizationStore } from '../../../lib/index'
import { application, withoutLimits } from '../flows/application'
import { resendingStore, waitingStore } from '../stores/waiting-store'
import { clientsOfRaces } from './requests'
import type { Chance } from './chance'
import { processes, type Grace } from './plan'
import type { RunningServers } from './start-servers'

/**
 * Servers in this process: six applications on one store that waits, and whose saves are resent now and then.
 *
 * @param plant puts a fault between an application and the store.
 */
export async function serversInProcess(
  plant: (sound: AuthorizationStore) => AuthorizationStore,
  chance: Chance,
): Promise<RunningServers> {
  const shared = waitingStore(memoryStore(), chance)
  const counters = memoryCounters()
  const servers: Server[] = []
  const three = (refreshTokenGrace: Grace): Promise<string[]> =>
    Promise.all(
      Array.from({ length: processes }, async () => {
        const store = resendingStore(plant(shared), chance)
        // A machine under load is not a store in trouble.
        const lifetimes = { refreshTokenGrace }
        const options = { store, counters, lifetimes, clients: clientsOfRaces, storeDeadline: 10 }
        const server = application({ ...options, ...withoutLimits }).app.listen(0, '127.0.0.1')
        servers.push(server)
        await once(server, 'listening')
        return originOf(server)
      }),
    )
  const origins = { 0: await three(0), 30: await three(30) }
  const stop = async (): Promise<void> => {
    for (const server of servers) server.close().closeAllConnections()
  }
  return { origins, stop }
}

function originOf(server: Server): string {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The application has no port.')
  return `http://127.0.0.1:${address.port}`
}
