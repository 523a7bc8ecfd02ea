import type { RequestOptions } from 'node:https'
import { wait } from '../../primitives/deadlines'
import { isRecord } from '../../primitives/options-reader'
import type { Sender } from '../../protocol/sender'
import { steadyClock } from '../../primitives/steady-clock'
import { networksOf } from '../../limits/network'
import { isLoopback } from '../../protocol/uri'
import { DocumentUnavailable } from './document-unavailable'
import { ConcurrencyLimits, HostLimits, type UrlTrust } from './fetch-limits'
import { type FetchedDocument, requestDocument } from './request-document'
import { type Lookup, lookupInDns, parseTarget, type Target, TargetAddresses } from './target-address'

/** Fetches JSON documents of strangers over https. */
export interface DocumentFetch {
  /**
   * Resolves to the document at this URL. Calls for the same URL at the same time share one fetch and its outcome. No
   * outcome is kept.
   *
   * @param maximumSize the most bytes of the document. Default 5120.
   * @param inquiry what the fetch counts for. Default: an unknown URL, without a sender.
   * @throws DocumentUnavailable in every other case.
   */
  fetch(url: string, maximumSize?: number, inquiry?: DocumentInquiry): Promise<FetchedDocument>
}

/** What the fetch of a document counts for. A fetch of a host may leave it out of account. */
export interface DocumentInquiry {
  /** Default `unknown`. */
  readonly trust?: UrlTrust
  /** The sender of the request that needs the document. Default: none, for a fetch that no request causes. */
  readonly sender?: Sender | undefined
}

/** Whether a value can fetch documents. */
export function isDocumentFetch(value: unknown): value is DocumentFetch {
  return isRecord(value) && typeof value['fetch'] === 'function'
}

export interface DocumentFetchOptions {
  /** Whether documents may come from loopback addresses. Only a server whose own issuer is at loopback allows this. */
  readonly loopback: boolean
  /** Milliseconds since the epoch, for the limits per host. Default `Date.now`. */
  readonly clock?: () => number
  /** Finds the addresses of a name. Default: DNS. `lookup` of `node:dns/promises` has this form. */
  readonly lookup?: Lookup
  /** The certificate authorities, in place of those of Node. */
  readonly ca?: RequestOptions['ca']
}

// Milliseconds from the call to the document or its failure, all waiting included.
const timeout = 2000

/** The most bytes of a document, unless a call names another size. */
export const usualSize = 5120

/**
 * Makes a {@link DocumentFetch} for documents that anyone may name: at most so many at once, at most so many of one host
 * and for one sender, and each within 2 seconds. A server makes one, because the limits count for what goes through it.
 */
export function documentFetch(options: DocumentFetchOptions): DocumentFetch {
  const { loopback, clock = Date.now, lookup = lookupInDns(), ca } = options
  const hosts = new HostLimits(steadyClock(clock))
  const concurrency = new ConcurrencyLimits()
  const targetAddresses = new TargetAddresses(lookup, loopback)
  const running = new Map<string, Promise<FetchedDocument>>()

  const fetchInQueue = (target: Target, maximumSize: number, trust: UrlTrust, signal: AbortSignal) =>
    concurrency.run(trust, async () => {
      signal.throwIfAborted()
      const addresses = await targetAddresses.find(target.hostname, trust, signal)
      hosts.countConnection(trust, addresses)
      return requestDocument({ target, addresses, maximumSize, ca, signal })
    })

  return {
    async fetch(url, maximumSize = usualSize, { trust = 'unknown', sender } = {}) {
      const key = `${trust} ${maximumSize} ${url}`
      const other = running.get(key)
      if (other !== undefined) return other
      const target = parseTarget(url)
      const senders = trust === 'unknown' && sender !== undefined ? networksOf(sender.address()) : []
      const [widest] = senders
      // Not within the fetch that others share: the limits of one sender must not refuse the others.
      concurrency.enter(widest?.network)
      try {
        hosts.countFetch({ url, hostname: target.hostname, trust, senders })
        const own = within(timeout, (signal) => fetchInQueue(target, maximumSize, trust, signal))
        running.set(key, own)
        return await own.finally(() => running.delete(key))
      } finally {
        concurrency.leave(widest?.network)
      }
    },
  }
}

/** Makes the fetch of a server at its first use: most servers fetch no documents of clients. */
export function fetchOfServer(issuer: string, clock: () => number): DocumentFetch {
  let made: DocumentFetch | undefined
  return {
    // Only a server that itself is at loopback, such as one in development, may ask this machine.
    fetch: (...inquiry) =>
      (made ??= documentFetch({ loopback: isLoopback(new URL(issuer).hostname), clock })).fetch(...inquiry),
  }
}

/** Rejects if an act takes too long, and aborts its signal. The wait ends with the act. */
export async function within<Outcome>(
  milliseconds: number,
  act: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> {
  const deadline = new AbortController()
  const { signal } = deadline
  const end = wait(milliseconds / 1000, () => deadline.abort(new DocumentUnavailable('timeout')))
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  try {
    return await Promise.race([act(signal), late])
  } finally {
    end()
  }
}
