import { BoundedMap } from '../protocol/bounded-map'
import { networkOf } from '../rate-limit/network'
import { TokenBuckets } from '../rate-limit/token-buckets'
import { DocumentUnavailable } from './document-unavailable'

const perMinute = (attempts: number) => ({ attempts, seconds: 60 })
const refusal = () => new DocumentUnavailable('limited')
const mostKnown = 10_000

/**
 * How often one process asks one host, so that an attacker cannot aim this server at it. The limits count by name, and
 * by the networks of the addresses: the owner of a domain can make any number of names for the address of another.
 *
 * A URL that has given a document before counts by itself. Otherwise, an attacker who names many other URLs of a host
 * could use up its limit, and so lock out the clients whose documents stand there.
 */
export class HostLimits {
  // Of too many URLs, those that gave a document most recently.
  private readonly known = new BoundedMap<true>(mostKnown)
  private readonly documents: TokenBuckets
  private readonly names: TokenBuckets
  private readonly networksOfKnown: TokenBuckets
  private readonly networks: TokenBuckets

  /** @param clock milliseconds of a clock that does not step. */
  constructor(clock: () => number) {
    this.documents = new TokenBuckets(perMinute(6), refusal, clock, mostKnown)
    this.names = new TokenBuckets(perMinute(30), refusal, clock, mostKnown)
    // A network has many names: those of a hosting company.
    this.networksOfKnown = new TokenBuckets(perMinute(600), refusal, clock, mostKnown)
    this.networks = new TokenBuckets(perMinute(120), refusal, clock, mostKnown)
  }

  /** Counts a fetch, before the name is looked up. @throws DocumentUnavailable over a limit. */
  countFetch(url: string, hostname: string): void {
    if (this.known.has(url)) this.documents.take(url)
    else this.names.take(hostname)
  }

  /** Counts a fetch, before a connection is made. @throws DocumentUnavailable over a limit. */
  countConnection(url: string, addresses: readonly string[]): void {
    const buckets = this.known.has(url) ? this.networksOfKnown : this.networks
    for (const network of new Set(addresses.map(networkOf))) buckets.take(network)
  }

  /** Remembers that a URL has given a document. */
  remember(url: string): void {
    this.known.put(url, true)
  }
}
