import { aCall } from '../../primitives/fields'
import { kind, optional } from '../../primitives/schema'
import type { RequestOptions } from 'node:https'
import { steadyClock, Wait } from '../../primitives/clock'
import { Semaphore } from '../../primitives/concurrency'
import { isList, isRecord, isText } from '../../primitives/values'
import type { Client, ClientMember } from '../../protocol/client'
import { refused } from '../../protocol/refusals'
import type { Sender } from '../../protocol/sender'
import { networksOf } from '../../limits/network'
import { isLoopback } from '../../protocol/uri'
import { DocumentUnavailable } from './document-unavailable'
import { hostLimits, sharesOfSenders } from './fetch-limits'
import { type FetchedDocument, requestDocument } from './request-document'
import {
  type Lookup,
  lookupInDns,
  parseTarget,
  type Target,
  TargetAddresses,
  unlessAborted,
} from './target-address'

export interface DocumentFetch {
  /**
   * Simultaneous calls for one URL share one fetch and its outcome. Caches no outcome.
   *
   * @param maximumSize bytes. Default 5120.
   * @throws DocumentUnavailable in every other case.
   */
  fetch(url: string, maximumSize?: number, inquiry?: DocumentInquiry): Promise<FetchedDocument>
}

/** What a fetch counts for. A host's own fetch may ignore it. */
export interface DocumentInquiry {
  /** Default: the fetch counts for no sender, as for a URL that the host has registered. */
  readonly sender?: Sender | undefined
}

export const aDocumentFetch = kind(
  (value): value is DocumentFetch => isRecord(value) && typeof value['fetch'] === 'function',
  'must have the function fetch(url), which resolves to { json, maximumAge }.',
)

const isAuthority = (value: unknown) => isText(value) || Buffer.isBuffer(value)

export const authorities = optional(
  kind(
    (value): value is NonNullable<DocumentFetchOptions['ca']> =>
      isList(value) ? value.every(isAuthority) : isAuthority(value),
    'must be one certificate or a list of certificates, each a text or a Buffer.',
  ),
)
export const addressLookup = optional(aCall<Lookup>())

export interface DocumentFetchOptions {
  /** Only for a server whose own issuer is at loopback. */
  readonly loopback: boolean
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
  /** Default: DNS. `lookup` of `node:dns/promises` has this form. */
  readonly lookup?: Lookup | undefined
  /** In place of Node's authorities. */
  readonly ca?: RequestOptions['ca'] | undefined
}

// Milliseconds, all waiting included.
const timeout = 2000
const atOnce = 16
const longestQueue = 64

/** Bytes. */
export const usualSize = 5120

/**
 * Limits concurrent fetches, and those per host and sender. A server makes one, because the limits count for
 * what goes through it.
 */
function documentFetch(options: DocumentFetchOptions): DocumentFetch {
  const { loopback, clock = Date.now, lookup = lookupInDns(), ca } = options
  const hosts = hostLimits(steadyClock(clock))
  const turns = new Semaphore(atOnce, longestQueue, () => new DocumentUnavailable('busy'))
  const perSender = sharesOfSenders()
  const targetAddresses = new TargetAddresses(lookup, loopback)
  const running = new Map<string, Promise<FetchedDocument>>()

  const fetchInQueue = (target: Target, maximumSize: number, signal: AbortSignal) =>
    turns.take('in line', async () => {
      signal.throwIfAborted()
      const addresses = await targetAddresses.find(target.hostname, signal)
      hosts.countConnection(addresses)
      return requestDocument({ target, addresses, maximumSize, ca, signal })
    })

  return {
    async fetch(url, maximumSize = usualSize, { sender } = {}) {
      const key = `${maximumSize} ${url}`
      const other = running.get(key)
      if (other !== undefined) return other
      const target = parseTarget(url)
      const senders = sender === undefined ? [] : networksOf(sender.address)
      const [widest] = senders
      // Outside the shared fetch: the limits of one sender must not refuse others.
      return perSender(widest?.network, () => {
        hosts.countFetch(target.hostname, senders)
        const own = within(timeout, (signal) => fetchInQueue(target, maximumSize, signal))
        running.set(key, own)
        return own.finally(() => running.delete(key))
      })
    },
  }
}

/** Made at the first fetch: before that, the issuer may be faulty. */
export function fetchOfServer(
  issuer: string,
  options: Omit<DocumentFetchOptions, 'loopback'>,
): DocumentFetch {
  let made: DocumentFetch | undefined
  // Only a server at loopback, such as one in development, may ask this machine.
  const make = () => documentFetch({ ...options, loopback: isLoopback(new URL(issuer).hostname) })
  return { fetch: (...inquiry) => (made ??= make()).fetch(...inquiry) }
}

export async function within<Outcome>(
  milliseconds: number,
  act: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> {
  const deadline = new AbortController()
  const { signal } = deadline
  const waiting = new Wait(milliseconds / 1000, tooLate, (error) => deadline.abort(error))
  try {
    return await unlessAborted(act(signal), signal)
  } finally {
    waiting.end()
  }
}

const tooLate = () => new DocumentUnavailable('timeout')

interface MemberMistake {
  readonly name: string
  readonly message: string
}

export async function mistakeInStatement(
  client: Client,
  members: readonly ClientMember[] = [],
  documents: DocumentFetch,
  inquiry: DocumentInquiry,
): Promise<MemberMistake | undefined> {
  const fetchDocument = async (url: string, maximumSize?: number) =>
    (await documents.fetch(url, maximumSize, inquiry).catch(orUnreachable)).json
  for (const member of members) {
    const value = client.members[member.name]
    const message = value === undefined ? undefined : await member.verify?.(value, { client, fetchDocument })
    if (message !== undefined) return { name: member.name, message }
  }
  return undefined
}

/** A host's own fetch failed: the event needs the cause. */
export function orUnreachable(error: unknown): FetchedDocument {
  if (error instanceof DocumentUnavailable) throw error
  throw refused('client_document_unreachable', {}, { cause: error })
}
