import { networkOf } from '../rate-limit/network'
import { TokenBuckets } from '../rate-limit/token-buckets'
import { DocumentUnavailable } from './document-unavailable'

const ofName = { attempts: 30, seconds: 60 }
// One network has many names: hosting companies.
const ofNetwork = { attempts: 120, seconds: 60 }

const refusal = () => new DocumentUnavailable('limited')

/**
 * How often one process asks one host, so that a stranger cannot aim this server at it: by the name, and by the networks
 * of its addresses, because the owner of a domain can make any number of names for the address of another.
 */
export class HostLimits {
  private readonly names: TokenBuckets
  private readonly networks: TokenBuckets

  /** @param clock milliseconds of a clock that does not step. */
  constructor(clock: () => number) {
    this.names = new TokenBuckets(ofName, refusal, clock, 10_000)
    this.networks = new TokenBuckets(ofNetwork, refusal, clock, 10_000)
  }

  /** Counts a fetch from this name. @throws DocumentUnavailable over its limit. */
  countName(hostname: string): void {
    this.names.take(hostname)
  }

  /** Counts a fetch from these addresses. @throws DocumentUnavailable if one is over its limit. */
  countAddresses(addresses: readonly string[]): void {
    for (const network of new Set(addresses.map(networkOf))) this.networks.take(network)
  }
}
