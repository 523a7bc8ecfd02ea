import type { DocumentFetch, FetchedDocument } from '../document-fetch/document-fetch'
import { DocumentUnavailable } from '../document-fetch/document-unavailable'
import { BoundedMap } from '../protocol/bounded-map'
import type { Client } from '../protocol/client'
import { isRecord } from '../protocol/configuration'
import { digest } from '../protocol/credential'
import { temporarilyUnavailable, type Throttled, UnusableClient } from '../protocol/oauth-error'
import type { SharedCache } from '../stores/shared-cache'
import type { DocumentUrl } from './document-url'

const maximumParsed = 1000
// Seconds. A document of each request would be a tool to burden its host.
const shortestKept = 60
// Milliseconds. A document is kept for a day at most, even if the clock of the process that kept it is wrong.
const longestKept = 86_400_000
const limited = 'client_document_limited'

/** The parts of a {@link DocumentCache}. */
export interface DocumentCacheParts {
  readonly documents: DocumentFetch
  readonly sharedCache: SharedCache
  /** @throws UnusableClient if the document is malformed. */
  readonly parse: (json: unknown, url: DocumentUrl) => Client
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

interface Kept {
  readonly client: Client
  /** Milliseconds since the epoch, as `expiresAt`. */
  readonly fetchedAt: number
  readonly expiresAt: number
}

/**
 * Finds the clients of metadata documents: parsed in the memory of this process, as text in the cache of all
 * processes, or at the URL of the document. Keeps good documents only: a failure never outlives its request.
 */
export class DocumentCache {
  private readonly parsed = new BoundedMap<Kept>(maximumParsed)
  private readonly flights = new Map<string, Promise<Client>>()

  constructor(private readonly parts: DocumentCacheParts) {}

  /**
   * Finds the client of one document. Requests for one document at the same time share one look-up.
   *
   * @param networkRefusal thrown in place of a fetch.
   * @throws UnusableClient if there is no good document.
   */
  find(url: DocumentUrl, networkRefusal?: Throttled): Client | Promise<Client> {
    const kept = this.parsed.get(url.clientId)
    // Evicts the client that nobody has used for the longest time: strangers who come once push out none in use.
    if (kept !== undefined) this.parsed.put(url.clientId, kept)
    if (kept !== undefined && kept.expiresAt > this.parts.clock()) return kept.client
    const running = this.flights.get(url.clientId)
    if (running !== undefined) return running
    // Requests of other networks must not share this refusal.
    if (networkRefusal !== undefined) return this.look(url, kept, networkRefusal)
    const flight = this.look(url, kept).finally(() => this.flights.delete(url.clientId))
    this.flights.set(url.clientId, flight)
    return flight
  }

  private async look(
    url: DocumentUrl,
    before: Kept | undefined,
    networkRefusal?: Throttled,
  ): Promise<Client> {
    try {
      const found = (await this.shared(url)) ?? (await this.fetched(url, networkRefusal))
      this.parsed.put(url.clientId, found)
      return found.client
    } catch (error) {
      // Strangers who use up the limit of a host must not lock out its clients, so the document before stays usable.
      const isUsable = before !== undefined && before.fetchedAt + longestKept > this.parts.clock()
      if (isUsable && error instanceof UnusableClient && error.reason === limited) return before.client
      throw error
    }
  }

  private async shared(url: DocumentUrl): Promise<Kept | undefined> {
    const { sharedCache, parse, clock } = this.parts
    const entry = readEntry(await sharedCache.get(keyOf(url)), url)
    if (entry === undefined || entry.expiresAt <= clock()) return undefined
    try {
      const fetchedAt = Math.min(entry.fetchedAt, clock())
      const expiresAt = Math.min(entry.expiresAt, clock() + longestKept)
      return { client: parse(entry.document, url), fetchedAt, expiresAt }
    } catch (error) {
      // A process with other options may have kept a document that is malformed here.
      if (error instanceof UnusableClient) return undefined
      throw error
    }
  }

  private async fetched(url: DocumentUrl, networkRefusal: Throttled | undefined): Promise<Kept> {
    if (networkRefusal !== undefined) throw networkRefusal
    const { documents, sharedCache, parse, clock } = this.parts
    const { json, maximumAge } = await documents.fetch(url.clientId).catch(throwUnavailable)
    const lifetime = Math.min(Math.max(shortestKept, maximumAge), longestKept / 1000)
    const client = parse(json, url)
    const fetchedAt = clock()
    const expiresAt = fetchedAt + lifetime * 1000
    const entry = JSON.stringify({ client_id: url.clientId, fetchedAt, expiresAt, document: json })
    // The client is proven already, so a cache that fails now must not fail the request.
    await sharedCache.set(keyOf(url), entry, lifetime).catch(() => undefined)
    return { client, fetchedAt, expiresAt }
  }
}

/**
 * The key of a document: one of 16 384, so strangers with any number of documents fill at most 100 MB. If two documents
 * share a key, the later one stays.
 */
function keyOf(url: DocumentUrl): string {
  return `client-document:${Buffer.from(digest(url.clientId), 'base64url').readUInt16BE() & 0x3fff}`
}

interface Entry extends Omit<Kept, 'client'> {
  readonly document: unknown
}

function readEntry(text: string | undefined, url: DocumentUrl): Entry | undefined {
  const entry: unknown = text === undefined ? undefined : parsedJson(text)
  if (!isRecord(entry) || entry['client_id'] !== url.clientId) return undefined
  const { fetchedAt, expiresAt, document } = entry
  const areTimes = typeof fetchedAt === 'number' && typeof expiresAt === 'number'
  return areTimes ? { document, fetchedAt, expiresAt } : undefined
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// Every cause has one text: the texts of different causes would let a stranger probe the network of this server.
function throwUnavailable(error: unknown): FetchedDocument {
  // The fetch of a host has failed: the event needs the cause.
  if (!(error instanceof DocumentUnavailable))
    throw temporarilyUnavailable(
      'client_document_unreachable',
      'The metadata document of the client is not available.',
      { cause: error },
    )
  throw new UnusableClient(
    'temporarily_unavailable',
    reasonOf(error),
    'The metadata document of the client is not available.',
    'temporarily_unavailable',
  )
}

function reasonOf({ reason }: DocumentUnavailable) {
  switch (reason) {
    case 'limited':
    case 'busy':
      return limited
    case 'status':
    case 'type':
    case 'encoding':
    case 'size':
    case 'malformed':
      return 'client_document_refused'
    default:
      return 'client_document_unreachable'
  }
}
