import { inTurns } from '../primitives/in-turns'
import { isRecord, isText } from '../primitives/values'
import type { ClientRegistration } from '../protocol/client'
import { changeRecord } from '../store/change'
import { InMemory, isInMemory } from '../store/in-memory'
import type { Store } from '../store/store'
import {
  byClientId,
  type ClientRegistry,
  DecodedClients,
  frozenJson,
  requireSameClient,
} from './client-store'
import { nameOf } from './records'

/** The record of a client that the host registered. */
interface RegisteredClient {
  readonly registration: ClientRegistration
  /** The beginning of the last day of use (UTC), in seconds since the epoch. */
  readonly usedOn?: number | undefined
}

/**
 * The registered clients of a store, which processes and commands change while servers run. For the option `clients`:
 * `createAuthorizationServer({ store, clients: registeredClients(store), … })`.
 */
export function registeredClients(store: Store): Required<ClientRegistry> {
  const decoded = new DecodedClients(decodeClient)
  const read = async (key: string) => {
    const found = await store.read(key)
    return found && decoded.at(key, found)
  }
  const all = async () => {
    const found = await inTurns(await store.list('client'), (name) => read(kind + name))
    return found.filter((client) => client !== undefined)
  }
  const registry: Required<ClientRegistry> & Pick<Store, 'place' | 'connectionFailure'> = {
    place: store.place,
    connectionFailure: store.connectionFailure?.bind(store),

    find: async (clientId) => (await read(clientKey(clientId)))?.registration,

    add: (registration) =>
      changeRecord(store, clientKey(registration.client_id), (value) =>
        // The host's registration takes the place of one that the client made.
        value === undefined || decodeClient(value) === undefined
          ? { write: { value: JSON.stringify({ registration }) }, outcome: true }
          : { outcome: false },
      ),

    update: (clientId, change) =>
      changeRecord(store, clientKey(clientId), (value) => {
        const client = value === undefined ? undefined : decodeClient(value)
        if (client === undefined) return { outcome: undefined }
        const registration = change(client.registration)
        requireSameClient(client.registration, registration)
        if (registration === client.registration) return { outcome: registration }
        const written = JSON.stringify({ ...client, registration })
        return { write: { value: written }, outcome: decodeClient(written)?.registration }
      }),

    list: async () => (await all()).map(({ registration }) => registration).toSorted(byClientId),

    noteUse: (clientId, day) =>
      changeRecord(store, clientKey(clientId), (value) => {
        const client = value === undefined ? undefined : decodeClient(value)
        if (client === undefined || (client.usedOn ?? -Infinity) >= day) return { outcome: undefined }
        return { write: { value: JSON.stringify({ ...client, usedOn: day }) }, outcome: undefined }
      }),

    lastUses: async () =>
      new Map(
        (await all()).flatMap(({ registration: { client_id }, usedOn }) =>
          usedOn === undefined ? [] : [[client_id, usedOn] as const],
        ),
      ),
  }
  return isInMemory(store) ? Object.assign(new InMemory(), registry) : registry
}

const kind = 'client:'

export const clientKey = (clientId: string): string => kind + nameOf(clientId)

/** Undefined for a client that registered itself. Each server parses the registration against its capabilities. */
function decodeClient(value: string): RegisteredClient | undefined {
  const client = frozenJson(value)
  if (!isRecord(client)) throw strange()
  const { registration, usedOn, issuedAt } = client
  if (issuedAt !== undefined) return undefined
  if (!isRegistration(registration) || (usedOn !== undefined && typeof usedOn !== 'number')) throw strange()
  return { registration, ...(usedOn !== undefined && { usedOn }) }
}

const isRegistration = (value: unknown): value is ClientRegistration =>
  isRecord(value) && isText(value['client_id'])

const strange = () => new Error('The stored text is no registration of a client.')
