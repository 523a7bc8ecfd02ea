import { isIPv4, isIPv6 } from 'node:net'

/**
 * What counts as one address: an IPv4 address; of IPv6 the first 64 bits, because one connection has all that are behind
 * them; one word for whatever is no address, so that odd texts have no count of their own each.
 *
 * @param address as Express tells it, which is the word of a proxy where the host trusts one.
 */
export function networkOf(address: string | undefined): string {
  const bare = withoutPort(address ?? '')
  if (isIPv4(bare)) return bare
  const [text = ''] = bare.split('%', 1)
  return isIPv6(text) ? networkOfGroups(groupsOf(text)) : 'unknown'
}

// Some proxies write the port into X-Forwarded-For.
function withoutPort(address: string): string {
  const [, bare = address] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/.exec(address)?.filter(Boolean) ?? []
  return bare
}

function networkOfGroups(groups: readonly number[]): string {
  const [high = 0, low = 0] = groups.slice(6)
  // RFC 4291 2.5.5.2: an IPv4 address, as a socket for both families tells it.
  const mapped = groups.slice(0, 6).join() === '0,0,0,0,0,65535'
  if (mapped) return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

// The eight groups. The URL parser writes an address in one way, with a dotted end in hexadecimal.
function groupsOf(address: string): readonly number[] {
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = [], tail = []] = text.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const between = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...between, ...tail].map((group) => Number.parseInt(group, 16))
}
