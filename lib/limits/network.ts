import { isIPv4, isIPv6 } from 'node:net'
import { withoutPort } from '../protocol/sender'

/**
 * An IPv4 address, or the first 64 bits of IPv6, which one connection has whole. A text that is no address gives
 * `unknown`: an attacker gets no new count with each odd text.
 */
export const networkOf = (address: string | undefined): string => networkWith(64, address)

export const networkWith = (bits: number, address: string | undefined): string =>
  networkIn(partsOf(address), bits)

/** For people: a socket for both families writes IPv4 as IPv6. */
export function plainAddress(address: string | undefined): string | undefined {
  const parts = partsOf(address)
  return typeof parts === 'string' && parts !== 'unknown' ? parts : address
}

/** `factor`: times the limit of 64 bits. */
export interface CountedPrefix {
  readonly bits: number
  readonly factor: number
}

export const hasPrefixes = (address: string | undefined): boolean => typeof partsOf(address) !== 'string'

/** RFC 6177 2: what providers give one subscriber, the widest first. */
export const subscriberPrefixes: readonly CountedPrefix[] = [
  { bits: 48, factor: 16 },
  { bits: 64, factor: 1 },
]

export interface CountedNetwork {
  readonly network: string
  readonly factor: number
}

/** For limits on strangers, the widest first: one subscriber may have 48 to 64 bits of IPv6. */
export function networksOf(address: string | undefined): readonly CountedNetwork[] {
  const parts = partsOf(address)
  if (typeof parts === 'string') return [{ network: parts, factor: 1 }]
  return subscriberPrefixes.map(({ bits, factor }) => ({ network: networkIn(parts, bits), factor }))
}

function partsOf(address: string | undefined): string | readonly number[] {
  const bare = withoutPort(address ?? '')
  if (isIPv4(bare)) return bare
  const [text = ''] = bare.split('%', 1)
  if (!isIPv6(text)) return 'unknown'
  const groups = groupsOf(text)
  return mappedIPv4(groups) ?? groups
}

// RFC 4291 2.5.5.2: a socket for both families writes IPv4 so.
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

export function groupsOf(address: string): readonly number[] {
  // The URL parser gives each address one spelling, with a dotted end in hexadecimal.
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = [], tail = []] = text.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const between = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...between, ...tail].map((group) => Number.parseInt(group, 16))
}
