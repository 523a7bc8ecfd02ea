import type { ClientRegistration } from '../protocol/client'
import { isList, isRecord, isText } from '../primitives/options-reader'
import { frozenJson, requireSameClient } from './client-store'

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
  /** Names the issuer that registered the client. Undefined for a client of version 0.1.0. */
  readonly issuerDigest?: string | undefined
  /** Seconds that a code or token of this client lives at most. Undefined for a client of version 0.1.0. */
  readonly tokenLifetime?: number | undefined
  /** How many registrations of the same metadata were removed before, for a public client. Undefined for none. */
  readonly generation?: number | undefined
  /** The `client_id` of generation 0 of the same metadata. Undefined for generation 0 itself. */
  readonly firstClientId?: string | undefined
}

/** A client that registers now. */
export interface DynamicClientAddition {
  readonly client: DynamicClient
  /** Whole seconds that the client lives. */
  readonly lifetime: number
  /** How many clients may live at the same time. */
  readonly maximum: number
  /**
   * Names the network that the client registers from. Default: one network for all additions that name none. A store
   * keeps the name as it is, so it should not be an address in clear.
   */
  readonly network?: string | undefined
  /** Whole seconds in which the client gives way to no other. Default: it never gives way. */
  readonly grace?: number | undefined
}

/** What became of an {@link DynamicClientAddition}. */
export type DynamicClientAdditionResult =
  /** The store now holds this client. */
  | { readonly outcome: 'stored'; readonly client: DynamicClient }
  /** An earlier client has the identifier. The store did not overwrite it. */
  | { readonly outcome: 'found'; readonly client: DynamicClient }
  /** An earlier client has the identifier, and is disabled. */
  | { readonly outcome: 'disabled' }
  /** The client of this identifier was removed. A public client may register again as this generation, or a later one. */
  | { readonly outcome: 'removed'; readonly generation: number }
  /** `maximum` clients live, and none of them gives way. */
  | { readonly outcome: 'full' }

/**
 * Stores clients that registered themselves. Unlike a `ClientRegistry`, this store forgets: each client ends with its
 * lifetime. A rejected promise means that the store failed.
 */
export interface DynamicClientStore {
  /** Resolves to the client; undefined if no client has this identifier, or if its lifetime is over. */
  find(clientId: string): Promise<DynamicClient | undefined>

  /**
   * Adds a client, in one atomic act. An earlier client of the identifier lives for `lifetime` from now at least, even
   * if it is disabled. Stores nothing if the mark of a removed client names a later generation than this one. A client of a later
   * generation than 0 prolongs the mark to its own end at least, and so do `extend` and `update`: of one set of metadata,
   * one registration lives at most.
   *
   * If `maximum` clients live, an unused one gives way: of the network that has most unused clients, the one that could
   * give way first. It may give way when its `grace` is over, which begins again when the client registers again. A
   * client that `extend` has held to its end is in use, and a disabled one counts as in use. If such a client lives on
   * only because it registers again, it is unused again when it would have ended, unless it is disabled.
   */
  add(addition: DynamicClientAddition): Promise<DynamicClientAdditionResult>

  /**
   * Replaces the client by the result of `change`, in one atomic act, and keeps its lifetime. `change` must be pure:
   * the store calls `change` again if another writer was faster. The store writes nothing if `change` returns its
   * argument, and passes on an error that `change` throws. A client that is disabled afterwards lives for its
   * `tokenLifetime` from now at least, so that it stays disabled as long as its tokens live. Resolves to the client as
   * stored now; undefined if no client has this identifier.
   */
  update(
    clientId: string,
    change: (client: DynamicClient) => DynamicClient,
  ): Promise<DynamicClient | undefined>

  /**
   * Removes a client, and leaves a mark under its `firstClientId`, or else under its `client_id`, in one atomic act. The
   * mark names the first generation that may register: the one after this client, or a later one that a mark already
   * names. The mark of a public client lives as long as the client would have lived, and for its `tokenLifetime` at
   * least, so that no token of a removed client comes back. The mark of a confidential client lives for a minute, against
   * a late copy of its addition. Marks do not count towards `maximum`. Does nothing if no client has this identifier.
   */
  remove(clientId: string): Promise<void>

  /**
   * Extends a lifetime, in one atomic act. A client that would end within `unlessLeft` seconds then ends `lifetime`
   * seconds from now. Any other client keeps its end. Never shortens a lifetime, and brings no client back. The client
   * gives way to no other for `lifetime` seconds.
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

/** Says what a store of dynamic clients needs, as the rest of a sentence that begins with the path of the option. */
export const dynamicClientsExpectation =
  'must be a store of dynamic clients, with the functions find, add, update, remove and extend.'

/** What a store remembers of a removed client. */
interface RemovalMark {
  /** The identifier under which the store keeps the mark, apart from the clients: that of generation 0. */
  readonly clientId: string
  /** The first generation that may register. A store keeps the highest, if it has a mark already. */
  readonly generation: number
  /** Seconds that the mark lives at least. */
  readonly lifetime: number
  /** Whether the mark lives as long as the client would have lived, if that is longer. */
  readonly outlivesClient: boolean
}

// Seconds. The identifier of a confidential client is random, so its mark stops only a late copy of its addition.
const lateAdditions = 60

// Seconds: the default lifetime of a client, for clients of version 0.1.0.
const usualTokenLifetime = 90 * 24 * 3600

/**
 * The mark of a client that is removed now. The mark of a public client lives as long as any of its tokens: its
 * metadata may register again, but not under an identifier that has living tokens.
 */
export function removalMark(client: DynamicClient): RemovalMark {
  return {
    clientId: markedId(client),
    generation: generationOf(client) + 1,
    lifetime: isPublic(client) ? longestToken(client) : lateAdditions,
    outlivesClient: isPublic(client),
  }
}

/** Whether a client is public: its identifier follows from its metadata, and it has no registration access token. */
export function isPublic({ registrationTokenDigest }: DynamicClient): boolean {
  return registrationTokenDigest === undefined
}

/** The identifier under which the mark of a client stands. */
export function markedId({ registration, firstClientId }: DynamicClient): string {
  return firstClientId ?? registration.client_id
}

/** The generation of a client. */
export function generationOf({ generation = 0 }: DynamicClient): number {
  return generation
}

/** Seconds that a client lives at least from a change on: as long as its tokens if it is disabled, else 0. */
export function leastLifetime(client: DynamicClient): number {
  return client.registration.disabled === true ? longestToken(client) : 0
}

const longestToken = ({ tokenLifetime = usualTokenLifetime }: DynamicClient): number => tokenLifetime

/** What became of an addition to an identifier that has this client already. */
export function foundResult(client: DynamicClient): DynamicClientAdditionResult {
  return client.registration.disabled === true ? { outcome: 'disabled' } : { outcome: 'found', client }
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
  const { issuerDigest, tokenLifetime, generation, firstClientId } = value
  return (
    isRecord(registration) &&
    isText(registration['client_id']) &&
    Number.isSafeInteger(issuedAt) &&
    isList(secretExpiries) &&
    secretExpiries.every(Number.isSafeInteger) &&
    [registrationTokenDigest, issuerDigest, firstClientId].every(isAbsentOr(isText)) &&
    [tokenLifetime, generation].every(isAbsentOr(Number.isSafeInteger))
  )
}

const isAbsentOr =
  (is: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || is(value)
