import { isRecord } from '../primitives/values'

/** The scheme is as the request spells it; see {@link isSameScheme}. */
export function parseAuthorization(header: string) {
  const space = header.indexOf(' ')
  if (space === -1) return { scheme: header, credentials: '' }
  let start = space
  while (header.charAt(start) === ' ') start++
  return { scheme: header.slice(0, space), credentials: header.slice(start) }
}

// RFC 9110 11.1: letter case does not count.
export const isSameScheme = (one: string, other: string): boolean =>
  one === other || one.toLowerCase() === other.toLowerCase()

/** RFC 6750 2.1: exactly one token. */
export const readBearerToken = (credentials: string): { readonly accessToken: string } | undefined =>
  credentials === '' || credentials.includes(' ') ? undefined : { accessToken: credentials }

export const isToken = (name: string): boolean => /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)

/** Without escapes: many clients do not read those of RFC 9110 5.6.4; RFC 6749 5.2 has none. */
export const isQuotable = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x20\x21\x23-\x5B\x5D-\x7E]+$/.test(value)

/** RFC 6750 3, RFC 9728 5.1; besides `scope`. */
export const serverAttributes: readonly string[] =
  'realm error error_description error_uri resource_metadata'.split(' ')

export const areAttributes = (
  value: unknown,
  ofServer: readonly string[] = serverAttributes,
): value is Readonly<Record<string, string>> =>
  isRecord(value) &&
  Object.entries(value).every(
    ([name, text]) => isToken(name) && !ofServer.includes(name.toLowerCase()) && isQuotable(text),
  )
