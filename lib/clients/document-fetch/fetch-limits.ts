import { type CountedNetwork, networksOf } from '../../limits/network'
import { TokenBuckets } from '../../limits/token-buckets'
import { Semaphore } from '../../primitives/semaphore'
import { DocumentUnavailable } from './document-unavailable'

/**
 * How far this server trusts a URL. Fetches of one level of trust use up nothing that fetches of another level need.
 *
 * - `named`: the configuration or a registration names exactly this URL, or a resource owner has let its client in;
 * - `known`: a document came from there, within a day or while this process ran;
 * - `unknown`: anybody may have made the URL up.
 */
export type UrlTrust = 'named' | 'known' | 'unknown'

/** Makes one value for each level of trust. */
export const forEachTrust = <Value>(make: () => Value): Readonly<Record<UrlTrust, Value>> => ({
  named: make(),
  known: make(),
  unknown: make(),
})

const maximumKeys = 10_000
const refusal = () => new DocumentUnavailable('limited')

/** What one fetch counts for. */
interface CountedFetch {
  readonly url: string
  readonly hostname: string
  readonly trust: UrlTrust
  /** The networks of the sender; empty if the fetch has no sender. */
  readonly senders: readonly CountedNetwork[]
}

/**
 * How often one process asks one host, so that an attacker cannot aim this server at it. The limits count by name, and
 * by the networks of the addresses: the owner of a domain can make any number of names for the address of another.
 *
 * Anybody can make up any number of URLs of a host. So unknown URLs count for their sender first, and use up nothing of
 * the URLs that are named or known: each of those has a limit for itself.
 */
export class HostLimits {
  private readonly sendersAtHosts: TokenBuckets
  private readonly senders: TokenBuckets
  private readonly hosts: TokenBuckets
  private readonly urls: Readonly<Record<Exclude<UrlTrust, 'unknown'>, TokenBuckets>>
  private readonly networks: Readonly<Record<UrlTrust, TokenBuckets>>

  /** @param clock milliseconds of a clock that does not step. */
  constructor(clock: () => number) {
    const perMinute = (attempts: number) =>
      new TokenBuckets({ attempts, seconds: 60 }, refusal, clock, maximumKeys)
    this.sendersAtHosts = perMinute(30)
    this.senders = perMinute(120)
    // More than the 480 of a /48 of IPv6, which one subscriber may have.
    this.hosts = perMinute(600)
    this.urls = { named: perMinute(6), known: perMinute(6) }
    // A network has many names: those of a hosting company. More than the 1920 of a /48 to all names.
    this.networks = { named: perMinute(600), known: perMinute(600), unknown: perMinute(2400) }
  }

  /** Counts a fetch, before the name is looked up. @throws DocumentUnavailable over a limit. */
  countFetch({ url, hostname, trust, senders }: CountedFetch): void {
    if (trust !== 'unknown') return this.urls[trust].take(url)
    // First the limit that a single attacker reaches first: beyond it, the attacker uses up nothing that others need.
    const atHost = senders.map(({ network, factor }) => ({ network: `${network} ${hostname}`, factor }))
    this.sendersAtHosts.takeFromAll(atHost)
    this.senders.takeFromAll(senders)
    this.hosts.take(hostname)
  }

  /** Counts a fetch, before a connection is made. @throws DocumentUnavailable over a limit. */
  countConnection(trust: UrlTrust, addresses: readonly string[]): void {
    this.networks[trust].takeFromAll(addresses.flatMap(networksOf))
  }
}

/** How many documents of one level of trust are fetched at once, and how many calls wait. */
const maximumAtOnce = 16
const longestQueue = 64
/** How many fetches of unknown URLs one sender may have at once, those that wait included. */
const maximumOfSender = 8

/**
 * How many fetches run and wait at once. Each level of trust has its own queue, so URLs that anybody makes up cannot
 * keep a registered client waiting.
 */
export class ConcurrencyLimits {
  private readonly queues = forEachTrust(
    () => new Semaphore(maximumAtOnce, longestQueue, () => new DocumentUnavailable('busy')),
  )
  private readonly countOfSender = new Map<string, number>()

  /**
   * Counts a fetch of an unknown URL for the network of its sender, until `leave` gets the same network. A fetch without
   * a network does not count.
   *
   * @throws DocumentUnavailable if the network has too many fetches at once; nothing is counted then.
   */
  enter(network: string | undefined): void {
    if (network === undefined) return
    const count = this.countOfSender.get(network) ?? 0
    if (count >= maximumOfSender) throw new DocumentUnavailable('limited')
    this.countOfSender.set(network, count + 1)
  }

  leave(network: string | undefined): void {
    if (network === undefined) return
    const count = (this.countOfSender.get(network) ?? 0) - 1
    if (count > 0) this.countOfSender.set(network, count)
    else this.countOfSender.delete(network)
  }

  /** Runs a fetch when its queue lets it. @throws DocumentUnavailable if too many fetches of this level wait. */
  run<Outcome>(trust: UrlTrust, act: () => Promise<Outcome>): Promise<Outcome> {
    return this.queues[trust].take('in line', act)
  }
}
