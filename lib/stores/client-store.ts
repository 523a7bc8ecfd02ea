import { BoundedMap } from '../primitives/maps'
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

export const isDeleted = ({ deleted }: ClientRegistration): boolean => deleted === true

export function requireSameClient(before: ClientRegistration, after: ClientRegistration): void {
  if (after.client_id !== before.client_id)
    throw new RangeError('A change of a registration must not change its client_id.')
}

const decodedAtMost = 1000

/** The same object for the same version of a record spares a decoding, and a parsing of the registration in it. */
export class DecodedClients<Kept> {
  private readonly read = new BoundedMap<{ readonly version: string; readonly client: Kept | undefined }>(
    decodedAtMost,
  )

  constructor(private readonly decode: (value: string) => Kept | undefined) {}

  /** As it was last read here; undefined also for a client that was evicted. */
  known(key: string): Kept | undefined {
    return this.read.get(key)?.client
  }

  at(key: string, { value, version }: StoredValue): Kept | undefined {
    const known = this.read.get(key)
    if (known?.version === version) return known.client
    const client = this.decode(value)
    this.read.put(key, { version, client })
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
