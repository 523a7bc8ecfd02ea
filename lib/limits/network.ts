import { isIPv4, isIPv6 } from 'node:net'
import { withoutPort } from '../protocol/sender'

/**
 * The network that limits count for one address: the address itself for IPv4, and the first 64 bits for IPv6, because
 * one connection has all addresses with these bits. Every text that is no address gives `unknown`, so an attacker
 * cannot get a new count with each odd text.
 *
 * @param address the address from Express. If the host trusts a proxy, the address comes from a header of the proxy.
 */
export function networkOf(address: string | undefined): string {
  return networkWith(64, address)
}

/** As {@link networkOf}, with another number of bits for IPv6. */
export function networkWith(bits: number, address: string | undefined): string {
  return networkIn(partsOf(address), bits)
}

/** An address for people: an IPv4 address that a socket for both families writes as IPv6 is an IPv4 address. */
export function plainAddress(address: string | undefined): string | undefined {
  const parts = partsOf(address)
  return typeof parts === 'string' && parts !== 'unknown' ? parts : address
}

/** A length of IPv6 prefixes, and how many times the limit of 64 bits such a network has. */
export interface CountedPrefix {
  readonly bits: number
  readonly factor: number
}

/** Whether the networks of an address have prefixes of several lengths: those of IPv6 do. */
export const hasPrefixes = (address: string | undefined): boolean => typeof partsOf(address) !== 'string'

/** What providers give one subscriber (RFC 6177 2), the widest first. */
export const subscriberPrefixes: readonly CountedPrefix[] = [
  { bits: 48, factor: 16 },
  { bits: 56, factor: 4 },
  { bits: 64, factor: 1 },
]

/** A network, and how many times the limit it has. */
export interface CountedNetwork {
  readonly network: string
  readonly factor: number
}

/**
 * The networks of one address that a limit on strangers counts, the widest first: the first 48, 56 and 64 bits of IPv6,
 * because one subscriber may have them all; the address itself for IPv4, and `unknown` for a text that is no address.
 */
export function networksOf(address: string | undefined): readonly CountedNetwork[] {
  const parts = partsOf(address)
  if (typeof parts === 'string') return [{ network: parts, factor: 1 }]
  return subscriberPrefixes.map(({ bits, factor }) => ({ network: networkIn(parts, bits), factor }))
}

/**
 * The network that a limit without room counts in place of a network: the first 32 bits of IPv6, which a provider has,
 * or 16 of IPv4.
 *
 * @param network from {@link networkOf} or {@link networksOf}.
 */
export function providerOf(network: string): string {
  const [first = '', second = ''] = network.split(/[.:]/, 2)
  if (isIPv4(network)) return `${first}.${second}.0.0/16`
  return network.includes(':') ? `${first}:${second}::/32` : network
}

/** The eight groups of an IPv6 address, or an IPv4 address, or `unknown`. */
function partsOf(address: string | undefined): string | readonly number[] {
  const bare = withoutPort(address ?? '')
  if (isIPv4(bare)) return bare
  const [text = ''] = bare.split('%', 1)
  if (!isIPv6(text)) return 'unknown'
  const groups = groupsOf(text)
  return mappedIPv4(groups) ?? groups
}

// RFC 4291 2.5.5.2: a socket for both families writes an IPv4 address in this form.
function mappedIPv4(groups: readonly number[]): string | undefined {
  if (groups.slice(0, 6).join() !== '0,0,0,0,0,65535') return undefined
  const [high = 0, low = 0] = groups.slice(6)
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

function networkIn(parts: ReturnType<typeof partsOf>, bits: number): string {
  if (typeof parts === 'string') return parts
  const kept = parts.slice(0, Math.ceil(bits / 16)).map((group, at) => {
    const left = bits - at * 16
    return (left < 16 ? group & (0xffff << (16 - left)) : group).toString(16)
  })
  return `${kept.join(':')}::/${bits}`
}

/** The eight groups of an IPv6 address. */
export function groupsOf(address: string): readonly number[] {
  // The URL parser gives each address one spelling, and writes a dotted end in hexadecimal.
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = [], tail = []] = text.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const between = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...between, ...tail].map((group) => Number.parseInt(group, 16))
}
