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
import type { UrlTrust } from '../document-fetch/fetch-limits'
import { SingleFlight } from '../../primitives/single-flight'
import type { Client } from '../../protocol/client'
import { Throttled } from '../../protocol/oauth-error'
import { type RefusalName, UnusableClient } from '../../protocol/refusals'
import type { Sender } from '../../protocol/sender'
import { networksOf } from '../../limits/network'
import type { SharedCache } from '../../stores/shared-cache'
import type { DocumentUrl } from './document-url'
import {
  longestKept,
  type ParsedDocument,
  ParsedDocuments,
  type SharedDocument,
  SharedDocuments,
} from './cached-documents'

// Seconds. A fetch for each request would burden the document's host.
const shortestKept = 60
// Milliseconds.
const day = 86_400_000
const limited = 'client_document_limited'

interface DocumentCacheParts {
  readonly documents: DocumentFetch
  readonly sharedCache: SharedCache
  readonly parse: (json: unknown, url: DocumentUrl) => Client
  readonly verification: DocumentVerification
  readonly clock: () => number
  readonly isNamed: (url: string) => boolean
  /** Seconds. */
  readonly longestLifetime: number
}

export interface DocumentVerification {
  readonly isNeeded: (client: Client) => boolean
  readonly run: (client: Client, inquiry: DocumentInquiry) => Promise<void>
}

type LookedUp = { readonly client: Client } | { readonly error: unknown; readonly senders: readonly string[] }

export class DocumentCache {
  private readonly parsed = new ParsedDocuments()
  private readonly shared: SharedDocuments
  private readonly lookUps = new SingleFlight<LookedUp>()

  constructor(private readonly parts: DocumentCacheParts) {
    this.shared = new SharedDocuments(parts.sharedCache, parts.clock)
  }

  /** Simultaneous requests share one look-up. A network over its limit of failures causes no fetch. */
  find(url: DocumentUrl, sender?: Sender): Client | Promise<Client> {
    const kept = this.parsed.get(url.clientId)
    if (kept !== undefined && kept.expiresAt > this.parts.clock()) return kept.client
    const senders = sender === undefined ? [] : networksOf(sender.address()).map(({ network }) => network)
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
    const isKnown = before !== undefined || known !== undefined
    try {
      if (sender?.networkRefusal !== undefined) throw sender.networkRefusal
      const fetched = await this.fetched(url, this.trustOf(clientId, isKnown, inUseUntil), sender)
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

  private trustOf(clientId: string, isKnown: boolean, inUseUntil: number): UrlTrust {
    if (inUseUntil > this.parts.clock() || this.parts.isNamed(clientId)) return 'named'
    return isKnown ? 'known' : 'unknown'
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
      const client = this.parts.parse(json, url)
      // A process without the plug-in fetched the document, and verified nothing.
      if (!verified && this.parts.verification.isNeeded(client)) return kept
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

  private async fetched(url: DocumentUrl, trust: UrlTrust, sender: Sender | undefined) {
    const { documents, parse, verification, clock } = this.parts
    const { json, maximumAge } = await documents
      .fetch(url.clientId, usualSize, { trust, sender })
      .catch(orUnreachable)
    const client = parse(json, url)
    const verified = verification.isNeeded(client)
    if (verified) await verification.run(client, { trust, sender })
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

// Few texts for all causes: a stranger could probe this server's network with more.
const refusalOf = (error: unknown): unknown =>
  error instanceof DocumentUnavailable
    ? new UnusableClient(refusalReasons[error.reason] ?? 'client_document_unreachable')
    : error
