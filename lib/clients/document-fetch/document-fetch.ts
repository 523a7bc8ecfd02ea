import { aCall } from '../../primitives/fields'
import { kind, optional } from '../../primitives/schema'
import type { RequestOptions } from 'node:https'
import { inTime, steadyClock } from '../../primitives/clock'
import { Lines, Semaphore, SingleFlight } from '../../primitives/concurrency'
import { isList, isRecord, isText } from '../../primitives/values'
import type { Client, ClientMember } from '../../protocol/client'
import { refused } from '../../protocol/refusals'
import type { Sender } from '../../protocol/sender'
import { type CountedNetwork, networksOf, widestOf } from '../../limits/network'
import { TokenBuckets } from '../../limits/shares'
import { isLoopback, plainUrl } from '../../protocol/uri'
import { DocumentUnavailable } from './document-unavailable'
import { type FetchedDocument, requestDocument } from './request-document'
import { type Lookup, lookupInDns, parseTarget, type Target, TargetAddresses } from './target-address'

export interface DocumentFetch {
  /**
   * Simultaneous calls for one URL share one fetch. Caches no outcome.
   *
   * @param maximumSize bytes. Default 5120.
   * @throws DocumentUnavailable in every other case.
   */
  fetch(url: string, maximumSize?: number, inquiry?: DocumentInquiry): Promise<FetchedDocument>
}

/** What a fetch counts for. A host's own fetch may ignore it. */
export interface DocumentInquiry {
  /** Default: no sender, as for a URL that the host has registered. */
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
  /** Only a server at loopback may ask this machine. */
  readonly issuer: string
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
  /** Default: DNS. `lookup` of `node:dns/promises` has this form. */
  readonly lookup?: Lookup | undefined
  /** In place of Node's authorities. */
  readonly ca?: RequestOptions['ca'] | undefined
}

// Milliseconds, all waiting included.
export const timeout = 2000
export const atOnce = 16
export const longestQueue = 64

// Bytes.
export const usualSize = 5120

// Waiting ones included.
export const atOnceOfSender = 8

const maximumKeys = 10_000

export const fetchesInMinute = {
  ofSenderFromHost: 30,
  ofSender: 120,
  // More than the 480 of a /48 of IPv6, which one subscriber may have.
  fromHost: 600,
  // A network has many names. More than the 1920 of a /48 to all names.
  fromNetwork: 2400,
}
const limited = () => new DocumentUnavailable('limited')
const late = () => new DocumentUnavailable('timeout')

// A server makes one: the limits count for what goes through it.
export function documentFetch(options: DocumentFetchOptions): DocumentFetch {
  const { issuer, clock = Date.now, lookup = lookupInDns(), ca } = options
  const hosts = hostLimits(steadyClock(clock))
  const turns = new Semaphore(atOnce, longestQueue, () => new DocumentUnavailable('busy'))
  // Whoever asks for much must not keep others waiting.
  const perSender = new Lines(atOnceOfSender, 0, limited)
  const targetAddresses = new TargetAddresses(lookup, isAtLoopback(issuer))
  const running = new SingleFlight<FetchedDocument>()

  const fetchInQueue = (target: Target, maximumSize: number, signal: AbortSignal) =>
    turns.take('in line', async () => {
      signal.throwIfAborted()
      const addresses = await targetAddresses.find(target.hostname, signal)
      hosts.countConnection(addresses)
      return requestDocument({ target, addresses, maximumSize, ca, signal })
    })

  return {
    async fetch(url, maximumSize = usualSize, { sender } = {}) {
      const target = parseTarget(url)
      const key = `${maximumSize} ${url}`
      const fetched = () =>
        running.share(key, () => within(timeout, (signal) => fetchInQueue(target, maximumSize, signal)))
      if (running.has(key)) return fetched()
      // Outside the shared fetch: the limits of one sender must not refuse others.
      const counted = async () => {
        hosts.countFetch(target.hostname, sender === undefined ? [] : networksOf(sender.address))
        return fetched()
      }
      return sender === undefined ? counted() : perSender.take(widestOf(sender.address), counted)
    },
  }
}

export const isAtLoopback = (url: string): boolean => isLoopback(plainUrl(url)?.hostname ?? '')

// An attacker must not aim this server at a host, by any number of names for its address.
export function hostLimits(clock: () => number) {
  const perMinute = (attempts: number) =>
    new TokenBuckets({ attempts, seconds: 60 }, limited, clock, maximumKeys)
  const sendersAtHosts = perMinute(fetchesInMinute.ofSenderFromHost)
  const sendersEverywhere = perMinute(fetchesInMinute.ofSender)
  const hosts = perMinute(fetchesInMinute.fromHost)
  const networks = perMinute(fetchesInMinute.fromNetwork)
  return {
    countFetch(hostname: string, senders: readonly CountedNetwork[]): void {
      // First what a single attacker reaches first: beyond it, nothing that others need is used up.
      const atHost = senders.map(({ network, factor }) => ({ network: `${network} ${hostname}`, factor }))
      sendersAtHosts.takeFromAll(atHost)
      sendersEverywhere.takeFromAll(senders)
      hosts.take(hostname)
    },
    countConnection: (addresses: readonly string[]): void =>
      networks.takeFromAll(addresses.flatMap(networksOf)),
  }
}

export async function within<Outcome>(
  milliseconds: number,
  act: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> {
  const work = new AbortController()
  try {
    return await inTime(() => act(work.signal), { seconds: milliseconds / 1000, late })
  } finally {
    work.abort()
  }
}

export async function mistakeInStatement(
  client: Client,
  members: readonly ClientMember[] = [],
  documents: DocumentFetch,
  inquiry: DocumentInquiry,
): Promise<{ readonly name: string; readonly message: string } | undefined> {
  const fetchDocument = async (url: string, maximumSize?: number) =>
    (await documents.fetch(url, maximumSize, inquiry).catch(orUnreachable)).json
  for (const member of members) {
    const value = client.members[member.name]
    const message = value === undefined ? undefined : await member.verify?.(value, { client, fetchDocument })
    if (message !== undefined) return { name: member.name, message }
  }
  return undefined
}

// The event needs the cause.
export function orUnreachable(error: unknown): FetchedDocument {
  if (error instanceof DocumentUnavailable) throw error
  throw refused('client_document_unreachable', {}, { cause: error })
}
