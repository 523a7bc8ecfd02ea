import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { groupsOf } from '../rate-limit/network'

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
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4')
  if (!isIPv6(address) || address.includes('%')) return false
  const embedded = embeddedIPv4(groupsOf(address))
  if (embedded !== undefined && special.check(embedded, 'ipv4')) return false
  return assigned.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** Whether the text is a loopback address: 127.0.0.0/8 or ::1, and no other form of them. */
export function isLoopbackAddress(address: string): boolean {
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
