import { following, inTurns, SingleFlight } from '../primitives/concurrency'
import { BoundedMap } from '../primitives/maps'
import { type Field, kind, optional, rootPlace, shape } from '../primitives/schema'
import { isList, isRecord, isText } from '../primitives/values'
import type { Client, ClientRegistration, FindClient } from '../protocol/client'
import { deletedClient } from '../protocol/parse-client'
import { changeRecord } from '../store/change'
import { aStore, isStore, type Store } from '../store/store'
import { nameOf } from './records'

/** Finds registered clients, for instance in the host's database. A rejected promise means that the store failed. */
export interface ClientStore {
  /** Resolves to undefined if no client has this identifier. */
  find(clientId: string): Promise<ClientRegistration | undefined>
}

const isRegistration = (value: unknown): value is ClientRegistration =>
  isRecord(value) && isText(value['client_id'])

export const aRegistration = kind(isRegistration, 'must be a registration.')

export const isDeleted = ({ deleted }: ClientRegistration): boolean => deleted === true

const kindOfClients = 'client:'
const clientKey = (clientId: string): string => kindOfClients + nameOf(clientId)

const decodedAtMost = 1000

interface Change<Kept, Outcome> {
  readonly next?: Kept | undefined
  readonly seconds?: number
  readonly outcome: Outcome
}

// One object for each version of a record spares a decoding and a parsing.
export class ClientRecords<Kept extends { readonly registration: ClientRegistration }> {
  private readonly decoded = new BoundedMap<{ readonly version: string; readonly client: Kept | undefined }>(
    decodedAtMost,
  )

  constructor(
    private readonly store: Store,
    private readonly by: 'the host' | 'themselves',
    private readonly kept: Field<Kept | undefined>,
  ) {}

  find(clientId: string): Promise<Kept | undefined> {
    return this.read(clientKey(clientId))
  }

  async read(key: string): Promise<Kept | undefined> {
    const found = await this.store.read(key)
    if (found === undefined) return undefined
    const known = this.decoded.get(key)
    if (known?.version === found.version) return known.client
    const client = this.decode(found.value)
    this.decoded.set(key, { version: found.version, client })
    return client
  }

  // As last read here; undefined also for a client that was evicted.
  known(clientId: string): Kept | undefined {
    return this.decoded.get(clientKey(clientId))?.client
  }

  // `decide` must be pure: it may run again.
  change<Outcome>(
    clientId: string,
    decide: (client: Kept | undefined, isOther: boolean) => Change<Kept, Outcome>,
  ): Promise<Outcome> {
    return changeRecord(this.store, clientKey(clientId), (value) => {
      const client = value === undefined ? undefined : this.decode(value)
      const { next, seconds, outcome } = decide(client, value !== undefined && client === undefined)
      if (next === undefined || next === client) return { outcome }
      if (next.registration.client_id !== clientId)
        throw new RangeError('A change of a registration must not change its client_id.')
      return { write: { value: JSON.stringify(next), seconds }, outcome }
    })
  }

  remove(clientId: string): Promise<void> {
    return this.store.remove(clientKey(clientId))
  }

  // Undefined for a client of the other kind.
  private decode(text: string): Kept | undefined {
    const json = frozenJson(text)
    if (isRecord(json) && (json['issuedAt'] === undefined) !== (this.by === 'the host')) return undefined
    const client = this.kept(json, rootPlace(undefined), '')
    if (client === undefined) throw new Error(`The stored text is no client that ${this.by} registered.`)
    return client
  }
}

// The error of JSON.parse quotes the text, which may hold a digest.
function frozenJson(text: string): unknown {
  try {
    return JSON.parse(text, (_key, member: unknown) => Object.freeze(member))
  } catch {
    return undefined
  }
}

interface RegisteredClient {
  readonly registration: ClientRegistration
  // The beginning of a day (UTC), in seconds since the epoch.
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

  /** Resolves to false, and overwrites nothing, if a registered client has the `client_id`. */
  add(registration: ClientRegistration): Promise<boolean> {
    // The host's registration takes the place of one that the client made.
    return this.records.change(registration.client_id, (client) =>
      client === undefined ? { next: { registration }, outcome: true } : { outcome: false },
    )
  }

  /**
   * Replaces the registration by the result of `change`, in one atomic act. `change` must be pure: it may run again.
   * Writes nothing if `change` returns its argument, and passes on its errors. Resolves to the stored registration;
   * undefined for an unknown client.
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
    const registrations = (await this.all()).map(({ registration }) => registration)
    // By UTF-16 code units: no locale matters.
    return registrations.toSorted((one, other) => (one.client_id < other.client_id ? -1 : 1))
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
   * Notes the day of a use. Returns undefined if, by what was last read, nothing is to note.
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
 * The registered clients of a store, which processes and commands change while servers run:
 * `createAuthorizationServer({ store, clients: registeredClients(store), … })`.
 */
export function registeredClients(store: Store): ClientRegistry {
  const at = rootPlace(undefined)
  aStore(store, at, 'store')
  at.throwIssues('registeredClients() cannot work:')
  return new ClientRegistry(store)
}

// Also one of another copy of this package.
export const isClientRegistry = (value: unknown): value is Pick<ClientRegistry, 'store' | 'find'> =>
  isRecord(value) && isStore(value['store']) && typeof value['find'] === 'function'

const day = 24 * 3600

const usedOn = optional(kind((value) => typeof value === 'number', 'must be a day.'))
const registered = shape<RegisteredClient>({ registration: aRegistration, usedOn })

// At each look-up: the host may change the list in place.
export function configuredClients(list: readonly unknown[], parsed: ParsedRegistrations): FindClient {
  const places = new Map<string, number>()
  return (clientId) => {
    const known = places.get(clientId) ?? -1
    const place = isNamed(list[known], clientId) ? known : list.findIndex((each) => isNamed(each, clientId))
    const registration = list[place]
    if (!isRecord(registration)) {
      places.delete(clientId)
      return undefined
    }
    places.set(clientId, place)
    return parsed.clientOf(registration)
  }
}

const isNamed = (source: unknown, clientId: string) => isRecord(source) && source['client_id'] === clientId

export function storedClients(stored: ClientStore['find'], parsed: ParsedRegistrations): FindClient {
  const lookUps = clientLookUps()
  const find = async (clientId: string) => {
    const registration = await stored(clientId)
    if (registration === undefined || registration === null) return undefined
    const client = isDeleted(registration)
      ? deletedClient(registration.client_id)
      : parsed.clientOf(registration)
    // The database may ignore case or trailing spaces.
    return client.client_id === clientId ? client : undefined
  }
  return (clientId) => lookUps.share(clientId, () => find(clientId))
}

const unlessDeleted = (client: Client | undefined) => (client?.deleted === true ? undefined : client)

// Only here: no metadata document and no self-registered client takes their place.
export const withoutDeleted =
  (findClient: FindClient): FindClient =>
  (clientId, sender) =>
    following(findClient(clientId, sender), unlessDeleted)

// For one turn only: a later request may follow a disabling.
export const clientLookUps = () => new SingleFlight<Client | undefined>('end of turn')

// A host may change an object in place (`client.disabled = true`). To compare takes about 0.3 µs, to parse 10 to 20.
export class ParsedRegistrations {
  private readonly parsed = new WeakMap<object, { readonly copy: unknown; readonly client: Client }>()

  constructor(private readonly parse: (registration: object) => Client) {}

  clientOf(registration: object): Client {
    const known = this.parsed.get(registration)
    return known !== undefined && isUnchanged(registration, known.copy)
      ? known.client
      : this.keep(registration, this.parse(registration))
  }

  keep(registration: object, client: Client): Client {
    this.parsed.set(registration, { copy: copyOf(registration), client })
    return client
  }
}

// The parser reads own members only.
function copyOf(value: unknown): unknown {
  if (isList(value)) return value.map(copyOf)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member)]))
}

// For each request: without lists of names.
function isUnchanged(value: unknown, copy: unknown): boolean {
  if (value === copy) return true
  if (isList(value) && isList(copy)) return areUnchanged(value, copy)
  if (!isRecord(value) || !isRecord(copy)) return false
  let surplus = 0
  for (const name in value) if (Object.hasOwn(value, name)) surplus += 1
  for (const name in copy) {
    if (!Object.hasOwn(value, name) || !isUnchanged(value[name], copy[name])) return false
    surplus -= 1
  }
  return surplus === 0
}

function areUnchanged(values: readonly unknown[], copies: readonly unknown[]): boolean {
  if (values.length !== copies.length) return false
  for (let at = 0; at < copies.length; at++) if (!isUnchanged(values[at], copies[at])) return false
  return true
}
