import type { ClientRegistration } from '../protocol/client'
import { isRecord } from '../protocol/configuration'

/** Where registered clients live: the host's own database, for instance. */
export interface ClientStore {
  /** The registration; undefined when there is no such client. */
  find(clientId: string): Promise<ClientRegistration | undefined>
}

/**
 * Registered clients that can be added and changed while servers run. An identifier is never given up: there is no
 * removal, a client is disabled (RFC 6749 2.2: unique to the authorization server). A rejected promise means that the
 * store is in trouble.
 */
export interface ClientRegistry extends ClientStore {
  /** Stores a client, in one atomic act. False when its `client_id` exists; nothing is overwritten then. */
  add(registration: ClientRegistration): Promise<boolean>

  /**
   * Replaces the registration by what `change` makes of it, in one atomic act: `change` is asked again when another
   * writer was faster, and must be pure. Nothing is written when it returns what it was given; what it throws comes
   * through. Resolves to the registration as it is now; undefined when there is no such client.
   */
  update(
    clientId: string,
    change: (registration: ClientRegistration) => ClientRegistration,
  ): Promise<ClientRegistration | undefined>

  /** Every client, disabled ones too, in the order of their identifiers. */
  list(): Promise<readonly ClientRegistration[]>
}

/** Whether a store of clients can be written to. */
export function isClientRegistry(value: unknown): value is ClientRegistry {
  return (
    isRecord(value) && ['find', 'add', 'update', 'list'].every((verb) => typeof value[verb] === 'function')
  )
}

/** What a change makes of a registration. @throws RangeError when it would become another client's. */
export function changed(
  registration: ClientRegistration,
  change: (registration: ClientRegistration) => ClientRegistration,
): ClientRegistration {
  const next = change(registration)
  if (next.client_id !== registration.client_id)
    throw new RangeError('A change of a registration must not change its client_id.')
  return next
}

/** The order in which clients are listed. */
export function byClientId(one: ClientRegistration, other: ClientRegistration): number {
  if (one.client_id === other.client_id) return 0
  return one.client_id < other.client_id ? -1 : 1
}
