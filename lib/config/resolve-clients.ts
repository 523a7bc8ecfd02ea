import { documentFetch } from '../clients/document-fetch/document-fetch'
import { isMetadataDocuments, type MetadataDocuments } from '../clients/metadata-documents/metadata-documents'
import {
  isRegisteredClients,
  openRegistered,
  type OpeningServer,
  type RegisteredClients,
} from '../clients/open-clients'
import { kind, needed, type Place } from '../primitives/schema'
import type { ServerSettings } from './settings'

const isClients = (value: unknown): value is RegisteredClients | MetadataDocuments =>
  isRegisteredClients(value) || isMetadataDocuments(value)

const someClients = kind(
  isClients,
  'must be a list of registrations, a store with a function find(client_id), or metadataDocuments().',
)

export function resolveClients(
  at: Place,
  server: OpeningServer,
): Pick<
  ServerSettings,
  'findClient' | 'clientRegistry' | 'registered' | 'clientDocuments' | 'clientMetadata'
> {
  const given = at.field('clients', needed([], someClients))
  const opened = isMetadataDocuments(given)
    ? given.open(at, server)
    : openRegistered(given, 'clients', at, server)
  return {
    findClient: opened.find,
    clientRegistry: opened.registry,
    registered: opened.registered,
    clientDocuments: opened.documents ?? documentFetch({ issuer: server.issuer, clock: server.clock }),
    clientMetadata: opened.metadata ?? {},
  }
}
