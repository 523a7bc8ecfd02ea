import { Resolver } from 'node:dns/promises'
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import { groupsOf, lastAsIPv4 } from '../../limits/network'
import { isRecord } from '../../primitives/values'
import { namesHost, plainUrl } from '../../protocol/uri'
import { DocumentUnavailable } from './document-unavailable'
import specialNetworks from './special-networks.json'

export interface Target {
  // In lower case, or an IP address without brackets.
  readonly hostname: string
  readonly port: number
  readonly host: string
  readonly path: string
  readonly isPlain: boolean
}

export const longestUrl = 2048

// The parser may repair nothing: other software would then fetch from elsewhere.
export function parseTarget(text: string, schemes?: 'http too'): Target {
  const url = text.length > longestUrl || !namesHost(text) ? undefined : plainUrl(text)
  // Also empty credentials, which a URL parser drops.
  const hasCredentials = /^[^/]*\/\/[^/?#]*@/.test(text)
  // A dot at the end gives a name another certificate and another count.
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

/** As `lookup` of `node:dns/promises`. The signal aborts at the fetch's deadline. */
export type Lookup = (
  hostname: string,
  options: { readonly all: true; readonly signal?: AbortSignal },
) => Promise<readonly { readonly address: string }[]>

export const maximumAbandoned = 64
export const triedOfFamily = 2

export class TargetAddresses {
  private readonly running = new Set<AbortSignal>()

  constructor(
    private readonly lookup: Lookup,
    private readonly loopback: boolean,
    // For names that the operator chose.
    private readonly anywhere = false,
  ) {}

  // One forbidden address refuses the name: it may lead this server inside. Look-ups that outlive their fetches refuse
  // new ones: names with silent DNS cannot pile up.
  async find(hostname: string, signal: AbortSignal, loopbackOnly = false): Promise<readonly string[]> {
    const abandoned = [...this.running].filter(({ aborted }) => aborted)
    if (abandoned.length >= maximumAbandoned) throw new DocumentUnavailable('busy')
    this.running.add(signal)
    const lookedUp = this.addressesOf(hostname, signal).finally(() => this.running.delete(signal))
    return this.checkedAddresses(await unlessAborted(lookedUp, signal), loopbackOnly)
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
      (!loopbackOnly && (this.anywhere || isPublicAddress(address))) ||
      (this.loopback && isLoopbackAddress(address))
    if (!addresses.every(isAllowed)) throw new DocumentUnavailable('address_forbidden')
    // A name may have many. IPv4 first: it has fewer holes.
    const [ipv4, ipv6] = [addresses.filter(isIPv4), addresses.filter((each) => !isIPv4(each))]
    return [...ipv4.slice(0, triedOfFamily), ...ipv6.slice(0, triedOfFamily)]
  }
}

function unlessAborted<Outcome>(work: Promise<Outcome>, signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

// A server gave no answer, or got none. EAI_AGAIN comes from Node's `lookup`.
const silences: ReadonlySet<unknown> = new Set(
  'ETIMEOUT ECANCELLED ECONNREFUSED ESERVFAIL EAI_AGAIN'.split(' '),
)

const isSilence = (error: unknown): boolean => isRecord(error) && silences.has(error['code'])

// Milliseconds.
const longestLookUp = 1200

// Node's `lookup` needs a thread: names with silent servers would take those of bcrypt and the file system.
export const lookupInDns =
  (servers?: readonly string[]): Lookup =>
  async (hostname, { signal }) => {
    // RFC 6761 6.3
    if (/(?:^|\.)localhost$/.test(hostname)) return [{ address: '127.0.0.1' }, { address: '::1' }]
    const resolver = new Resolver({ timeout: 400, tries: 2 })
    if (servers !== undefined) resolver.setServers(servers)
    const cancel = () => resolver.cancel()
    signal?.addEventListener('abort', cancel)
    // Leaves time if one family's servers are silent.
    const timer = setTimeout(cancel, longestLookUp)
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    const refusals = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
    // The family without an answer may be the one with addresses.
    if (addresses.length === 0) throw refusals.find(isSilence) ?? refusals[0]
    return addresses.map((address) => ({ address }))
  }

// IANA's special-purpose addresses, also globally reachable ones: no web site stands there. IANA assigns IPv6 within
// 2000::/3 only.
const special = new BlockList()
for (const [network = '', bits] of Object.keys(specialNetworks).map((each) => each.split('/')))
  special.addSubnet(network, Number(bits), isIPv4(network) ? 'ipv4' : 'ipv6')

const assigned = new BlockList()
assigned.addSubnet('2000::', 3, 'ipv6')
// RFC 6052 2.1: the DNS of an IPv6-only network answers so for IPv4.
assigned.addSubnet('64:ff9b::', 96, 'ipv6')

// Without a zone. An embedded IPv4 address must be public too.
function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4')
  if (!isIPv6(address) || address.includes('%')) return false
  const embedded = embeddedIPv4(groupsOf(address))
  if (embedded !== undefined && special.check(embedded, 'ipv4')) return false
  return assigned.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

// 127.0.0.0/8 or ::1, in no other form.
function isLoopbackAddress(address: string): boolean {
  if (isIPv4(address)) return address.startsWith('127.')
  return isIPv6(address) && !address.includes('%') && groupsOf(address).join() === '0,0,0,0,0,0,0,1'
}

function embeddedIPv4(groups: readonly number[]): string | undefined {
  const isTranslated = groups.slice(0, 6).join() === [0x64, 0xff9b, 0, 0, 0, 0].join()
  // RFC 5214 6.1: ISATAP, in any network.
  const isIsatap = (groups[4] === 0 || groups[4] === 0x200) && groups[5] === 0x5efe
  return isTranslated || isIsatap ? lastAsIPv4(groups) : undefined
}
