import type { ClientRegistration } from '../protocol/client'
import { isList, isRecord, isText } from '../protocol/configuration'
import { requireSameClient } from './client-store'
import { frozenJson } from './registered-clients'

/** A client that registered itself (RFC 7591), as a store keeps it. Holds digests only, no credential in clear. */
export interface DynamicClient {
  /** The registration. `client_secret_hashes` holds the digests of at most two secrets, the current one last. */
  readonly registration: ClientRegistration
  /** Seconds since the epoch: `client_id_issued_at`. */
  readonly issuedAt: number
  /** Seconds since the epoch: the end of each secret, in the order of `client_secret_hashes`. */
  readonly secretExpiries: readonly number[]
  /** The digest of the registration access token (RFC 7592 3); undefined for a public client, which has none. */
  readonly registrationTokenDigest: string | undefined
}

/**
 * Stores clients that registered themselves. Unlike a `ClientRegistry`, this store forgets: each client ends with its
 * lifetime. A rejected promise means that the store failed.
 */
export interface DynamicClientStore {
  /** Resolves to the client; undefined if no client has this identifier, or if its lifetime is over. */
  find(clientId: string): Promise<DynamicClient | undefined>

  /**
   * Adds a client, in one atomic act. Resolves to the client that the store now holds under this identifier: this
   * client, or an earlier one, which is not overwritten and lives for `lifetime` from now at least. Resolves to
   * undefined, and adds nothing, if `maximum` clients live: a store drops no living client to make room.
   *
   * @param lifetime whole seconds.
   */
  add(client: DynamicClient, lifetime: number, maximum: number): Promise<DynamicClient | undefined>

  /**
   * Replaces the client by the result of `change`, in one atomic act, and keeps its lifetime. `change` must be pure:
   * the store calls `change` again if another writer was faster. The store writes nothing if `change` returns its
   * argument, and passes on an error that `change` throws. Resolves to the client as stored now; undefined if no client
   * has this identifier.
   */
  update(
    clientId: string,
    change: (client: DynamicClient) => DynamicClient,
  ): Promise<DynamicClient | undefined>

  /** Removes a client. Does nothing if no client has this identifier. */
  remove(clientId: string): Promise<void>

  /**
   * Extends a lifetime, in one atomic act. A client that would end within `unlessLeft` seconds then ends `lifetime`
   * seconds from now. Writes nothing for any other client. Never shortens a lifetime, and brings no client back.
   *
   * @param lifetime whole seconds, `unlessLeft` or more.
   */
  extend(clientId: string, lifetime: number, unlessLeft: number): Promise<void>
}

const verbs = ['find', 'add', 'update', 'remove', 'extend']

/** Whether a value is a store of dynamic clients: whether its five verbs are functions. */
export function isDynamicClientStore(value: unknown): value is DynamicClientStore {
  return isRecord(value) && verbs.every((verb) => typeof value[verb] === 'function')
}

/** Applies a change to a client. @throws RangeError if the change alters the `client_id`. */
export function changedDynamicClient(
  client: DynamicClient,
  change: (client: DynamicClient) => DynamicClient,
): DynamicClient {
  const next = change(client)
  requireSameClient(client.registration, next.registration)
  return next
}

/** Encodes a client as JSON, for a store. */
export function encodeDynamicClient(client: DynamicClient): string {
  return JSON.stringify(client)
}

/**
 * Decodes a stored client, and freezes it. The server parses the registration in it later, by every rule.
 *
 * @throws Error if the text is no client.
 */
export function decodeDynamicClient(text: string): DynamicClient {
  const value = frozenJson(text)
  if (!isDynamicClient(value)) throw new Error('The stored text is no client that registered itself.')
  return value
}

function isDynamicClient(value: unknown): value is DynamicClient {
  if (!isRecord(value)) return false
  const { registration, issuedAt, secretExpiries, registrationTokenDigest } = value
  return (
    isRecord(registration) &&
    isText(registration['client_id']) &&
    Number.isSafeInteger(issuedAt) &&
    isList(secretExpiries) &&
    secretExpiries.every(Number.isSafeInteger) &&
    (registrationTokenDigest === undefined || isText(registrationTokenDigest))
  )
}
