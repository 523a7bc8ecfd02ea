import { BoundedMap } from '../../primitives/bounded-map'
import { ExpiringMap } from '../../primitives/expiring-map'
import { isRecord } from '../../primitives/options-reader'
import { steadyClock } from '../../primitives/steady-clock'
import type { Client } from '../../protocol/client'
import { digest } from '../../protocol/credential'
import type { SharedCache } from '../shared-cache'

/** Milliseconds for which a document may stand in, by the time of its fetch. */
export const longestKept = 86_400_000

/** When a document was fetched, and until when it serves. All times are milliseconds since the epoch. */
export interface DocumentTimes {
  readonly fetchedAt: number
  /** The end of the time for which its host says that it is good. */
  readonly expiresAt: number
  /** The end of the time for which the client may have a code or a token; 0 if no resource owner has let it in. */
  readonly inUseUntil: number
}

/** A document, and its times. */
interface DocumentText extends DocumentTimes {
  /** The JSON of the document. A text takes less memory than the value can. */
  readonly text: string
  /** Whether plug-ins have verified what the client states. */
  readonly verified: boolean
}

const maximumParsed = 1000

/** A document, and the client that it describes. */
export interface ParsedDocument extends DocumentText {
  readonly client: Client
}

/**
 * The documents in the memory of this process, 1000 of clients in use and 1000 of others. Each kind drops the one that
 * was not requested for the longest time, so clients that no resource owner has let in push out only each other.
 */
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

/** How many documents of clients that no resource owner has let in, one process keeps for all processes. */
const maximumUnused = 4096
// In characters of JSON. A document has 5 KiB as it is sent, and JSON may write its numbers at greater length.
const longestText = 8192

/** A document that a process has kept for all. */
export interface SharedDocument extends DocumentTimes {
  readonly json: unknown
  readonly verified: boolean
}

/**
 * The documents that all processes share. Each has a key of its own, so no document can push out another. The document
 * of a client in use stays for as long as its codes and tokens may live. All others stay for a day, and each process
 * keeps 4096 of them at most, a quarter of these for one network.
 */
export class SharedDocuments {
  private readonly unused: ExpiringMap<true>
  private readonly steady: () => number

  /** @param clock milliseconds since the epoch. */
  constructor(
    private readonly cache: SharedCache,
    private readonly clock: () => number,
  ) {
    this.steady = steadyClock(clock)
    this.unused = new ExpiringMap(maximumUnused, this.steady)
  }

  /** Resolves to the document that a process has kept; undefined if there is none. */
  async find(url: string): Promise<SharedDocument | undefined> {
    const document = readDocument(await this.cache.get(keyOf(url)), url)
    if (document === undefined) return undefined
    // The clock of the process that kept the document may be wrong: no document serves for longer than a day from now.
    const now = this.clock()
    const fetchedAt = Math.min(document.fetchedAt, now)
    return { ...document, fetchedAt, expiresAt: Math.min(document.expiresAt, now + longestKept) }
  }

  /**
   * Keeps a document, unless it is too long, or too many are kept. Rejects if the cache fails.
   *
   * @param senders the networks of the sender that made this server fetch the document.
   */
  async keep(url: string, document: DocumentText, senders: readonly string[]): Promise<void> {
    const { text, verified, fetchedAt, expiresAt, inUseUntil } = document
    if (text.length > longestText) return
    const key = keyOf(url)
    const inUseFor = Math.max(0, inUseUntil - this.clock())
    if (inUseFor === 0 && !this.hasRoom(key, senders)) return
    const times = JSON.stringify({
      client_id: url,
      ...(verified && { verified }),
      fetchedAt,
      expiresAt,
      inUseUntil,
    })
    // In a cache that drops what ends first, clients in use stay: they always have the longer time.
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
  const { document: json, fetchedAt, expiresAt, inUseUntil } = entry
  if (typeof fetchedAt !== 'number' || typeof expiresAt !== 'number' || typeof inUseUntil !== 'number')
    return undefined
  return { json, verified: entry['verified'] === true, fetchedAt, expiresAt, inUseUntil }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
