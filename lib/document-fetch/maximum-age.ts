import type { IncomingHttpHeaders } from 'node:http'

const shortest = 60
const longest = 86_400

/**
 * How long a response may be kept, by its headers (RFC 9111 4.2.1): at least a minute, so that a document is not
 * fetched for each request, and at most a day.
 *
 * A minute also holds for `no-store`, `no-cache`, for headers that contradict each other, and without any header.
 *
 * @returns seconds, 60 to 86 400.
 */
export function maximumAgeOf(headers: IncomingHttpHeaders): number {
  const directives = directivesIn(headers['cache-control'] ?? '')
  if (directives.has('no-store') || directives.has('no-cache')) return shortest
  const lifetime =
    directives.get('s-maxage') ??
    directives.get('max-age') ??
    secondsUntilExpiry(headers['expires'], headers.date)
  const age = secondsIn(headers.age) ?? 0
  return Math.max(shortest, Math.min(longest, lifetime - age))
}

// The directives with their seconds; 0 for one without seconds. A text in quotes may hold commas.
function directivesIn(cacheControl: string): ReadonlyMap<string, number> {
  const directives = new Map<string, number>()
  for (const [, name = '', quoted, bare] of cacheControl.matchAll(/([\w-]+)(?:="([^"]*)"|=([^\s,"]*))?/g)) {
    const seconds = secondsIn(quoted ?? bare) ?? 0
    // RFC 9111 4.2.1: of a directive that comes twice, the shorter time.
    const key = name.toLowerCase()
    directives.set(key, Math.min(seconds, directives.get(key) ?? seconds))
  }
  return directives
}

// A number beyond all bounds counts as the largest that still can be subtracted.
const secondsIn = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : undefined

// RFC 9111 4.2.1: by the clock of the host that sent both. A date that cannot be read is in the past (5.3).
function secondsUntilExpiry(expires: string | undefined, date: string | undefined): number {
  const seconds = Math.floor((parseDate(expires) - parseDate(date)) / 1000)
  return Number.isNaN(seconds) ? 0 : seconds
}

// Date.parse alone reads the customary `Expires: 0` as the year 2000.
const parseDate = (text = ''): number => (text.endsWith(' GMT') ? Date.parse(text) : Number.NaN)
