/** The parts of an `Authorization` header (RFC 9110 11.4). */
interface AuthorizationHeader {
  /** In the spelling of the request; see {@link isSameScheme}. */
  readonly scheme: string
  /** What follows the scheme, without leading spaces. */
  readonly credentials: string
}

/** Splits an `Authorization` header. A header without a space has a scheme only. */
export function parseAuthorization(header: string): AuthorizationHeader {
  const space = header.indexOf(' ')
  if (space === -1) return { scheme: header, credentials: '' }
  let start = space
  while (header.charAt(start) === ' ') start++
  return { scheme: header.slice(0, space), credentials: header.slice(start) }
}

// RFC 9110 11.1: letter case does not count. Nearly all clients write the scheme alike, so the exact comparison comes
// first.
export const isSameScheme = (one: string, other: string): boolean =>
  one === other || one.toLowerCase() === other.toLowerCase()

/** Reads the credentials of the scheme `Bearer`; undefined unless they are exactly one token (RFC 6750 2.1). */
export const readBearerToken = (credentials: string): { readonly accessToken: string } | undefined =>
  credentials === '' || credentials.includes(' ') ? undefined : { accessToken: credentials }

/** Whether the text may be the name of a header, or of an attribute of a challenge (RFC 9110 5.6.2). */
export const isToken = (name: string): boolean => /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)

/**
 * Whether the text may stand between quotes without an escape. RFC 9110 5.6.4 has escapes, but many clients do not read
 * them. RFC 6749 5.2 and RFC 6750 3 have no escapes.
 */
export const isQuotable = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x20\x21\x23-\x5B\x5D-\x7E]+$/.test(value)

/** The attributes of a challenge that the server sets (RFC 6750 3, RFC 9728 5.1), besides `scope`. */
export const serverAttributes: readonly string[] = [
  'realm',
  'error',
  'error_description',
  'error_uri',
  'resource_metadata',
]
