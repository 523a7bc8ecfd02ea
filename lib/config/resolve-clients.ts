import { kind, needed, type Place } from '../primitives/schema'
import { isList, isRecord } from '../primitives/values'
import { loadBcrypt } from '../client-authentication/bcrypt'
import { isBcryptHash } from '../protocol/client'
import type { Lifetimes } from '../authorization/lifetimes'
import { parseStoredClient, parseWrittenClient, type ServerCapabilities } from '../protocol/parse-client'
import {
  type ClientSource,
  isClientSource,
  type OpenClients,
  type RegisteredClients,
} from '../clients/client-source'
import { fetchOfServer } from '../clients/document-fetch/document-fetch'
import { isClientRegistry, registeredClients } from '../stores/registered'
import { configuredClients, ParsedRegistrations, storedClients } from '../stores/registered-clients'
import { withDeadline, withinDeadline } from '../store/deadline'
import type { Store } from '../store/store'
import { documentsIn } from '../stores/records'
import type { ServerSettings } from './settings'

interface OpeningServer {
  readonly issuer: string
  readonly capabilities: ServerCapabilities
  readonly hasAuthorizationEndpoint: boolean
  readonly store: Store
  readonly storeDeadline: number
  readonly lifetimes: Lifetimes
  readonly clock: () => number
}

/** Checks a list now, and the registrations of a store when the store returns them. */
export function resolveClients(
  at: Place,
  server: OpeningServer,
): Pick<
  ServerSettings,
  'findClient' | 'noteClientUse' | 'clientRegistry' | 'registered' | 'clientDocuments' | 'clientMetadata'
> {
  const cure =
    'must be a list of registrations, a store with a function find(client_id), or a source such as metadataDocuments().'
  const given = at.field('clients', needed([], kind(isClients, cure)))
  const {
    find,
    noteUse,
    registered,
    registry,
    documents,
    metadata = {},
  } = isClientSource(given) ? openSource(given, at, server) : openRegistered(given, 'clients', at, server)
  return {
    findClient: find,
    noteClientUse: noteUse,
    clientRegistry: registry,
    registered,
    clientDocuments: documents ?? fetchOfServer(server.issuer, server.clock),
    clientMetadata: metadata,
  }
}

const isRegistered = (value: unknown): value is RegisteredClients =>
  isList(value) || (isRecord(value) && typeof value['find'] === 'function')
const isClients = (value: unknown): value is RegisteredClients | ClientSource =>
  isRegistered(value) || isClientSource(value)

function openRegistered(
  given: RegisteredClients,
  path: string,
  at: Place,
  { capabilities, hasAuthorizationEndpoint, storeDeadline }: OpeningServer,
): OpenClients {
  const registered = { clients: given, path }
  const parsed = new ParsedRegistrations((registration) => parseStoredClient(registration, capabilities))
  if (isClientRegistry(given)) {
    const registry = registeredClients(withDeadline(given.store, storeDeadline))
    return { find: storedClients((clientId) => registry.find(clientId), parsed), registered, registry }
  }
  if (!isList(given)) {
    const find = (clientId: string) => withinDeadline(async () => given.find(clientId), storeDeadline, given)
    return { find: storedClients(find, parsed), registered }
  }
  const clients = given.map((source, index) => {
    const client = parseWrittenClient(source, `${path}[${index}]`, at.issues, capabilities)
    return isRecord(source) ? parsed.keep(source, client) : client
  })
  const ids = clients.map(({ client_id }) => client_id)
  for (const [index, id] of ids.entries())
    if (id !== '' && ids.indexOf(id) < index)
      at.wrong(`${path}[${index}].client_id`, `is "${id}", which another client has already.`)
  if (clients.some(({ client_secret_hashes }) => client_secret_hashes.some(isBcryptHash))) loadBcrypt()
  if (clients.some(({ response_types }) => response_types.length > 0) && !hasAuthorizationEndpoint)
    at.wrong(
      'resourceOwner',
      'is missing: clients use the authorization endpoint, so resourceOwner must return who is logged in.',
    )
  return { find: configuredClients(given, parsed), registered }
}

function openSource(source: ClientSource, at: Place, server: OpeningServer): OpenClients {
  const wrong = (path: string, message: string) =>
    at.wrong(path === '' ? 'clients' : `clients.${path}`, message)
  const { issuer, capabilities, hasAuthorizationEndpoint, lifetimes, clock } = server
  // The end of a grant only shortens the other lifetimes.
  const { grant: _end, ...longest } = lifetimes
  return source.open({
    issuer,
    capabilities,
    hasAuthorizationEndpoint,
    clock,
    longestLifetime: Math.max(...Object.values(longest)),
    storedDocuments: documentsIn(server.store),
    parse: (registration) => parseStoredClient(registration, capabilities),
    openRegistered(clients, path) {
      if (isRegistered(clients)) return openRegistered(clients, `clients.${path}`, at, server)
      wrong(path, 'must be a list of registrations, or a store with a function find(client_id).')
      return { find: () => undefined }
    },
    wrong,
  })
}
