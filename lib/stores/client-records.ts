import { BoundedMap } from '../primitives/maps'
import { type Field, kind, rootPlace } from '../primitives/schema'
import { isRecord, isText } from '../primitives/values'
import type { ClientRegistration } from '../protocol/client'
import { changeRecord } from '../store/change'
import type { Store } from '../store/store'
import { nameOf } from './records'

/**
 * Finds registered clients, for instance in the host's database. A rejected promise means that the store
 * failed.
 */
export interface ClientStore {
  /** Resolves to undefined if no client has this identifier. */
  find(clientId: string): Promise<ClientRegistration | undefined>
}

const isRegistration = (value: unknown): value is ClientRegistration =>
  isRecord(value) && isText(value['client_id'])

/** Each server parses it against its capabilities. */
export const aRegistration = kind(isRegistration, 'must be a registration.')

export const isDeleted = ({ deleted }: ClientRegistration): boolean => deleted === true

export const kindOfClients = 'client:'
const clientKey = (clientId: string): string => kindOfClients + nameOf(clientId)

const decodedAtMost = 1000

interface Change<Kept, Outcome> {
  /** Undefined, or the client as it was: nothing is written. */
  readonly next?: Kept | undefined
  readonly seconds?: number
  readonly outcome: Outcome
}

/** The same object for the same version of a record spares a decoding, and a parsing of the registration in it. */
export class ClientRecords<Kept extends { readonly registration: ClientRegistration }> {
  private readonly decoded = new BoundedMap<{ readonly version: string; readonly client: Kept | undefined }>(
    decodedAtMost,
  )

  /** @param by who registered these clients. */
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

  /** As it was last read here; undefined also for a client that was evicted. */
  known(clientId: string): Kept | undefined {
    return this.decoded.get(clientKey(clientId))?.client
  }

  /** @param decide must be pure: it runs again if another writer was faster. */
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

  /** Undefined for a client of the other kind. */
  private decode(text: string): Kept | undefined {
    const json = frozenJson(text)
    if (isRecord(json) && (json['issuedAt'] === undefined) !== (this.by === 'the host')) return undefined
    const client = this.kept(json, rootPlace(undefined), '')
    if (client === undefined) throw new Error(`The stored text is no client that ${this.by} registered.`)
    return client
  }
}

/** The error of JSON.parse quotes the text, which may hold a digest. */
function frozenJson(text: string): unknown {
  try {
    return JSON.parse(text, (_key, member: unknown) => Object.freeze(member))
  } catch {
    return undefined
  }
}
