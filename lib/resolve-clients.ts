import { isRecord, type OptionsReader } from './protocol/configuration'
import type { FindClient } from './protocol/client'
import { parseClient, parseStoredClient, type ServerCapabilities } from './protocol/parse-client'
import type { ClientStore } from './stores/client-store'
import { ParsedRegistrations } from './stores/parsed-registrations'
import { configuredClients, storedClients } from './stores/registered-clients'

/** Reads the registered clients: a list, each of which is checked now, or a store, whose answers are checked then. */
export function resolveClients(
  reading: OptionsReader,
  capabilities: ServerCapabilities,
  storeDeadline: number,
): FindClient {
  const cure = 'must be a list of registrations, or a store with a function find(client_id).'
  const given = reading.required<readonly unknown[] | ClientStore>('clients', [], isListOrStore, cure)
  const parsed = new ParsedRegistrations((registration) => parseStoredClient(registration, capabilities))
  if (!isList(given)) return storedClients(given, parsed, storeDeadline)
  const clients = given.map((source, index) => {
    const client = parseClient(source, `${reading.at('clients')}[${index}]`, reading.issues, capabilities)
    return isRecord(source) ? parsed.keep(source, client) : client
  })
  const ids = clients.map(({ client_id }) => client_id)
  for (const [index, id] of ids.entries())
    if (id !== '' && ids.indexOf(id) < index)
      reading.wrong(`clients[${index}].client_id`, `is "${id}", which another client has already.`)
  if (
    clients.some(({ response_types }) => response_types.length > 0) &&
    reading.take('resourceOwner') === undefined
  )
    reading.wrong(
      'resourceOwner',
      'is missing: clients use the authorization endpoint, so it must tell who is logged in.',
    )
  return configuredClients(given, parsed)
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)
const isListOrStore = (value: unknown): value is readonly unknown[] | ClientStore =>
  isList(value) || (isRecord(value) && typeof value['find'] === 'function')
