import { following } from '../../primitives/concurrency'
import { aFlag } from '../../primitives/fields'
import {
  type Field,
  type Fields,
  group,
  kind,
  optional,
  Place,
  type Read,
  rows,
  usual,
} from '../../primitives/schema'
import {
  addressLookup,
  aDocumentFetch,
  authorities,
  type DocumentFetch,
  type DocumentFetchOptions,
  documentFetch,
} from '../document-fetch/document-fetch'
import { isTooLong } from '../../protocol/parameters'
import { allowedGrantTypes, allowedScope, type ServerCapabilities } from '../../protocol/parse-client'
import { UnusableClient } from '../../protocol/refusals'
import type { Sender } from '../../protocol/sender'
import { plainUrl } from '../../protocol/uri'
import {
  type OpenClients,
  type OpeningServer,
  openRegistered,
  type RegisteredClients,
  someRegisteredClients,
} from '../open-clients'
import { documentsIn } from '../../stores/records'
import { isList, isRecord, isText, requireBoolean } from '../../primitives/values'
import { DocumentCache } from './document-cache'

export interface MetadataDocumentsOptions {
  /**
   * Registered clients beside those of documents, as for the option `clients`. A disabled one blocks its URL.
   * Default none.
   */
  readonly registered?: RegisteredClients
  /**
   * Which documents the server accepts: a function of the `client_id`, or a list of hosts (`app.example`), of
   * all hosts below a domain (`*.app.example`), of URLs, and of URL prefixes that end with a slash. Asked at
   * each request. Default: every document.
   */
  readonly allow?: readonly string[] | ((clientId: string) => boolean | Promise<boolean>)
  /** The scope that such clients may ask for, separated by spaces. Default: every scope. */
  readonly scope?: string
  /** The grant types that such clients may use. Default `['authorization_code', 'refresh_token']`. */
  readonly grantTypes?: readonly string[]
  /**
   * Whether a redirection URI at `http://localhost` matches every port, as `http://127.0.0.1` does. Deviates
   * from RFC 8252 8.3: another program may answer at `localhost`. Default `false`.
   */
  readonly localhostRedirects?: boolean
  /** Finds the addresses of a host. Default: DNS. */
  readonly lookup?: DocumentFetchOptions['lookup']
  /** The certificate authorities, in the form of `node:tls`. Default: those of Node. */
  readonly ca?: DocumentFetchOptions['ca']
  /**
   * Fetches documents in place of `lookup` and `ca`, for example through a proxy, and must keep strangers out
   * of your network. Default: over https, at most 5 KiB, never from inside your network.
   */
  readonly documents?: DocumentFetch
}

export interface MetadataDocuments {
  /** For the server, at construction. */
  open(at: Place, server: OpeningServer): OpenClients
}

export const isMetadataDocuments = (value: unknown): value is MetadataDocuments =>
  isRecord(value) && typeof value['open'] === 'function'

/**
 * Unregistered clients, for the option `clients`: the `client_id` is the https URL of their metadata
 * (draft-ietf-oauth-client-id-metadata-document).
 */
export function metadataDocuments(options: MetadataDocumentsOptions = {}): MetadataDocuments {
  return { open: (at, server) => openDocuments(options, at, server) }
}

function openDocuments(options: MetadataDocumentsOptions, of: Place, server: OpeningServer): OpenClients {
  const { capabilities, clock } = server
  const at = new Place({}, 'clients', capabilities, of.issues)
  if (isList(options))
    at.wrong('', 'of metadataDocuments() stand in registered: metadataDocuments({ registered: [...] }).')
  const { registered: given, allow, ...read } = group(fields)(isList(options) ? {} : options, at, '')
  const registered = openRegistered(given, 'clients.registered', of, server)
  if (read.grantTypes.includes('authorization_code') && !server.hasAuthorizationEndpoint)
    at.wrong('', 'needs the option resourceOwner: clients of documents use the authorization endpoint.')
  const documents = documentsOf(read, at, server)
  const cache = new DocumentCache({
    documents,
    storedDocuments: documentsIn(server.store),
    rules: { ...read, capabilities },
    clock,
  })
  const findDocument = async (clientId: string, sender: Sender | undefined) => {
    if (!isDocumentUrl(clientId)) return undefined
    if (await allow(clientId)) return cache.find(clientId, sender)
    throw new UnusableClient('client_document_not_allowed/authentication', 'client_document_not_allowed')
  }
  return {
    ...registered,
    findClient: (clientId, sender) =>
      following(
        registered.findClient(clientId, sender),
        (client) => client ?? findDocument(clientId, sender),
      ),
    clientDocuments: documents,
    clientMetadata: { client_id_metadata_document_supported: true },
  }
}

// draft-ietf-oauth-client-id-metadata-document 3: a path, no dot segments, fragment or credentials. The text
// equals the parsed URL, apart from `:443`: no two texts pass for one host.
function isDocumentUrl(clientId: string): boolean {
  if (!clientId.startsWith('https://') || isTooLong('client_id', clientId)) return false
  return plainUrl(clientId)?.href === clientId.replace(/^(https:\/\/[^/?]+):443\//, '$1/')
}

type AllowsDocument = (clientId: string) => boolean | Promise<boolean>

const hostName = /^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?$/

const anEntry = kind(
  (value): value is string => isText(value) && (hostName.test(value) || isUrl(value)),
  'must be a host such as app.example or *.app.example, or an https URL such as https://app.example/clients/.',
)

const allowedDocuments: Field<AllowsDocument> = (given, at, name) => {
  if (given === undefined) return () => true
  if (typeof given === 'function')
    return async (clientId) =>
      requireBoolean(await given(clientId), 'The option allow of metadataDocuments()')
  if (!isList(given)) at.wrong(name, 'must be a function, or a list of hosts and URLs.')
  const entries = rows(anEntry, 'hosts and URLs')(isList(given) ? given : [], at, name)
  return (clientId) => entries.some((each) => covers(each, clientId))
}

const isUrl = (text: string) => isDocumentUrl(text.endsWith('/') ? `${text}x` : text)

function covers(entry: string, clientId: string): boolean {
  if (entry.startsWith('https://')) return entry.endsWith('/') ? isBelow(entry, clientId) : clientId === entry
  const { host } = new URL(clientId)
  return entry.startsWith('*.') ? host.endsWith(entry.slice(1)) : host === entry
}

// Some web servers decode a slash before they resolve dot segments, or skip what follows a semicolon.
const leavesFolder = /%(?:25)*(?:2f|5c)|\/\.{1,2};/i

const isBelow = (folder: string, clientId: string) =>
  clientId.startsWith(folder) && !leavesFolder.test(clientId.slice(folder.length - 1))

const fields = {
  registered: usual<RegisteredClients>([], someRegisteredClients),
  allow: allowedDocuments,
  scope: allowedScope,
  grantTypes: allowedGrantTypes,
  localhostRedirects: aFlag(false),
  lookup: addressLookup,
  ca: authorities,
  documents: optional(aDocumentFetch),
} satisfies Fields<MetadataDocumentsOptions, ServerCapabilities>

function documentsOf(
  { documents, lookup, ca }: Pick<Read<typeof fields>, 'documents' | 'lookup' | 'ca'>,
  at: Place,
  { issuer, clock }: OpeningServer,
): DocumentFetch {
  if (documents === undefined) return documentFetch({ issuer, clock, lookup, ca })
  for (const [name, value] of Object.entries({ lookup, ca }))
    if (value !== undefined) at.wrong(name, 'has no effect beside documents; remove one of them.')
  return documents
}
