import { inTurns } from '../primitives/concurrency'
import { kind, optional, shape } from '../primitives/schema'
import { isRecord } from '../primitives/values'
import type { ClientRegistration } from '../protocol/client'
import { isStore, type Store } from '../store/store'
import { aRegistration, ClientRecords, type ClientStore, kindOfClients } from './client-records'

/** The record of a client that the host registered. */
interface RegisteredClient {
  readonly registration: ClientRegistration
  /** The beginning of the last day of use (UTC), in seconds since the epoch. */
  readonly usedOn?: number | undefined
}

/** The registered clients of a store, which {@link registeredClients} opens. */
export class ClientRegistry implements ClientStore {
  private readonly records: ClientRecords<RegisteredClient>

  constructor(readonly store: Store) {
    this.records = new ClientRecords(store, 'the host', registered)
  }

  async find(clientId: string): Promise<ClientRegistration | undefined> {
    return (await this.records.find(clientId))?.registration
  }

  /** Resolves to false, and overwrites nothing, if the `client_id` is taken by a registered client. */
  add(registration: ClientRegistration): Promise<boolean> {
    // The host's registration takes the place of one that the client made.
    return this.records.change(registration.client_id, (client) =>
      client === undefined ? { next: { registration }, outcome: true } : { outcome: false },
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
    return this.records.change<ClientRegistration | undefined>(clientId, (client) => {
      if (client === undefined) return { outcome: undefined }
      const registration = change(client.registration)
      const isSame = registration === client.registration
      return { next: isSame ? client : { ...client, registration }, outcome: registration }
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
    const today = Math.floor(seconds / day) * day
    const isNoted = ({ usedOn = -Infinity }: RegisteredClient) => usedOn >= today
    const known = this.records.known(clientId)
    if (known === undefined || isNoted(known)) return undefined
    return this.records.change(clientId, (client) => ({
      next: client === undefined || isNoted(client) ? client : { ...client, usedOn: today },
      outcome: undefined,
    }))
  }

  private async all(): Promise<readonly RegisteredClient[]> {
    const names = await this.store.list('client')
    const found = await inTurns(names, (name) => this.records.read(kindOfClients + name))
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

const usedOn = optional(kind((value) => typeof value === 'number', 'must be a day.'))
const registered = shape<RegisteredClient>({ registration: aRegistration, usedOn })

/** Compares UTF-16 code units, so no locale matters. */
function byClientId(one: ClientRegistration, other: ClientRegistration): number {
  if (one.client_id === other.client_id) return 0
  return one.client_id < other.client_id ? -1 : 1
}
