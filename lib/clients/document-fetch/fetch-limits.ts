import { type CountedNetwork, networksOf } from '../../limits/network'
import { TokenBuckets } from '../../limits/token-buckets'
import { Semaphore } from '../../primitives/concurrency'
import { DocumentUnavailable } from './document-unavailable'

/**
 * How far this server trusts a URL. Each level has its own limits.
 *
 * - `named`: the configuration or a registration names exactly this URL, or a resource owner has let its
 * client in;
 * - `known`: a document came from there, within a day or while this process ran;
 * - `unknown`: anybody may have made the URL up.
 */
export type UrlTrust = 'named' | 'known' | 'unknown'

export const forEachTrust = <Value>(make: () => Value): Readonly<Record<UrlTrust, Value>> => ({
  named: make(),
  known: make(),
  unknown: make(),
})

const maximumKeys = 10_000
const refusal = () => new DocumentUnavailable('limited')

interface CountedFetch {
  readonly url: string
  readonly hostname: string
  readonly trust: UrlTrust
  readonly senders: readonly CountedNetwork[]
}

/**
 * An attacker must not aim this server at a host. Counts by name and by the networks of the addresses: a
 * domain's owner can make any number of names for another's address.
 *
 * Unknown URLs count for their sender first, and use up nothing of
 * named or known URLs, each of which has its own limit.
 *
 * @param clock milliseconds of a clock that does not step.
 */
export function hostLimits(clock: () => number) {
  const perMinute = (attempts: number) =>
    new TokenBuckets({ attempts, seconds: 60 }, refusal, clock, maximumKeys)
  const sendersAtHosts = perMinute(30)
  const sendersEverywhere = perMinute(120)
  // More than the 480 of a /48 of IPv6, which one subscriber may have.
  const hosts = perMinute(600)
  const urls = { named: perMinute(6), known: perMinute(6) }
  // A network has many names, such as those of a hosting company. More than the 1920 of a /48 to all names.
  const networks = { named: perMinute(600), known: perMinute(600), unknown: perMinute(2400) }
  return {
    /** Before the look-up of the name. */
    countFetch({ url, hostname, trust, senders }: CountedFetch): void {
      if (trust !== 'unknown') return urls[trust].take(url)
      // First the limit that a single attacker reaches first: beyond it, nothing that others need is used up.
      const atHost = senders.map(({ network, factor }) => ({ network: `${network} ${hostname}`, factor }))
      sendersAtHosts.takeFromAll(atHost)
      sendersEverywhere.takeFromAll(senders)
      hosts.take(hostname)
    },
    /** Before the connection. */
    countConnection: (trust: UrlTrust, addresses: readonly string[]): void =>
      networks[trust].takeFromAll(addresses.flatMap(networksOf)),
  }
}

const maximumAtOnce = 16
const longestQueue = 64
/** Of unknown URLs, waiting ones included. */
const maximumOfSender = 8

/** One queue per level of trust: made-up URLs cannot keep a registered client waiting. */
export class ConcurrencyLimits {
  private readonly queues = forEachTrust(
    () => new Semaphore(maximumAtOnce, longestQueue, () => new DocumentUnavailable('busy')),
  )
  private readonly countOfSender = new Map<string, number>()

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

  run<Outcome>(trust: UrlTrust, act: () => Promise<Outcome>): Promise<Outcome> {
    return this.queues[trust].take('in line', act)
  }
}
