import { kind, optional } from '../primitives/schema'
import { isText } from '../primitives/values'

// RFC 3986 2, with complete percent triplets.
const characters = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/

/** `URL` repairs other texts, which other software does not. */
export const hasUriCharacters = (text: string): boolean => characters.test(text)

export const isAbsoluteUri = (text: string): boolean => hasUriCharacters(text) && URL.canParse(text)

/** Like `protocol` of `URL`, at a tenth of the cost. */
export const protocolOf = (uri: string): string => uri.slice(0, uri.indexOf(':') + 1).toLowerCase()

/** Without `//`, only browsers find a host. */
export const namesHost = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i.test(text)

const loopbackHosts = new Set(['127.0.0.1', '[::1]', 'localhost'])

export const isLoopback = (hostname: string): boolean => loopbackHosts.has(hostname)

export const hasUserinfo = ({ username, password }: URL): boolean => username !== '' || password !== ''

export function plainUrl(text: string): URL | undefined {
  if (!hasUriCharacters(text) || text.includes('#') || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return hasUserinfo(url) ? undefined : url
}

export function isSafeUrl(text: unknown): text is string {
  const url = isText(text) ? plainUrl(text) : undefined
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
}

export const safeUrlExpectation =
  'must be an https URL, or an http one on a loopback host, without user name, password and fragment.'

export const safeUrl = kind(isSafeUrl, safeUrlExpectation)

export function isWebPage(value: unknown): value is string {
  return isText(value) && /^https?:\/\//i.test(value) && hasUriCharacters(value) && URL.canParse(value)
}

export const webPageExpectation = 'must be the URL of a page, such as https://example.com/docs/api.'

/** RFC 6749 5.2: `error_uri`, with an error code as its fragment. */
const isPageUri = (value: unknown): value is string =>
  isText(value) && URL.canParse(value) && hasUriCharacters(value) && !value.includes('#')

export const pageUri = optional(
  kind(isPageUri, 'must be an absolute URL without a fragment, such as https://example.com/docs/errors.'),
)

/** RFC 9207 2.4, RFC 6749 3.1.2.3: compared exactly, so people look for one small slip. */
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
 * Issuers that differ in one part are mostly one: two stores would hide the slip, and guards still refuse every token.
 */
export function adviceForShared(issuer: string, ...others: readonly string[]): string {
  const slips = others.flatMap((other) => slipBetween(issuer, other) ?? [])
  if (slips.length === 0)
    return 'Each accepts only its own tokens, and they share registered clients and counts: give each issuer its own store or prefix.'
  return `${slips[0]} A server and its guards must name one issuer exactly, or the guards refuse every token: make the two equal. If they are two servers, give each its own store or prefix.`
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

export function likelySlips(issuer: string): readonly string[] {
  if (!URL.canParse(issuer)) return []
  const { protocol, hostname } = new URL(issuer)
  const hosts = isLoopback(hostname) ? [...loopbackHosts] : [hostname]
  const rest = issuer.slice(`${protocol}//${hostname}`.length)
  const written = hosts.flatMap((host) => ['http:', 'https:'].map((scheme) => `${scheme}//${host}${rest}`))
  const slips = written.flatMap((url) => [withoutSlash(url), `${withoutSlash(url)}/`])
  return slips.filter((slip) => slip !== issuer)
}
