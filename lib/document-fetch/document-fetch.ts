import type { RequestOptions } from 'node:https'
import { Semaphore } from '../concurrency/semaphore'
import { isRecord } from '../protocol/configuration'
import { steadyClock } from '../protocol/steady-clock'
import { checkedAddresses, type Lookup, lookupInDns } from './checked-addresses'
import { DocumentUnavailable } from './document-unavailable'
import { HostLimits } from './host-limits'
import { maximumAgeOf } from './maximum-age'
import { readJson } from './read-json'
import { requestDocument } from './request-document'
import { parseTarget } from './target'

/** Fetches JSON documents of strangers over https. */
export interface DocumentFetch {
  /**
   * Resolves to the document at this URL. Calls for the same URL at the same time share one fetch and its outcome. No
   * outcome is kept.
   *
   * @param maximumSize the most bytes of the document. Default 5120.
   * @throws DocumentUnavailable in every other case.
   */
  fetch(url: string, maximumSize?: number): Promise<FetchedDocument>
}

/** Whether a value can fetch documents. */
export function isDocumentFetch(value: unknown): value is DocumentFetch {
  return isRecord(value) && typeof value['fetch'] === 'function'
}

/** A document, and how long it may be kept. */
export interface FetchedDocument {
  /** Several callers may have this value: do not change it. */
  readonly json: unknown
  /** Seconds, 60 to 86 400. */
  readonly maximumAge: number
}

export interface DocumentFetchOptions {
  /** Whether documents may come from loopback addresses. Only a server whose own issuer is at loopback allows this. */
  readonly loopback: boolean
  /** Milliseconds from the call to the document or its failure, all waiting included. Default 2000. */
  readonly timeout?: number
  /** Milliseconds since the epoch, for the limits per host. Default `Date.now`. */
  readonly clock?: () => number
  /** Finds the addresses of a name. Default: DNS. `lookup` of `node:dns/promises` has this form. */
  readonly lookup?: Lookup
  /** The certificate authorities, in place of those of Node. */
  readonly ca?: RequestOptions['ca']
}

// In bytes.
const usualSize = 5120
/** How many documents are fetched at once, and how many calls wait for their turn. */
const atOnce = 16
const longestLine = 64

/**
 * Makes a {@link DocumentFetch} for documents that anyone may name: at most 16 at once, at most so many of one host, and
 * each within 2 seconds. A server makes one, because the limits count for what goes through it.
 */
export function documentFetch(options: DocumentFetchOptions): DocumentFetch {
  const { loopback, timeout = 2000, clock = Date.now, lookup = lookupInDns(), ca } = options
  const limits = new HostLimits(steadyClock(clock))
  const turns = new Semaphore(atOnce, longestLine, () => new DocumentUnavailable('busy'))
  const underWay = new Map<string, Promise<FetchedDocument>>()

  async function fetchNow(url: string, maximumSize: number, signal: AbortSignal): Promise<FetchedDocument> {
    const target = parseTarget(url)
    limits.countFetch(url, target.hostname)
    return turns.take('in line', async () => {
      signal.throwIfAborted()
      const addresses = await checkedAddresses(target.hostname, { lookup, loopback })
      signal.throwIfAborted()
      limits.countConnection(url, addresses)
      const { headers, body } = await requestDocument({ target, addresses, maximumSize, ca, signal })
      const document = { json: readJson(body), maximumAge: maximumAgeOf(headers) }
      limits.remember(url)
      return document
    })
  }

  return {
    fetch(url, maximumSize = usualSize) {
      const key = `${maximumSize} ${url}`
      const other = underWay.get(key)
      if (other !== undefined) return other
      const own = within(timeout, (signal) => fetchNow(url, maximumSize, signal)).finally(() =>
        underWay.delete(key),
      )
      underWay.set(key, own)
      return own
    },
  }
}

/** Rejects if an act takes too long, and aborts its signal. The timer ends with the act. */
async function within<Outcome>(
  milliseconds: number,
  act: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> {
  const deadline = new AbortController()
  const { signal } = deadline
  const timer = setTimeout(() => deadline.abort(new DocumentUnavailable('timeout')), milliseconds)
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  try {
    return await Promise.race([act(signal), late])
  } finally {
    clearTimeout(timer)
  }
}
