import type { ClientRegistration } from '../protocol/client'
import { isList, isRecord, isText } from '../primitives/values'
import { frozenJson, requireSameClient } from './client-store'

/** A client that registered itself (RFC 7591). Holds digests only, no credential in clear. */
export interface DynamicClient {
  /** `client_secret_hashes` holds at most two digests, the current one last. */
  readonly registration: ClientRegistration
  /** Seconds since the epoch: `client_id_issued_at`. */
  readonly issuedAt: number
  /** Seconds since the epoch: the ends of the secrets, in the order of `client_secret_hashes`. */
  readonly secretExpiries: readonly number[]
  /** Digest of the registration access token (RFC 7592 3); undefined for a public client, which has none. */
  readonly registrationTokenDigest: string | undefined
  /** Names the issuer that registered the client. */
  readonly issuerDigest: string
  /** Seconds that a code or token of this client lives at most. */
  readonly tokenLifetime: number
  /** How many registrations of a public client's metadata were removed before. Undefined for none. */
  readonly generation?: number | undefined
  /** The `client_id` of generation 0 of the same metadata. Undefined for generation 0 itself. */
  readonly firstClientId?: string | undefined
}

export interface DynamicClientAddition {
  readonly client: DynamicClient
  /** Whole seconds. */
  readonly lifetime: number
  readonly maximum: number
  /**
   * The network of the client. Default: one network for all additions without a name. A store keeps the name,
   * so it should not be an address in clear.
   */
  readonly network?: string | undefined
  /** Whole seconds without eviction. Default: always. */
  readonly grace?: number | undefined
}

export type DynamicClientAdditionResult =
  | { readonly outcome: 'stored'; readonly client: DynamicClient }
  /** An earlier client has the identifier, and is not overwritten. */
  | { readonly outcome: 'found'; readonly client: DynamicClient }
  /** That earlier client is disabled. */
  | { readonly outcome: 'disabled' }
  /** The client was removed. A public client may register again as this generation, or a later one. */
  | { readonly outcome: 'removed'; readonly generation: number }
  /** `maximum` clients live, and none can be evicted. */
  | { readonly outcome: 'full' }

/**
 * Stores clients that registered themselves. Unlike a `ClientRegistry`, it forgets each client at the end of
 * its lifetime. A rejected promise means that the store failed.
 */
export interface DynamicClientStore {
  /** Resolves to undefined if no client has this identifier, or its lifetime is over. */
  find(clientId: string): Promise<DynamicClient | undefined>

  /**
   * Atomic. An earlier client of the identifier, even a disabled one, lives for at least `lifetime` from now.
   * Stores nothing if the mark of a removed client names a later generation. A client of a later generation
   * than 0 prolongs the mark to its own end at least; so do `extend` and `update`. So at most one
   * registration of the same metadata lives.
   *
   * If `maximum` clients live, an unused one is evicted: in the network with most unused clients, the one
   * whose `grace` ended first. A repeated registration begins its `grace` again. A disabled client, and one
   * that `extend` has held to its end, count as in use. If the latter lives on only because it registers
   * again, it is unused from its former end on.
   */
  add(addition: DynamicClientAddition): Promise<DynamicClientAdditionResult>

  /**
   * Replaces the client by the result of `change`, in one atomic act, and keeps its lifetime. `change` must
   * be pure: it runs again if another writer was faster. Writes nothing if `change` returns its argument, and
   * passes on its errors. A client that is disabled afterwards lives for at least its `tokenLifetime` from
   * now, so it stays disabled as long as its tokens live. Resolves to the stored client; undefined for an
   * unknown one.
   */
  update(
    clientId: string,
    change: (client: DynamicClient) => DynamicClient,
  ): Promise<DynamicClient | undefined>

  /**
   * Atomic. Leaves a mark under the `firstClientId`, or else the `client_id`. The mark names the first
   * generation that may register: the next one, or a later one that a mark already names. The mark of a
   * public client lives as long as the client would have lived, and at least its `tokenLifetime`: no token of
   * a removed client comes back. The mark of a confidential client lives for a minute, against a late copy of
   * its addition. Marks do not count towards `maximum`. Does nothing for an unknown client.
   */
  remove(clientId: string): Promise<void>

  /**
   * Atomic. A client that would end within `unlessLeft` seconds then ends `lifetime` seconds from now; any
   * other keeps its end. Never shortens a lifetime, and brings no client back. The client is not evicted for
   * `lifetime` seconds.
   *
   * @param lifetime whole seconds, `unlessLeft` or more.
   */
  extend(clientId: string, lifetime: number, unlessLeft: number): Promise<void>
}

const verbs = ['find', 'add', 'update', 'remove', 'extend']

export const isDynamicClientStore = (value: unknown): value is DynamicClientStore =>
  isRecord(value) && verbs.every((verb) => typeof value[verb] === 'function')

export const dynamicClientsExpectation =
  'must be a store of dynamic clients, with the functions find, add, update, remove and extend.'

interface RemovalMark {
  /** Of generation 0. The store keeps marks apart from clients. */
  readonly clientId: string
  /** The store keeps the highest. */
  readonly generation: number
  /** At least, in seconds. */
  readonly lifetime: number
  readonly outlivesClient: boolean
}

// Seconds. A confidential identifier is random, so the mark stops only a late copy of its addition.
const lateAdditions = 60

/** A public client must not register again under an identifier that has living tokens. */
export function removalMark(client: DynamicClient): RemovalMark {
  return {
    clientId: markedId(client),
    generation: generationOf(client) + 1,
    lifetime: isPublic(client) ? client.tokenLifetime : lateAdditions,
    outlivesClient: isPublic(client),
  }
}

/** The identifier of a public client follows from its metadata. */
export const isPublic = ({ registrationTokenDigest }: DynamicClient): boolean =>
  registrationTokenDigest === undefined

export const markedId = ({ registration, firstClientId }: DynamicClient): string =>
  firstClientId ?? registration.client_id

export const generationOf = ({ generation = 0 }: DynamicClient): number => generation

/** A disabled client lives as long as its tokens. */
export const leastLifetime = (client: DynamicClient): number =>
  client.registration.disabled === true ? client.tokenLifetime : 0

export const foundResult = (client: DynamicClient): DynamicClientAdditionResult =>
  client.registration.disabled === true ? { outcome: 'disabled' } : { outcome: 'found', client }

export function changedDynamicClient(
  client: DynamicClient,
  change: (client: DynamicClient) => DynamicClient,
): DynamicClient {
  const next = change(client)
  requireSameClient(client.registration, next.registration)
  return next
}

export const encodeDynamicClient = (client: DynamicClient): string => JSON.stringify(client)

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
    isText(issuerDigest) &&
    [issuedAt, tokenLifetime].every(Number.isSafeInteger) &&
    isList(secretExpiries) &&
    secretExpiries.every(Number.isSafeInteger) &&
    [registrationTokenDigest, firstClientId].every(isAbsentOr(isText)) &&
    isAbsentOr(Number.isSafeInteger)(generation)
  )
}

const isAbsentOr =
  (is: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || is(value)
