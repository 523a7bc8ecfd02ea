import type { FindClient } from '../protocol/client'
import { isRecord } from '../protocol/configuration'
import type { ClientStore } from './client-store'
import { withinDeadline } from './deadline'
import type { ParsedRegistrations } from './parsed-registrations'

/**
 * Clients of the configuration: found without a round trip. The list is the host's own, and is read as it is now: a
 * registration may be changed in place, taken out or added.
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
 * Clients of the host's own store. A registration is parsed once for as long as the store returns the same object with the
 * same content, and what is asked for many times in one turn is looked up once.
 */
export function storedClients(
  store: ClientStore,
  parsed: ParsedRegistrations,
  deadlineSeconds: number,
): FindClient {
  return onceATurn(async (clientId) => {
    const registration = await withinDeadline(() => store.find(clientId), deadlineSeconds, store)
    if (registration === undefined || registration === null) return undefined
    const client = parsed.clientOf(registration)
    // A database may compare without regard to case or trailing spaces; an identifier is exact.
    return client.client_id === clientId ? client : undefined
  })
}

// Of one turn and no longer: who comes later may come after the client was disabled, and must not see what was read before.
function onceATurn(find: FindClient): FindClient {
  const underWay = new Map<string, ReturnType<FindClient>>()
  return (clientId) => {
    const shared = underWay.get(clientId)
    if (shared !== undefined) return shared
    if (underWay.size === 0) setImmediate(() => underWay.clear())
    const own = find(clientId)
    underWay.set(clientId, own)
    return own
  }
}
