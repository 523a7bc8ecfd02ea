/**
 * RFC 9207 2.4, RFC 6749 3.1.2.3: issuers and redirection URIs are compared letter by letter, so people look for one
 * small slip.
 */
export function differenceBetween(one: string, other: string): string | undefined {
  if (one === other || !URL.canParse(one) || !URL.canParse(other)) return undefined
  if (withoutSlash(one) === withoutSlash(other)) return 'They differ only in the slash at the end.'
  if (one.toLowerCase() === other.toLowerCase()) return 'They differ only in upper and lower case.'
  const [first, second] = [new URL(one), new URL(other)]
  const parts = (['protocol', 'hostname', 'port', 'pathname', 'search'] as const).filter(
    (part) => first[part] !== second[part],
  )
  const [part, more] = parts
  if (part === undefined || more !== undefined) return undefined
  return `They differ only in the ${names[part]}: ${partOf(first[part])} and ${partOf(second[part])}.`
}

/**
 * Issuers that differ in one part are mostly one, written twice: a store for each would hide the slip, and the guard
 * would still refuse every token.
 */
export function adviceForShared(issuer: string, ...others: readonly string[]): string {
  const slips = others.flatMap((other) => slipBetween(issuer, other) ?? [])
  if (slips.length === 0)
    return 'Each accepts only its own tokens, and they share registered clients and counts: give each issuer its own store or prefix.'
  return `${slips[0]} A server and its guards must name one issuer, letter by letter, or the guards refuse every token: make the two equal. If they are two servers, give each its own store or prefix.`
}

// Tenants differ in path or host, on purpose.
function slipBetween(one: string, other: string): string | undefined {
  const isSlip = likelySlips(one).includes(other) || one.toLowerCase() === other.toLowerCase()
  return isSlip ? differenceBetween(one, other) : undefined
}

const withoutSlash = (url: string) => url.replace(/\/+$/, '')
const partOf = (text: string) => (text === '' ? 'none' : text)

const names = {
  protocol: 'scheme',
  hostname: 'host',
  port: 'port',
  pathname: 'path',
  search: 'query',
} as const

const loopbackHosts = ['localhost', '127.0.0.1', '[::1]']

/** What people write by mistake. */
export function likelySlips(issuer: string): readonly string[] {
  if (!URL.canParse(issuer)) return []
  const { protocol, hostname } = new URL(issuer)
  const hosts = loopbackHosts.includes(hostname) ? loopbackHosts : [hostname]
  const rest = issuer.slice(`${protocol}//${hostname}`.length)
  const written = hosts.flatMap((host) => ['http:', 'https:'].map((scheme) => `${scheme}//${host}${rest}`))
  const slips = written.flatMap((url) => [withoutSlash(url), `${withoutSlash(url)}/`])
  return slips.filter((slip) => slip !== issuer)
}
