import { createServer } from 'node:http'
import { memoryCounters, memoryStore, type AuthorizationStore } from '../../../lib/index'
import { application, withoutLimits } from '../flows/application'
import { listening, type Listener } from '../listening'
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
  const listeners: Listener[] = []
  const three = (refreshTokenGrace: Grace): Promise<string[]> =>
    Promise.all(
      Array.from({ length: processes }, async () => {
        const store = resendingStore(plant(shared), chance)
        // A machine under load is not a store in trouble.
        const lifetimes = { refreshTokenGrace }
        const options = { store, counters, lifetimes, clients: clientsOfRaces, storeDeadline: 10 }
        const listener = await listening(createServer(application({ ...options, ...withoutLimits }).app))
        listeners.push(listener)
        return `http://127.0.0.1:${listener.port}`
      }),
    )
  const origins = { 0: await three(0), 30: await three(30) }
  const stop = async (): Promise<void> => {
    await Promise.all(listeners.map((listener) => listener.close()))
  }
  return { origins, stop }
}
