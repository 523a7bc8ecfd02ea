import { BoundedMap } from '../../primitives/bounded-map'
import { ExpiringMap } from '../../primitives/expiring-map'
import { isRecord } from '../../primitives/values'
import { steadyClock } from '../../primitives/steady-clock'
import type { Client } from '../../protocol/client'
import { digest } from '../../protocol/credential'
import type { SharedCache } from '../../stores/shared-cache'

/** Milliseconds after its fetch for which a document may stand in. */
export const longestKept = 86_400_000

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

export interface ParsedDocument extends DocumentText {
  readonly client: Client
}

/** Clients that no resource owner has let in evict only each other. Evicts the least recently used. */
export class ParsedDocuments {
  private readonly inUse = new BoundedMap<ParsedDocument>(maximumParsed)
  private readonly unused = new BoundedMap<ParsedDocument>(maximumParsed)

  get(url: string): ParsedDocument | undefined {
    const found = this.inUse.get(url) ?? this.unused.get(url)
    if (found !== undefined) this.put(url, found)
    return found
  }

  put(url: string, document: ParsedDocument): void {
    const [kind, other] = document.inUseUntil > 0 ? [this.inUse, this.unused] : [this.unused, this.inUse]
    other.delete(url)
    kind.put(url, document)
  }
}

/** Per process. */
const maximumUnused = 4096
// Characters of JSON: a document has 5 KiB, and JSON may write its numbers at greater length.
const longestText = 8192

export interface SharedDocument extends DocumentTimes {
  readonly json: unknown
  readonly verified: boolean
}

/**
 * Each document has its own key, so none evicts another. One of a client in use stays as long as codes and
 * tokens may live; others stay for a day; one network gets a quarter of the limit.
 */
export class SharedDocuments {
  private readonly unused: ExpiringMap<true>
  private readonly steady: () => number

  constructor(
    private readonly cache: SharedCache,
    private readonly clock: () => number,
  ) {
    this.steady = steadyClock(clock)
    this.unused = new ExpiringMap(maximumUnused, this.steady)
  }

  async find(url: string): Promise<SharedDocument | undefined> {
    const document = readDocument(await this.cache.get(keyOf(url)), url)
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
    await this.cache.set(key, `${times.slice(0, -1)},"document":${text}}`, seconds)
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
