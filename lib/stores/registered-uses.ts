import { following } from '../primitives/eventual'
import { type ClientRegistry, notesUses } from './client-store'
import { BoundedMap } from '../primitives/bounded-map'
import { type Client, type FindClient, isRegisteredByHost } from '../protocol/client'
import { isUse, type NoteUse } from './noting-uses'

const day = 24 * 3600
const maximumClients = 10_000

export interface RegisteredUses {
  /** Only clients of the registry reach it. */
  readonly find: FindClient
  readonly note: NoteUse
  /** For an authenticated client that got no code and no token. */
  readonly noteClient: (clientId: string) => Promise<void> | undefined
}

/**
 * One write at most for each client, day and process.
 *
 * @param clock milliseconds since the epoch.
 */
export function registeredUses(
  clients: ClientRegistry | undefined,
  findClient: FindClient,
  clock: () => number,
): RegisteredUses | undefined {
  if (clients === undefined || !notesUses(clients)) return undefined
  const days = new BoundedMap<number>(maximumClients)
  const noteClient = (clientId: string) => {
    const known = days.get(clientId)
    if (known === undefined) return undefined
    const seconds = Math.floor(clock() / 1000)
    const today = seconds - (seconds % day)
    if (known >= today) return undefined
    // Two requests at once note one use.
    days.put(clientId, today)
    return clients.noteUse(clientId, today).catch(() => days.put(clientId, known))
  }
  const remember = (client: Client | undefined) => {
    if (client !== undefined && isRegisteredByHost(client) && days.get(client.client_id) === undefined)
      days.put(client.client_id, -Infinity)
    return client
  }
  return {
    find: (clientId, sender) => following(() => findClient(clientId, sender), remember),
    note: (authorization) => (isUse(authorization) ? noteClient(authorization.clientId) : undefined),
    noteClient,
  }
}
