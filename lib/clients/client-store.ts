import type { ClientRegistration } from '../protocol/client'
import { isRecord, isText } from '../primitives/options-reader'

/**
 * Finds registered clients, for instance in the host's own database. A rejected promise means that the store failed.
 */
export interface ClientStore {
  /** Resolves to the registration; undefined if no client has this identifier. */
  find(clientId: string): Promise<ClientRegistration | undefined>
}

/**
 * Adds and changes registered clients while servers run. A registry has no removal, because an identifier must never
 * name another client (RFC 6749 2.2: unique to the authorization server): `deleteClient()` leaves a registration that is
 * `deleted`, and the identifier stays taken. A rejected promise means that the store failed.
 */
export interface ClientRegistry extends ClientStore {
  /** Stores a client, in one atomic act. Resolves to false, and overwrites nothing, if the `client_id` is taken. */
  add(registration: ClientRegistration): Promise<boolean>

  /**
   * Replaces the registration by the result of `change`, in one atomic act. `change` must be pure: the registry calls
   * `change` again if another writer was faster. The registry writes nothing if `change` returns its argument, and
   * passes on an error that `change` throws. Resolves to the registration as stored now; undefined if no client has
   * this identifier.
   */
  update(
    clientId: string,
    change: (registration: ClientRegistration) => ClientRegistration,
  ): Promise<ClientRegistration | undefined>

  /** Resolves to every client, including disabled and deleted ones, in the order of their identifiers. */
  list(): Promise<readonly ClientRegistration[]>

  /**
   * Notes that a client was used on a day. Keeps the latest day of each client. A server calls `noteUse` once for each
   * client, day and process, beside the write of the code or token. Only a registry that has `lastUses`, too, gets calls.
   *
   * @param day the beginning of the day (UTC), in seconds since the epoch.
   */
  noteUse?(clientId: string, day: number): Promise<void>

  /** Resolves to the last day of each client that was used, by `client_id`, as `noteUse` got it. */
  lastUses?(): Promise<ReadonlyMap<string, number>>
}

/** A registry that knows when each client was last used. */
export type NotingRegistry = ClientRegistry & Required<Pick<ClientRegistry, 'noteUse' | 'lastUses'>>

/** Whether a registry can note the use of clients, and say when each was last used. */
export function notesUses(clients: ClientRegistry): clients is NotingRegistry {
  return typeof clients.noteUse === 'function' && typeof clients.lastUses === 'function'
}

/** Whether a registration is only the rest of a deleted client. */
export function isDeleted({ deleted }: ClientRegistration): boolean {
  return deleted === true
}

/** Whether a value can add and change clients: whether the four verbs of a registry are functions. */
export function isClientRegistry(value: unknown): value is ClientRegistry {
  return (
    isRecord(value) && ['find', 'add', 'update', 'list'].every((verb) => typeof value[verb] === 'function')
  )
}

/** Applies a change to a registration. @throws RangeError if the change alters the `client_id`. */
export function changed(
  registration: ClientRegistration,
  change: (registration: ClientRegistration) => ClientRegistration,
): ClientRegistration {
  const next = change(registration)
  requireSameClient(registration, next)
  return next
}

/** @throws RangeError if two registrations have different identifiers. */
export function requireSameClient(before: ClientRegistration, after: ClientRegistration): void {
  if (after.client_id !== before.client_id)
    throw new RangeError('A change of a registration must not change its client_id.')
}

/** Compares two clients by identifier, for `list`. Plain comparison of UTF-16 code units, so no locale matters. */
export function byClientId(one: ClientRegistration, other: ClientRegistration): number {
  if (one.client_id === other.client_id) return 0
  return one.client_id < other.client_id ? -1 : 1
}

/** Encodes a registration as JSON, for a store. */
export function encodeRegistration(registration: ClientRegistration): string {
  return JSON.stringify(registration)
}

/**
 * Decodes a stored registration, and freezes the registration. Checks the `client_id` only: the server parses the
 * registration later, by every rule and against its own capabilities.
 *
 * @throws Error if the text is no registration.
 */
export function decodeRegistration(text: string): ClientRegistration {
  const value = frozenJson(text)
  if (!isRegistration(value)) throw new Error('The stored text is no registration of a client.')
  return value
}

/**
 * Reads a stored JSON text, and freezes the value; undefined for another text. Drops the error of JSON.parse, because
 * its message quotes the text, and the text may hold a digest.
 */
export function frozenJson(text: string): unknown {
  try {
    return JSON.parse(text, (_key, member: unknown) => Object.freeze(member))
  } catch {
    return undefined
  }
}

const isRegistration = (value: unknown): value is ClientRegistration =>
  isRecord(value) && isText(value['client_id'])
