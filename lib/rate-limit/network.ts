import { isIPv4, isIPv6 } from 'node:net'

/**
 * The network that limits count for one address: the address itself for IPv4, and the first 64 bits for IPv6, because
 * one subscriber has all addresses with these bits. Every text that is no address gives `unknown`, so an attacker
 * cannot get a new count with each odd text.
 *
 * @param address the address from Express. If the host trusts a proxy, the address comes from a header of the proxy.
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
  // RFC 4291 2.5.5.2: a socket for both families writes an IPv4 address in this form.
  const mapped = groups.slice(0, 6).join() === '0,0,0,0,0,65535'
  if (mapped) return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** The eight groups of an IPv6 address. */
export function groupsOf(address: string): readonly number[] {
  // The URL parser gives each address one spelling, and writes a dotted end in hexadecimal.
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = [], tail = []] = text.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const between = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...between, ...tail].map((group) => Number.parseInt(group, 16))
}
