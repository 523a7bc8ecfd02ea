import { Resolver } from 'node:dns/promises'
import { isIP, isIPv4 } from 'node:net'
import { DocumentUnavailable } from './document-unavailable'
import { isLoopbackAddress, isPublicAddress } from './public-address'

/** Finds all addresses of a name, in the form of `lookup` of `node:dns/promises`. */
export type Lookup = (
  hostname: string,
  options: { readonly all: true },
) => Promise<readonly { readonly address: string }[]>

/**
 * Resolves to addresses of the name or address that a connection may be made to: at most two of each family. One
 * forbidden address refuses the whole name, because its owner means to lead this server inside.
 *
 * @param loopback whether loopback addresses are allowed.
 * @throws DocumentUnavailable if there is no address, or a forbidden one.
 */
export async function checkedAddresses(
  hostname: string,
  { lookup, loopback }: { readonly lookup: Lookup; readonly loopback: boolean },
): Promise<readonly string[]> {
  const addresses = isIP(hostname) === 0 ? await addressesOf(hostname, lookup) : [hostname]
  const isAllowed = (address: string) => isPublicAddress(address) || (loopback && isLoopbackAddress(address))
  if (!addresses.every(isAllowed)) throw new DocumentUnavailable('address_forbidden')
  // Few of many: a name with many addresses must not make this server try them all. IPv4 first: it has fewer holes.
  const [ipv4, ipv6] = [addresses.filter(isIPv4), addresses.filter((each) => !isIPv4(each))]
  return [...ipv4.slice(0, 2), ...ipv6.slice(0, 2)]
}

async function addressesOf(hostname: string, lookup: Lookup): Promise<readonly string[]> {
  try {
    const found = await lookup(hostname, { all: true })
    if (found.length > 0) return found.map(({ address }) => address)
  } catch (error) {
    throw new DocumentUnavailable('unresolved', error)
  }
  throw new DocumentUnavailable('unresolved')
}

/**
 * Asks DNS for the addresses of a name. In contrast to `lookup` of Node, this needs no thread: names whose servers do
 * not answer would otherwise take the threads that bcrypt and the file system need. So the hosts file of this machine
 * counts for nothing.
 *
 * @param servers the addresses of DNS servers, with a port if it is not 53. Default: those of this machine.
 */
export const lookupInDns =
  (servers?: readonly string[]): Lookup =>
  async (hostname) => {
    // RFC 6761 6.3: no DNS server is asked for these names.
    if (/(?:^|\.)localhost$/.test(hostname)) return [{ address: '127.0.0.1' }, { address: '::1' }]
    // 1.2 seconds at most, so that time is left if the servers of a name answer for one family only.
    const resolver = new Resolver({ timeout: 400, tries: 2 })
    if (servers !== undefined) resolver.setServers(servers)
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    const [refusal] = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
    if (addresses.length === 0) throw refusal
    return addresses.map((address) => ({ address }))
  }
