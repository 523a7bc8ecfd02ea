import type { ClientRateLimitInfo, Store } from 'express-rate-limit'
import { BoundedWindows } from './bounded-windows'
import { providerOf } from './network'

// Times the limit, for a provider whose networks have no room of their own.
const factorOfProvider = 256

/**
 * Bounded, and each hit counts: a network without room counts with those of its provider, a provider without room with
 * all others. Such a shared count may have 256 times as many hits.
 */
export class NetworkWindows implements Store {
  private readonly networks: BoundedWindows
  private readonly providers: BoundedWindows
  private readonly others: BoundedWindows

  /** @param clock milliseconds; must not step. @param maximum of networks, and of providers. */
  constructor(clock: () => number, milliseconds: number, maximum = 100_000) {
    this.networks = new BoundedWindows(clock, milliseconds, maximum)
    this.providers = new BoundedWindows(clock, milliseconds, maximum)
    this.others = new BoundedWindows(clock, milliseconds)
  }

  increment(network: string): ClientRateLimitInfo {
    const own = this.networks.count(network)
    if (own !== undefined) return { totalHits: own.hits, resetTime: new Date(own.endsAt) }
    const shared = this.providers.count(sharedKeyOf(network)) ?? this.others.count(sizeOf(network))
    if (shared === undefined) throw new Error('The counts of requests in memory are full.')
    // A fraction makes the limit hold for 256 times as many hits.
    return { totalHits: shared.hits / factorOfProvider, resetTime: new Date(shared.endsAt) }
  }

  decrement(network: string): void {
    const key = sharedKeyOf(network)
    if (this.networks.get(network) !== undefined) this.networks.decrement(network)
    else if (this.providers.get(key) !== undefined) this.providers.decrement(key)
    else this.others.decrement(sizeOf(network))
  }

  resetKey(network: string): void {
    this.networks.resetKey(network)
  }
}

const sharedKeyOf = (network: string) => `${providerOf(network)} ${sizeOf(network)}`
const sizeOf = (network: string) => network.split('/', 2)[1] ?? ''
