import { inTurns } from '../primitives/concurrency'
import { isRecord, isText } from '../primitives/values'
import type { ClientRegistration } from '../protocol/client'
import { isStore } from '../store/a-store'
import { changeRecord } from '../store/change'
import type { Store } from '../store/store'
import { type ClientStore, DecodedClients, frozenJson, requireSameClient } from './client-store'
import { nameOf } from './records'

/** The record of a client that the host registered. */
interface RegisteredClient {
  readonly registration: ClientRegistration
  /** The beginning of the last day of use (UTC), in seconds since the epoch. */
  readonly usedOn?: number | undefined
}

/** The registered clients of a store, which {@link registeredClients} opens. */
export class ClientRegistry implements ClientStore {
  private readonly decoded = new DecodedClients(decodeClient)

  constructor(readonly store: Store) {}

  async find(clientId: string): Promise<ClientRegistration | undefined> {
    return (await this.read(clientKey(clientId)))?.registration
  }

  /** Resolves to false, and overwrites nothing, if the `client_id` is taken by a registered client. */
  add(registration: ClientRegistration): Promise<boolean> {
    return changeRecord(this.store, clientKey(registration.client_id), (value) =>
      // The host's registration takes the place of one that the client made.
      value === undefined || decodeClient(value) === undefined
        ? { write: { value: JSON.stringify({ registration }) }, outcome: true }
        : { outcome: false },
    )
  }

  /**
   * Replaces the registration by the result of `change`, in one atomic act. `change` must be pure: it runs again if
   * another writer was faster. Writes nothing if `change` returns its argument, and passes on its errors. Resolves to
   * the stored registration; undefined for an unknown client.
   */
  update(
    clientId: string,
    change: (registration: ClientRegistration) => ClientRegistration,
  ): Promise<ClientRegistration | undefined> {
    return changeRecord(this.store, clientKey(clientId), (value) => {
      const client = value === undefined ? undefined : decodeClient(value)
      if (client === undefined) return { outcome: undefined }
      const registration = change(client.registration)
      requireSameClient(client.registration, registration)
      if (registration === client.registration) return { outcome: registration }
      const written = JSON.stringify({ ...client, registration })
      return { write: { value: written }, outcome: decodeClient(written)?.registration }
    })
  }

  /** Resolves to every client, also disabled and deleted ones, in the order of identifiers. */
  async list(): Promise<readonly ClientRegistration[]> {
    return (await this.all()).map(({ registration }) => registration).toSorted(byClientId)
  }

  /** Resolves to the last day of each used client, by `client_id`: its beginning (UTC), in seconds since the epoch. */
  async lastUses(): Promise<ReadonlyMap<string, number>> {
    const all = await this.all()
    return new Map(
      all.flatMap(({ registration: { client_id }, usedOn }) =>
        usedOn === undefined ? [] : [[client_id, usedOn] as const],
      ),
    )
  }

  /**
   * Notes the day of a use. A server calls it beside the write of a code or token. Returns undefined if there is nothing
   * to note, by what was last read of the client.
   *
   * @param seconds since the epoch.
   */
  noteUse(clientId: string, seconds: number): Promise<void> | undefined {
    const key = clientKey(clientId)
    const today = Math.floor(seconds / day) * day
    const isNoted = ({ usedOn = -Infinity }: RegisteredClient) => usedOn >= today
    const known = this.decoded.known(key)
    if (known === undefined || isNoted(known)) return undefined
    return changeRecord(this.store, key, (value) => {
      const client = value === undefined ? undefined : decodeClient(value)
      if (client === undefined || isNoted(client)) return { outcome: undefined }
      return { write: { value: JSON.stringify({ ...client, usedOn: today }) }, outcome: undefined }
    })
  }

  private async read(key: string): Promise<RegisteredClient | undefined> {
    const found = await this.store.read(key)
    return found && this.decoded.at(key, found)
  }

  private async all(): Promise<readonly RegisteredClient[]> {
    const found = await inTurns(await this.store.list('client'), (name) => this.read(kind + name))
    return found.filter((client) => client !== undefined)
  }
}

/**
 * The registered clients of a store, which processes and commands change while servers run. For the option `clients`:
 * `createAuthorizationServer({ store, clients: registeredClients(store), … })`.
 */
export const registeredClients = (store: Store): ClientRegistry => new ClientRegistry(store)

/** Also one of another copy of this package. */
export const isClientRegistry = (value: unknown): value is Pick<ClientRegistry, 'store' | 'find'> =>
  isRecord(value) && isStore(value['store']) && typeof value['find'] === 'function'

const day = 24 * 3600
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

/** Compares UTF-16 code units, so no locale matters. */
function byClientId(one: ClientRegistration, other: ClientRegistration): number {
  if (one.client_id === other.client_id) return 0
  return one.client_id < other.client_id ? -1 : 1
}

const strange = () => new Error('The stored text is no registration of a client.')
