import { loadBcrypt } from '../client-authentication/bcrypt'
import { kind, type Place } from '../primitives/schema'
import { isList, isRecord } from '../primitives/values'
import { type Client, type ClientRegistration, type FindClient, isBcryptHash } from '../protocol/client'
import type { ExtensionMetadata } from '../protocol/extension-metadata'
import { parseStoredClient, parseWrittenClient, type ServerCapabilities } from '../protocol/parse-client'
import { withDeadline, withinDeadline } from '../store/deadline'
import type { Store } from '../store/store'
import {
  type ClientRegistry,
  type ClientStore,
  configuredClients,
  isClientRegistry,
  ParsedRegistrations,
  registeredClients,
  storedClients,
} from '../stores/clients'
import type { DocumentFetch } from './document-fetch/document-fetch'

export type RegisteredClients = readonly ClientRegistration[] | ClientStore

export const isRegisteredClients = (value: unknown): value is RegisteredClients =>
  isList(value) || (isRecord(value) && typeof value['find'] === 'function')

export const someRegisteredClients = kind(
  isRegisteredClients,
  'must be a list of registrations, or a store with a function find(client_id).',
)

export interface OpeningServer {
  readonly issuer: string
  readonly capabilities: ServerCapabilities
  readonly hasAuthorizationEndpoint: boolean
  readonly store: Store
  readonly storeDeadline: number
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

export interface OpenClients {
  readonly findClient: FindClient
  readonly registered: { readonly clients: RegisteredClients; readonly path: string }
  // With the deadline of the server.
  readonly clientRegistry?: ClientRegistry | undefined
  readonly clientDocuments?: DocumentFetch | undefined
  readonly clientMetadata?: ExtensionMetadata
}

export function openRegistered(
  given: RegisteredClients,
  path: string,
  at: Place,
  { capabilities, hasAuthorizationEndpoint, storeDeadline }: OpeningServer,
): OpenClients {
  const registered = { clients: given, path }
  const parsed = new ParsedRegistrations((registration) => parseStoredClient(registration, capabilities))
  if (isClientRegistry(given)) {
    const registry = registeredClients(withDeadline(given.store, storeDeadline))
    const findClient = storedClients((clientId) => registry.find(clientId), parsed)
    return { findClient, registered, clientRegistry: registry }
  }
  if (!isList(given)) {
    const find = (clientId: string) => withinDeadline(async () => given.find(clientId), storeDeadline, given)
    return { findClient: storedClients(find, parsed), registered }
  }
  const clients = given.map((source, index): Client => {
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
  return { findClient: configuredClients(given, parsed), registered }
}
