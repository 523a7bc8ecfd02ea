import { isIPv4, isIPv6 } from 'node:net'
import { withoutPort } from '../protocol/sender'

// One connection has 64 bits of IPv6. Odd texts are all `unknown`: none brings a new count.
export const networkOf = (address: string | undefined): string => networkIn(partsOf(address), 64)

// RFC 6177 2: the most that one subscriber gets.
export const widestOf = (address: string | undefined): string => networkIn(partsOf(address), 48)

// A socket for both families writes IPv4 as IPv6.
export function plainAddress(address: string | undefined): string | undefined {
  const parts = partsOf(address)
  return typeof parts === 'string' && parts !== 'unknown' ? parts : address
}

// Has `factor` times the limit of 64 bits.
export interface CountedNetwork {
  readonly network: string
  readonly factor: number
}

export const factorOfWidest = 16

// The widest first: one subscriber may have 48 to 64 bits of IPv6.
export function networksOf(address: string | undefined): readonly CountedNetwork[] {
  const parts = partsOf(address)
  const own = { network: networkIn(parts, 64), factor: 1 }
  return typeof parts === 'string' ? [own] : [{ network: networkIn(parts, 48), factor: factorOfWidest }, own]
}

function partsOf(address: string | undefined): string | readonly number[] {
  const bare = withoutPort(address ?? '')
  if (isIPv4(bare)) return bare
  const [text = ''] = bare.split('%', 1)
  if (!isIPv6(text)) return 'unknown'
  const groups = groupsOf(text)
  return mappedIPv4(groups) ?? groups
}

// RFC 4291 2.5.5.2
const mappedIPv4 = (groups: readonly number[]): string | undefined =>
  groups.slice(0, 6).join() === '0,0,0,0,0,65535' ? lastAsIPv4(groups) : undefined

export const lastAsIPv4 = (groups: readonly number[]): string =>
  groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join('.')

function networkIn(parts: ReturnType<typeof partsOf>, bits: 48 | 64): string {
  if (typeof parts === 'string') return parts
  const kept = parts.slice(0, bits / 16).map((group) => group.toString(16))
  return `${kept.join(':')}::/${bits}`
}

export function groupsOf(address: string): readonly number[] {
  // The URL parser gives each address one spelling, with a dotted end in hexadecimal.
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = [], tail = []] = text.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const between = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...between, ...tail].map((group) => Number.parseInt(group, 16))
}
