import {
  type DocumentFetch,
  type DocumentInquiry,
  orUnreachable,
  usualSize,
} from '../document-fetch/document-fetch'
import {
  DocumentUnavailable,
  isUnanswered,
  type UnavailableReason,
} from '../document-fetch/document-unavailable'
import { BoundedMap, ExpiringMap } from '../../primitives/maps'
import { SingleFlight } from '../../primitives/concurrency'
import { steadyClock } from '../../primitives/clock'
import { isRecord } from '../../primitives/values'
import type { Client } from '../../protocol/client'
import { digest } from '../../protocol/credential'
import { Throttled } from '../../protocol/oauth-error'
import { type RefusalName, UnusableClient } from '../../protocol/refusals'
import type { Sender } from '../../protocol/sender'
import { networksOf } from '../../limits/network'
import type { Documents } from '../../stores/records'
import type { DocumentUrl } from './document-url'
import { type DocumentRules, needsVerification, parseDocument, verifyDocument } from './parse-document'

// Seconds. A fetch for each request would burden the document's host.
const shortestKept = 60
// Milliseconds.
const day = 86_400_000
const limited = 'client_document_limited'

interface DocumentCacheParts {
  readonly documents: DocumentFetch
  readonly storedDocuments: Documents
  readonly rules: DocumentRules
  readonly clock: () => number
  /** Seconds. */
  readonly longestLifetime: number
}

type LookedUp = { readonly client: Client } | { readonly error: unknown; readonly senders: readonly string[] }

export class DocumentCache {
  private readonly parsed = new BoundedMap<ParsedDocument>(maximumParsed)
  private readonly shared: SharedDocuments
  private readonly lookUps = new SingleFlight<LookedUp>()

  constructor(private readonly parts: DocumentCacheParts) {
    this.shared = new SharedDocuments(parts.storedDocuments, parts.clock)
  }

  /** Simultaneous requests share one look-up. A network over its limit of failures causes no fetch. */
  find(url: DocumentUrl, sender?: Sender): Client | Promise<Client> {
    const kept = this.parsed.get(url.clientId)
    if (kept !== undefined && kept.expiresAt > this.parts.clock()) return this.remember(url.clientId, kept)
    const senders = sender === undefined ? [] : networksOf(sender.address).map(({ network }) => network)
    // Requests of other networks must not share this refusal.
    if (sender?.networkRefusal !== undefined && !this.lookUps.has(url.clientId))
      return this.look(url, senders, sender)
    return this.lookTogether(url, senders, sender)
  }

  /**
   * Keeps the document as long as the new code or token may live. Writes once a day per process and client.
   */
  noteUse(clientId: string): Promise<void> | undefined {
    const { clock, longestLifetime } = this.parts
    const lifetime = longestLifetime * 1000
    const kept = this.parsed.get(clientId)
    if (kept === undefined || kept.inUseUntil > clock() + lifetime) return undefined
    const used = { ...kept, inUseUntil: clock() + lifetime + day }
    this.parsed.put(clientId, used)
    return this.shared.keep(clientId, used, []).catch(() => this.parsed.put(clientId, kept))
  }

  private async lookTogether(
    url: DocumentUrl,
    senders: readonly string[],
    sender: Sender | undefined,
  ): Promise<Client> {
    const found = await this.lookUps.share(url.clientId, () =>
      this.look(url, senders, sender).then(
        (client) => ({ client }),
        (error: unknown) => ({ error, senders }),
      ),
    )
    if ('client' in found) return found.client
    const { error, senders: others } = found
    const isOfOthers = senders.join() !== others.join()
    if (isOfOthers && error instanceof UnusableClient && error.reason === limited)
      return this.find(url, sender)
    throw error
  }

  private async look(url: DocumentUrl, senders: readonly string[], sender?: Sender): Promise<Client> {
    const { clientId } = url
    const known = await this.shared.find(clientId)
    const before = this.latest(url, known)
    if (before !== undefined && before.expiresAt > this.parts.clock()) {
      // Another process has overwritten the note.
      if (known !== undefined && known.inUseUntil < before.inUseUntil)
        await this.share(clientId, before, senders)
      return this.remember(clientId, before)
    }
    const inUseUntil = before?.inUseUntil ?? known?.inUseUntil ?? 0
    try {
      if (sender?.networkRefusal !== undefined) throw sender.networkRefusal
      const fetched = await this.fetched(url, { sender })
      // A use may have been noted while the host answered.
      const noted = this.parsed.get(clientId)?.inUseUntil ?? 0
      const document = { ...fetched, inUseUntil: Math.max(inUseUntil, noted) }
      this.remember(clientId, document)
      await this.share(clientId, document, senders)
      return document.client
    } catch (error) {
      // Others may exhaust limits, or silence a network. They must not lock out the client.
      const isPrevented = error instanceof Throttled || isUnanswered(error)
      const mayStandIn = before !== undefined && before.fetchedAt + longestKept > this.parts.clock()
      if (isPrevented && mayStandIn) return this.remember(clientId, before)
      throw refusalOf(error)
    }
  }

  // The client is proven, so a failing cache must not fail the request.
  private async share(clientId: string, document: ParsedDocument, senders: readonly string[]): Promise<void> {
    await this.shared.keep(clientId, document, senders).catch(() => undefined)
  }

  private remember(clientId: string, document: ParsedDocument): Client {
    this.parsed.put(clientId, document)
    return document.client
  }

  private latest(url: DocumentUrl, known: SharedDocument | undefined): ParsedDocument | undefined {
    const kept = this.parsed.get(url.clientId)
    if (known === undefined) return kept
    const inUseUntil = Math.max(known.inUseUntil, kept?.inUseUntil ?? 0)
    if (kept !== undefined && kept.fetchedAt >= known.fetchedAt) return { ...kept, inUseUntil }
    const { json, fetchedAt, expiresAt, verified } = known
    try {
      const client = parseDocument(json, url, this.parts.rules)
      // A process without the plug-in fetched the document, and verified nothing.
      if (!verified && needsVerification(client, this.parts.rules)) return kept
      return {
        client,
        text: JSON.stringify(json),
        verified,
        fetchedAt,
        expiresAt,
        inUseUntil,
      }
    } catch (error) {
      // Another process may have other options.
      if (error instanceof UnusableClient) return kept
      throw error
    }
  }

  private async fetched(url: DocumentUrl, inquiry: DocumentInquiry) {
    const { documents, rules, clock } = this.parts
    const { json, maximumAge } = await documents.fetch(url.clientId, usualSize, inquiry).catch(orUnreachable)
    const client = parseDocument(json, url, rules)
    const verified = needsVerification(client, rules)
    if (verified) await verifyDocument(client, rules, documents, inquiry)
    const seconds = Math.min(Math.max(shortestKept, maximumAge), longestKept / 1000)
    const fetchedAt = clock()
    const expiresAt = fetchedAt + seconds * 1000
    return { client, text: JSON.stringify(json), verified, fetchedAt, expiresAt }
  }
}

const refusalReasons: Partial<Record<UnavailableReason, RefusalName>> = {
  limited,
  busy: limited,
  status: 'client_document_refused',
  type: 'client_document_refused',
  encoding: 'client_document_refused',
  size: 'client_document_refused',
  malformed: 'client_document_refused',
}

// Few texts name all causes: with more, a stranger could probe this server's network.
const refusalOf = (error: unknown): unknown =>
  error instanceof DocumentUnavailable
    ? new UnusableClient(refusalReasons[error.reason] ?? 'client_document_unreachable')
    : error

/** Milliseconds after its fetch for which a document may stand in. */
const longestKept = 86_400_000

/** Milliseconds since the epoch. */
interface DocumentTimes {
  readonly fetchedAt: number
  readonly expiresAt: number
  /** 0 if no resource owner has let the client in. */
  readonly inUseUntil: number
}

interface DocumentText extends DocumentTimes {
  /** Takes less memory than the value can. */
  readonly text: string
  readonly verified: boolean
}

const maximumParsed = 1000

interface ParsedDocument extends DocumentText {
  readonly client: Client
}

/** Per process. */
const maximumUnused = 4096
// Characters of JSON: a document has 5 KiB, and JSON may write its numbers at greater length.
const longestText = 8192

interface SharedDocument extends DocumentTimes {
  readonly json: unknown
  readonly verified: boolean
}

/**
 * Each document has its own key, so none evicts another. One of a client in use stays as long as codes and
 * tokens may live; others stay for a day; one network gets a quarter of the limit.
 */
class SharedDocuments {
  private readonly unused: ExpiringMap<true>
  private readonly steady: () => number

  constructor(
    private readonly kept: Documents,
    private readonly clock: () => number,
  ) {
    this.steady = steadyClock(clock)
    this.unused = new ExpiringMap(maximumUnused, this.steady)
  }

  async find(url: string): Promise<SharedDocument | undefined> {
    const document = readDocument(await this.kept.find(keyOf(url)), url)
    if (document === undefined) return undefined
    // The clock of the writing process may be wrong: no document serves longer than a day from now.
    const now = this.clock()
    const fetchedAt = Math.min(document.fetchedAt, now)
    return { ...document, fetchedAt, expiresAt: Math.min(document.expiresAt, now + longestKept) }
  }

  async keep(url: string, document: DocumentText, senders: readonly string[]): Promise<void> {
    const { text, verified, fetchedAt, expiresAt, inUseUntil } = document
    if (text.length > longestText) return
    const key = keyOf(url)
    const inUseFor = Math.max(0, inUseUntil - this.clock())
    if (inUseFor === 0 && !this.hasRoom(key, senders)) return
    const times = JSON.stringify({ client_id: url, verified, fetchedAt, expiresAt, inUseUntil })
    // A cache that evicts what ends first keeps clients in use.
    const seconds = Math.ceil((longestKept + inUseFor) / 1000)
    await this.kept.keep(key, `${times.slice(0, -1)},"document":${text}}`, seconds)
  }

  private hasRoom(key: string, senders: readonly string[]): boolean {
    if (this.unused.fullShare(key, senders) !== undefined) return false
    return this.unused.set(key, true, this.steady() + longestKept, senders)
  }
}

const keyOf = (url: string) => `client-document:${digest(url)}`

function readDocument(text: string | undefined, url: string): SharedDocument | undefined {
  const entry: unknown = text === undefined ? undefined : parsedJson(text)
  if (!isRecord(entry) || entry['client_id'] !== url) return undefined
  const { document: json, verified, fetchedAt, expiresAt, inUseUntil } = entry
  if (typeof fetchedAt !== 'number' || typeof expiresAt !== 'number' || typeof inUseUntil !== 'number')
    return undefined
  return typeof verified === 'boolean' ? { json, verified, fetchedAt, expiresAt, inUseUntil } : undefined
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
