import { Resolver } from 'node:dns/promises'
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import { groupsOf } from '../../limits/network'
import { isRecord } from '../../primitives/options-reader'
import { namesHost, plainUrl } from '../../protocol/uri'
import { DocumentUnavailable } from './document-unavailable'
import { forEachTrust, type UrlTrust } from './fetch-limits'

/** Where a document is. */
export interface Target {
  /** A name in lower case, or an IP address without brackets, as the URL parser writes them. */
  readonly hostname: string
  readonly port: number
  /** The value of the header `Host`. */
  readonly host: string
  /** The path and the query. */
  readonly path: string
  /** Whether the URL is http, and so only for loopback. */
  readonly isPlain: boolean
}

const longestUrl = 2048

/**
 * Reads an https URL of at most 2048 characters, without user name, password and fragment. The URL parser repairs no
 * part of it, because other software would then fetch from elsewhere. An IP address in any spelling becomes the usual
 * one.
 *
 * @param schemes `http too` for a server and a host at loopback. Default: https alone.
 * @throws DocumentUnavailable for every other text.
 */
export function parseTarget(text: string, schemes?: 'http too'): Target {
  const url = text.length > longestUrl || !namesHost(text) ? undefined : plainUrl(text)
  // Also credentials without a character, which a URL parser drops.
  const hasCredentials = /^[^/]*\/\/[^/?#]*@/.test(text)
  // A name with a dot at its end has another certificate and another count than the same name without.
  const isPlain = url?.protocol === 'http:' && schemes === 'http too'
  if (
    url === undefined ||
    (url.protocol !== 'https:' && !isPlain) ||
    hasCredentials ||
    url.hostname.endsWith('.')
  )
    throw new DocumentUnavailable('url')
  const { port, host, hostname, pathname, search } = url
  return {
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (isPlain ? 80 : 443) : Number(port),
    host,
    path: pathname + search,
    isPlain,
  }
}

/**
 * Finds all addresses of a name, in the form of `lookup` of `node:dns/promises`. The signal aborts at the deadline of the
 * fetch.
 */
export type Lookup = (
  hostname: string,
  options: { readonly all: true; readonly signal?: AbortSignal },
) => Promise<readonly { readonly address: string }[]>

/** How many look-ups for one level of trust may run on after the deadline of their fetch. */
const maximumAbandoned = 64

/** Finds the addresses that a fetch may connect to. */
export class TargetAddresses {
  private readonly abandoned = forEachTrust(() => ({ count: 0 }))

  /** @param loopback whether loopback addresses are allowed. */
  constructor(
    private readonly lookup: Lookup,
    private readonly loopback: boolean,
  ) {}

  /**
   * Resolves to addresses of the name or address that a connection may be made to: at most two of each family. One
   * forbidden address refuses the whole name: it may be there to lead this server inside.
   *
   * A look-up that goes on after the deadline of its fetch holds no place among the fetches. Too many of them refuse new
   * ones, so names whose DNS is silent cannot pile them up.
   *
   * @param loopbackOnly whether only a loopback address will do, as for http.
   * @throws DocumentUnavailable if there is no address, or a forbidden one; the reason of the signal if it aborts first.
   */
  async find(
    hostname: string,
    trust: UrlTrust,
    signal: AbortSignal,
    loopbackOnly = false,
  ): Promise<readonly string[]> {
    const abandoned = this.abandoned[trust]
    if (abandoned.count >= maximumAbandoned) throw new DocumentUnavailable('busy')
    let isOver = false
    const lookedUp = this.addressesOf(hostname, signal).finally(() => {
      isOver = true
    })
    try {
      return this.checkedAddresses(await unlessAborted(lookedUp, signal), loopbackOnly)
    } finally {
      if (!isOver) {
        abandoned.count += 1
        const settled = () => {
          abandoned.count -= 1
        }
        lookedUp.then(settled, settled)
      }
    }
  }

  private async addressesOf(hostname: string, signal: AbortSignal): Promise<readonly string[]> {
    if (isIP(hostname) !== 0) return [hostname]
    try {
      const found = await this.lookup(hostname, { all: true, signal })
      if (found.length > 0) return found.map(({ address }) => address)
    } catch (error) {
      throw new DocumentUnavailable(isSilence(error) ? 'dns_silent' : 'unresolved', error)
    }
    throw new DocumentUnavailable('unresolved')
  }

  private checkedAddresses(addresses: readonly string[], loopbackOnly: boolean): readonly string[] {
    const isAllowed = (address: string) =>
      (!loopbackOnly && isPublicAddress(address)) || (this.loopback && isLoopbackAddress(address))
    if (!addresses.every(isAllowed)) throw new DocumentUnavailable('address_forbidden')
    // Few of many: a name with many addresses must not make this server try them all. IPv4 first: it has fewer holes.
    const [ipv4, ipv6] = [addresses.filter(isIPv4), addresses.filter((each) => !isIPv4(each))]
    return [...ipv4.slice(0, 2), ...ipv6.slice(0, 2)]
  }
}

/** Settles as the work does, or rejects with the reason of the signal. */
function unlessAborted<Outcome>(work: Promise<Outcome>, signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

// No answer came, or a server on the way reports that it got none. EAI_AGAIN comes from `lookup` of Node.
const silences: ReadonlySet<unknown> = new Set([
  'ETIMEOUT',
  'ECANCELLED',
  'ECONNREFUSED',
  'ESERVFAIL',
  'EAI_AGAIN',
])

const isSilence = (error: unknown): boolean => isRecord(error) && silences.has(error['code'])

// Milliseconds.
const longestLookUp = 1200

/**
 * Asks DNS for the addresses of a name, for 1.2 seconds at most. In contrast to `lookup` of Node, this needs no thread:
 * names whose servers do not answer would otherwise take the threads that bcrypt and the file system need. So the hosts
 * file of this machine counts for nothing.
 *
 * @param servers the addresses of DNS servers, with a port if it is not 53. Default: those of this machine.
 */
export const lookupInDns =
  (servers?: readonly string[]): Lookup =>
  async (hostname, { signal }) => {
    // RFC 6761 6.3: no DNS server is asked for these names.
    if (/(?:^|\.)localhost$/.test(hostname)) return [{ address: '127.0.0.1' }, { address: '::1' }]
    const resolver = new Resolver({ timeout: 400, tries: 2 })
    if (servers !== undefined) resolver.setServers(servers)
    const cancel = () => resolver.cancel()
    signal?.addEventListener('abort', cancel)
    // Time is left if the servers of a name answer for one family only. With several DNS servers, tries take longer.
    const timer = setTimeout(cancel, longestLookUp)
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    const refusals = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
    // A family that did not answer may be the one that has addresses.
    if (addresses.length === 0) throw refusals.find(isSilence) ?? refusals[0]
    return addresses.map((address) => ({ address }))
  }

// The IANA registry of special-purpose IPv4 addresses, also those that it calls globally reachable: they belong to
// protocols, and no web site stands there. Multicast and reserved addresses are in registries of their own.
const specialIPv4: readonly (readonly [network: string, bits: number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private use
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, and the instance metadata of clouds
  ['172.16.0.0', 12], // private use
  ['192.0.0.0', 24], // IETF protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // AMT
  ['192.88.99.0', 24], // relays of 6to4
  ['192.168.0.0', 16], // private use
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarking
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and limited broadcast
  // In no registry: at this public address, Azure serves every virtual machine from the inside.
  ['168.63.129.16', 32],
]

// What is special within 2000::/3, the only addresses that IANA assigns to networks. All else needs no list: loopback,
// unspecified, IPv4-compatible, -mapped and -translated, local NAT64, discard-only, unique local, link-local, site-local,
// SRv6 identifiers, multicast, reserved.
const specialIPv6: readonly (readonly [network: string, bits: number])[] = [
  ['2001::', 23], // IETF protocol assignments: Teredo, benchmarking, AMT, ORCHID and others
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
]

const special = new BlockList()
for (const [network, bits] of specialIPv4) special.addSubnet(network, bits, 'ipv4')
for (const [network, bits] of specialIPv6) special.addSubnet(network, bits, 'ipv6')

const assigned = new BlockList()
assigned.addSubnet('2000::', 3, 'ipv6')
// RFC 6052 2.1: where a network has IPv6 only, its DNS answers so for each IPv4 address.
assigned.addSubnet('64:ff9b::', 96, 'ipv6')

/**
 * Whether the text is an address of the public internet, in its usual spelling and without a zone. An IPv4 address
 * within an IPv6 address must be public too.
 */
function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4')
  if (!isIPv6(address) || address.includes('%')) return false
  const embedded = embeddedIPv4(groupsOf(address))
  if (embedded !== undefined && special.check(embedded, 'ipv4')) return false
  return assigned.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** Whether the text is a loopback address: 127.0.0.0/8 or ::1, and no other form of them. */
function isLoopbackAddress(address: string): boolean {
  if (isIPv4(address)) return address.startsWith('127.')
  return isIPv6(address) && !address.includes('%') && groupsOf(address).join() === '0,0,0,0,0,0,0,1'
}

function embeddedIPv4(groups: readonly number[]): string | undefined {
  const isTranslated = groups.slice(0, 6).join() === [0x64, 0xff9b, 0, 0, 0, 0].join()
  // RFC 5214 6.1: ISATAP, in any network.
  const isIsatap = (groups[4] === 0 || groups[4] === 0x200) && groups[5] === 0x5efe
  if (!isTranslated && !isIsatap) return undefined
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join('.')
}
