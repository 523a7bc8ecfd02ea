import { isRecord, isText } from '../primitives/values'
import { hasUserinfo, isSafeUrl } from '../protocol/uri'

/**
 * A URL, or URLs by the beginning of the path at this process: `{ '/internal': 'https://api.example.com' }`.
 */
export type BaseUrl = string | Readonly<Record<string, string>>

export interface KnownBase {
  readonly prefix: string
  readonly url: string
}

export const baseUrlExpectation =
  "must be the URL of the resource server as clients write it, such as https://api.example.com, or an object of paths and URLs, such as { '/internal': 'https://api.example.com' }: https, or http on a loopback host, without a query."

export const isBaseUrl = (value: unknown): value is BaseUrl => {
  if (isText(value)) return isUrlWithoutQuery(value)
  const entries = isRecord(value) ? Object.entries(value) : []
  return entries.length > 0 && entries.every(([path, url]) => isPath(path) && isUrlWithoutQuery(url))
}

const isUrlWithoutQuery = (value: unknown) => isText(value) && isSafeUrl(value) && !value.includes('?')
const isPath = (path: string) => path.startsWith('/') && !/[?#]/.test(path)
const withoutSlash = (text: string) => text.replace(/\/+$/, '')

/** The longest first. */
export function basesOf(option: BaseUrl): readonly KnownBase[] {
  const table = typeof option === 'string' ? { '/': option } : option
  return Object.entries(table)
    .map(([path, url]) => ({ prefix: withoutSlash(path), url: withoutSlash(url) }))
    .toSorted((one, other) => other.prefix.length - one.prefix.length)
}

export function urlOfTarget(target: string, bases: readonly KnownBase[]): string | undefined {
  const path = pathOf(target)
  const base = bases.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`))
  return base && base.url + path.slice(base.prefix.length)
}

// RFC 9112 3.2.2: a proxy sends the absolute form, whose host does not count.
function pathOf(target: string): string {
  if (!target.startsWith('/') && URL.canParse(target)) return new URL(target).pathname
  const end = target.search(/[?#]/)
  return end < 0 ? target : target.slice(0, end)
}

// Printable ASCII without a backslash, which a parser of URLs takes for a slash.
const written = /^https?:\/\/[!-[\]-~]+$/i

/** Without query and fragment (RFC 9449 4.3, RFC 3986 6.2.2 and 6.2.3); undefined for no http URL. */
export function normalUrl(text: string): string | undefined {
  if (!written.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (hasUserinfo(url)) return undefined
  // `URL` writes scheme and host in lower case, and drops the default port and dot segments.
  return url.origin + url.pathname.replaceAll(/%[0-9a-f]{2}/gi, normalTriplet)
}

function normalTriplet(triplet: string): string {
  const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16))
  return /[A-Za-z0-9\-._~]/.test(character) ? character : triplet.toUpperCase()
}
