import { BoundedMap } from '../primitives/bounded-map'
import { isRecord } from '../primitives/values'
import type { ClientRegistration } from '../protocol/client'
import type { StoredValue } from '../store/store'

/**
 * Finds registered clients, for instance in the host's database. A rejected promise means that the store
 * failed.
 */
export interface ClientStore {
  /** Resolves to undefined if no client has this identifier. */
  find(clientId: string): Promise<ClientRegistration | undefined>
}

/**
 * Adds and changes registered clients while servers run. An identifier must never name another client (RFC
 * 6749 2.2), so there is no removal: `deleteClient()` leaves a `deleted` registration. A rejected promise
 * means that the store failed.
 */
export interface ClientRegistry extends ClientStore {
  /** Atomic. Resolves to false, and overwrites nothing, if the `client_id` is taken by a registered client. */
  add(registration: ClientRegistration): Promise<boolean>

  /**
   * Replaces the registration by the result of `change`, in one atomic act. `change` must be pure: it runs
   * again if another writer was faster. Writes nothing if `change` returns its argument, and passes on its
   * errors. Resolves to the stored registration; undefined for an unknown client.
   */
  update(
    clientId: string,
    change: (registration: ClientRegistration) => ClientRegistration,
  ): Promise<ClientRegistration | undefined>

  /** Resolves to every client, also disabled and deleted ones, in the order of identifiers. */
  list(): Promise<readonly ClientRegistration[]>

  /**
   * Notes that a client was used on a day, and keeps the latest day. A server calls it once per client, day
   * and process, beside the write of the code or token; and only if the registry also has `lastUses`.
   *
   * @param day the beginning of the day (UTC), in seconds since the epoch.
   */
  noteUse?(clientId: string, day: number): Promise<void>

  /** Resolves to the last day of each used client, by `client_id`, as `noteUse` got it. */
  lastUses?(): Promise<ReadonlyMap<string, number>>
}

type NotingRegistry = ClientRegistry & Required<Pick<ClientRegistry, 'noteUse' | 'lastUses'>>

export const notesUses = (clients: ClientRegistry): clients is NotingRegistry =>
  typeof clients.noteUse === 'function' && typeof clients.lastUses === 'function'

export const isDeleted = ({ deleted }: ClientRegistration): boolean => deleted === true

export const isClientRegistry = (value: unknown): value is ClientRegistry =>
  isRecord(value) && ['find', 'add', 'update', 'list'].every((verb) => typeof value[verb] === 'function')

export function requireSameClient(before: ClientRegistration, after: ClientRegistration): void {
  if (after.client_id !== before.client_id)
    throw new RangeError('A change of a registration must not change its client_id.')
}

/** Compares UTF-16 code units, so no locale matters. */
export function byClientId(one: ClientRegistration, other: ClientRegistration): number {
  if (one.client_id === other.client_id) return 0
  return one.client_id < other.client_id ? -1 : 1
}

const decodedAtMost = 1000

/** The same object for the same version of a record spares a decoding, and a parsing of the registration in it. */
export class DecodedClients<Kept> {
  private readonly known = new BoundedMap<{ readonly version: string; readonly client: Kept | undefined }>(
    decodedAtMost,
  )

  constructor(private readonly decode: (value: string) => Kept | undefined) {}

  at(key: string, { value, version }: StoredValue): Kept | undefined {
    const known = this.known.get(key)
    if (known?.version === version) return known.client
    const client = this.decode(value)
    this.known.put(key, { version, client })
    return client
  }
}

/** The error of JSON.parse quotes the text, which may hold a digest. */
export function frozenJson(text: string): unknown {
  try {
    return JSON.parse(text, (_key, member: unknown) => Object.freeze(member))
  } catch {
    return undefined
  }
}
