import { type CountedNetwork, networksOf } from '../../limits/network'
import { TokenBuckets } from '../../limits/shares'
import { DocumentUnavailable } from './document-unavailable'

const maximumKeys = 10_000
const refusal = () => new DocumentUnavailable('limited')

/**
 * An attacker must not aim this server at a host. Counts by name and by the networks of the addresses: a
 * domain's owner can make any number of names for another's address.
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
  // A network has many names, such as those of a hosting company. More than the 1920 of a /48 to all names.
  const networks = perMinute(2400)
  return {
    /** Before the look-up of the name. */
    countFetch(hostname: string, senders: readonly CountedNetwork[]): void {
      // First the limit that a single attacker reaches first: beyond it, nothing that others need is used up.
      const atHost = senders.map(({ network, factor }) => ({ network: `${network} ${hostname}`, factor }))
      sendersAtHosts.takeFromAll(atHost)
      sendersEverywhere.takeFromAll(senders)
      hosts.take(hostname)
    },
    /** Before the connection. */
    countConnection: (addresses: readonly string[]): void =>
      networks.takeFromAll(addresses.flatMap(networksOf)),
  }
}

/** At the same time, waiting ones included. */
const maximumOfSender = 8

type OfSender = <Outcome>(network: string | undefined, act: () => Promise<Outcome>) => Promise<Outcome>

export function sharesOfSenders(): OfSender {
  const counts = new Map<string, number>()
  return async (network, act) => {
    if (network === undefined) return act()
    const count = counts.get(network) ?? 0
    if (count >= maximumOfSender) throw refusal()
    counts.set(network, count + 1)
    try {
      return await act()
    } finally {
      const left = (counts.get(network) ?? 0) - 1
      if (left > 0) counts.set(network, left)
      else counts.delete(network)
    }
  }
}
