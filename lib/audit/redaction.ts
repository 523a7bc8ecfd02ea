import { credentialId, type CredentialKind, digest } from '../protocol/credential'

const kinds: readonly CredentialKind[] = [
  'authorizationRequest',
  'requestHandle',
  'loginReference',
  'authorizationCode',
  'accessToken',
  'refreshToken',
]

// RFC 7515 7.1: header and payload are JSON objects, so both begin with `{"`, which is `eyJ` in base64url.
const signedJwt = /^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+$/

/** Returns a fingerprint of a credential; undefined if the text does not look like one: it may be a password. */
export function credentialFingerprint(text: string | undefined): string | undefined {
  return text !== undefined && hasForm(text) ? fingerprintOfDigest(digest(text)) : undefined
}

const hasForm = (text: string): boolean =>
  signedJwt.test(text) || kinds.some((kind) => credentialId(kind, text) !== undefined)

/** Returns the fingerprint of a credential, from its digest in base64url: the first 8 hexadecimal digits. */
export function fingerprintOfDigest(text: string): string {
  // Six characters of base64url hold 36 bits, so they contain the four bytes of the fingerprint.
  return Buffer.from(text.slice(0, 6), 'base64url').toString('hex')
}

const longest = 256
// Line breaks and escape sequences can forge lines of a log. Format characters can reverse visible text.
const usual = /^[\x20-\x7E]*$/
const unprintable = /[\p{C}\p{Zl}\p{Zp}]/gu

/**
 * Makes a text from outside safe for a log: cuts it at 256 characters and replaces unprintable characters by U+FFFD.
 */
export function plainText(text: string): string {
  if (text.length <= longest && usual.test(text)) return text
  return text.slice(0, longest).replaceAll(unprintable, '\u{FFFD}')
}

/** Applies {@link plainText}, and returns undefined for undefined. */
export function plainOrAbsent(text: string | undefined): string | undefined {
  return text === undefined ? undefined : plainText(text)
}
