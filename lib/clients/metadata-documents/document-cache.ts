import { networksOf, widestOf } from '../../limits/network'
import { steadyClock } from '../../primitives/clock'
import { SingleFlight } from '../../primitives/concurrency'
import { aText, anything, yesOrNo } from '../../primitives/fields'
import { BoundedMap, ExpiringMap } from '../../primitives/maps'
import { kind, rootPlace, shape } from '../../primitives/schema'
import type { Client } from '../../protocol/client'
import { digest } from '../../protocol/credential'
import { Throttled } from '../../protocol/oauth-error'
import { type RefusalName, UnusableClient } from '../../protocol/refusals'
import type { Sender } from '../../protocol/sender'
import type { Documents } from '../../stores/records'
import {
  type DocumentFetch,
  mistakeInStatement,
  orUnreachable,
  usualSize,
} from '../document-fetch/document-fetch'
import {
  DocumentUnavailable,
  isUnanswered,
  type UnavailableReason,
} from '../document-fetch/document-unavailable'
import { type DocumentRules, malformedDocument, needsVerification, parseDocument } from './parse-document'

// Seconds: a fetch for each request would burden the host.
const shortestKept = 60
// Milliseconds after its fetch.
export const longestKept = 86_400_000
export const knownAtMost = 1000
// By one process.
export const storedAtMost = 4096
export const storedForNetwork = storedAtMost / 4
// A document has 5 KiB, and JSON may write its numbers at greater length.
export const longestText = 8192
const limited = 'client_document_limited'

interface DocumentCacheParts {
  readonly documents: DocumentFetch
  readonly storedDocuments: Documents
  readonly rules: DocumentRules
  readonly clock: () => number
}

/** Milliseconds since the epoch. */
interface DocumentTimes {
  readonly fetchedAt: number
  readonly expiresAt: number
}

interface KnownDocument extends DocumentTimes {
  readonly client: Client
}

interface StoredDocument extends DocumentTimes {
  readonly client_id: string
  readonly verified: boolean
  readonly document: unknown
}

type LookedUp = { readonly client: Client } | { readonly error: unknown; readonly network: string }

// One network fills at most a quarter of the stored documents.
export class DocumentCache {
  private readonly known = new BoundedMap<KnownDocument>(knownAtMost)
  private readonly stored: ExpiringMap<readonly string[]>
  private readonly steady: () => number
  private readonly lookUps = new SingleFlight<LookedUp>()

  constructor(private readonly parts: DocumentCacheParts) {
    this.steady = steadyClock(parts.clock)
    this.stored = new ExpiringMap(storedAtMost, this.steady)
  }

  // A network over its limit of failures causes no fetch.
  find(clientId: string, sender?: Sender): Client | Promise<Client> {
    const known = this.known.get(clientId)
    if (known !== undefined && known.expiresAt > this.parts.clock()) return this.remember(clientId, known)
    // Requests of other networks must not share this refusal.
    if (sender?.networkRefusal !== undefined && !this.lookUps.has(clientId))
      return this.look(clientId, sender)
    return this.lookTogether(clientId, sender)
  }

  private async lookTogether(clientId: string, sender: Sender | undefined): Promise<Client> {
    const network = widestOf(sender?.address)
    const found = await this.lookUps.share(clientId, () =>
      this.look(clientId, sender).then(
        (client) => ({ client }),
        (error: unknown) => ({ error, network }),
      ),
    )
    if ('client' in found) return found.client
    const { error } = found
    const isOfOthers = network !== found.network
    if (isOfOthers && error instanceof UnusableClient && error.reason === limited)
      return this.find(clientId, sender)
    throw error
  }

  private async look(clientId: string, sender: Sender | undefined): Promise<Client> {
    const found = await this.storedDocument(clientId)
    const known = this.known.get(clientId)
    const isNewer = known === undefined || (found !== undefined && found.fetchedAt > known.fetchedAt)
    const before = isNewer ? found : known
    if (before !== undefined && before.expiresAt > this.parts.clock()) return this.remember(clientId, before)
    try {
      if (sender?.networkRefusal !== undefined) throw sender.networkRefusal
      return this.remember(clientId, await this.fetched(clientId, sender))
    } catch (error) {
      // Others may exhaust limits, or silence a network: they must not lock out the client.
      const isPrevented = error instanceof Throttled || isUnanswered(error)
      const mayStandIn = before !== undefined && before.fetchedAt + longestKept > this.parts.clock()
      if (isPrevented && mayStandIn) return this.remember(clientId, before)
      throw refusalOf(error)
    }
  }

  private remember(clientId: string, document: KnownDocument): Client {
    this.known.set(clientId, document)
    return document.client
  }

  private async fetched(clientId: string, sender: Sender | undefined): Promise<KnownDocument> {
    const { documents, rules, clock } = this.parts
    const { json: document, maximumAge } = await documents
      .fetch(clientId, usualSize, { sender })
      .catch(orUnreachable)
    const client = parseDocument(document, clientId, rules)
    const verified = needsVerification(client, rules)
    const { members } = rules.capabilities
    const mistake = await mistakeInStatement(client, members, documents, { sender })
    if (mistake !== undefined) throw malformedDocument(`has no valid ${mistake.name}`)
    const fetchedAt = clock()
    const expiresAt = fetchedAt + Math.min(Math.max(shortestKept, maximumAge) * 1000, longestKept)
    // The client is proven, whatever the store does.
    const stored = { client_id: clientId, verified, fetchedAt, expiresAt, document }
    await this.store(stored, sender).catch(() => undefined)
    return { client, fetchedAt, expiresAt }
  }

  private async store(stored: StoredDocument, sender: Sender | undefined): Promise<void> {
    const senders = sender === undefined ? [] : networksOf(sender.address).map(({ network }) => network)
    const [key, text] = [keyOf(stored.client_id), JSON.stringify(stored)]
    const causes = this.stored.get(key) ?? (this.hasRoomFor(senders) ? senders : undefined)
    if (text.length > longestText || causes === undefined) return
    if (this.stored.set(key, causes, this.steady() + longestKept))
      await this.parts.storedDocuments.keep(key, text, longestKept / 1000)
  }

  private hasRoomFor(senders: readonly string[]): boolean {
    const all = [...this.stored.values()]
    return senders.every(
      (sender) => all.filter((others) => others.includes(sender)).length < storedForNetwork,
    )
  }

  private async storedDocument(clientId: string): Promise<KnownDocument | undefined> {
    const { storedDocuments, rules, clock } = this.parts
    const stored = readStored(await storedDocuments.find(keyOf(clientId)))
    if (stored?.client_id !== clientId) return undefined
    try {
      const client = parseDocument(stored.document, clientId, rules)
      // A process without the plug-in verified nothing.
      if (!stored.verified && needsVerification(client, rules)) return undefined
      // The clock of the writing process may be wrong.
      const now = clock()
      const expiresAt = Math.min(stored.expiresAt, now + longestKept)
      return { client, fetchedAt: Math.min(stored.fetchedAt, now), expiresAt }
    } catch (error) {
      // Another process may have other options.
      if (error instanceof UnusableClient) return undefined
      throw error
    }
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

// With more texts, a stranger could probe this server's network.
const refusalOf = (error: unknown): unknown =>
  error instanceof DocumentUnavailable
    ? new UnusableClient(refusalReasons[error.reason] ?? 'client_document_unreachable')
    : error

const keyOf = (url: string) => `client-document:${digest(url)}`

const aTime = kind((value) => typeof value === 'number', 'must be a time.')
const aDocument = shape<StoredDocument>({
  client_id: aText,
  verified: yesOrNo,
  fetchedAt: aTime,
  expiresAt: aTime,
  document: anything,
})

function readStored(text: string | undefined): StoredDocument | undefined {
  try {
    return text === undefined ? undefined : aDocument(JSON.parse(text), rootPlace(undefined), '')
  } catch {
    return undefined
  }
}
