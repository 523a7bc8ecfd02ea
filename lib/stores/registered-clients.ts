import type { Client, FindClient } from '../protocol/client'
import { deletedClient } from '../protocol/parse-client'
import { isList, isRecord } from '../primitives/options-reader'
import { SingleFlight } from '../primitives/single-flight'
import { type ClientStore, isDeleted } from '../clients/client-store'
import { withinDeadline } from './deadline'

/**
 * Finds clients in the list of the configuration, without a round trip. Reads the current content of the list at each
 * look-up, because the host may change a registration in place, remove one or add one.
 */
export function configuredClients(list: readonly unknown[], parsed: ParsedRegistrations): FindClient {
  const places = new Map<string, number>()
  return (clientId) => {
    const isNamed = (source: unknown) => isRecord(source) && source['client_id'] === clientId
    const known = places.get(clientId)
    const place = known !== undefined && isNamed(list[known]) ? known : list.findIndex(isNamed)
    const registration = list[place]
    if (!isRecord(registration)) {
      places.delete(clientId)
      return undefined
    }
    places.set(clientId, place)
    return parsed.clientOf(registration)
  }
}

/**
 * Finds clients in a store. Parses a registration again only if the store returns another object or other content.
 * Shares one look-up among all requests for a client in one turn of the event loop.
 */
export function storedClients(
  store: ClientStore,
  parsed: ParsedRegistrations,
  deadlineSeconds: number,
): FindClient {
  const lookUps = clientLookUps()
  const find = async (clientId: string) => {
    const registration = await withinDeadline(() => store.find(clientId), deadlineSeconds, store)
    if (registration === undefined || registration === null) return undefined
    const client = isDeleted(registration)
      ? deletedClient(registration.client_id)
      : parsed.clientOf(registration)
    // The database may ignore case or trailing spaces when it compares. An identifier must match exactly.
    return client.client_id === clientId ? client : undefined
  }
  return (clientId) => lookUps.share(clientId, () => find(clientId))
}

const unlessDeleted = (client: Client | undefined) => (client?.deleted === true ? undefined : client)

/**
 * Hides deleted clients. Until here they are found, so that no metadata document and no client that registers itself
 * comes in their place.
 */
export function withoutDeleted(findClient: FindClient): FindClient {
  return (clientId, sender) => {
    const found = findClient(clientId, sender)
    return found instanceof Promise ? found.then(unlessDeleted) : unlessDeleted(found)
  }
}

/**
 * The look-ups of clients that requests share in one turn of the event loop. No longer: a later request may arrive
 * after the client was disabled, and must not get the registration from before.
 */
export const clientLookUps = () => new SingleFlight<Client | undefined>('end of turn')

interface Parsed {
  /** A copy of the registration, made when this class parsed the registration. */
  readonly copy: unknown
  readonly client: Client
}

/**
 * Cache of parsed registrations, by object. Each look-up compares the object with the copy from the last parsing,
 * because a host may change an object in place (`client.disabled = true`), and the next request must notice. The
 * comparison takes about 0.3 µs, parsing 10 to 20 µs.
 */
export class ParsedRegistrations {
  private readonly parsed = new WeakMap<object, Parsed>()

  /** @param parse parses a registration, and throws if the registration cannot work. */
  constructor(private readonly parse: (registration: object) => Client) {}

  /** Returns the client that the registration describes now. @throws the error of `parse`. */
  clientOf(registration: object): Client {
    const known = this.parsed.get(registration)
    return known !== undefined && isUnchanged(registration, known.copy)
      ? known.client
      : this.keep(registration, this.parse(registration))
  }

  /** Stores a client that the caller has parsed, and returns the client. */
  keep(registration: object, client: Client): Client {
    this.parsed.set(registration, { copy: copyOf(registration), client })
    return client
  }
}

// Stands for an object in a copy: the own members of the object, in order. The parser reads no other members.
class Members {
  readonly names: readonly string[]
  readonly values: readonly unknown[]

  constructor(source: object) {
    this.names = Object.keys(source)
    this.values = Object.values(source).map(copyOf)
  }
}

function copyOf(value: unknown): unknown {
  if (isList(value)) return value.map(copyOf)
  return typeof value === 'object' && value !== null ? new Members(value) : value
}

function isUnchanged(value: unknown, copy: unknown): boolean {
  if (value === copy) return true
  if (isList(copy)) return isList(value) && areUnchanged(value, copy)
  if (!(copy instanceof Members) || typeof value !== 'object' || value === null || isList(value)) return false
  return areUnchanged(Object.keys(value), copy.names) && areUnchanged(Object.values(value), copy.values)
}

function areUnchanged(values: readonly unknown[], copies: readonly unknown[]): boolean {
  if (values.length !== copies.length) return false
  for (let at = 0; at < copies.length; at++) if (!isUnchanged(values[at], copies[at])) return false
  return true
}
