import { credentialId, type CredentialKind, digest } from '../protocol/credential'

const kinds: readonly CredentialKind[] = [
  'authorizationRequest',
  'authorizationCode',
  'accessToken',
  'refreshToken',
]

// RFC 7515 7.1: header and payload are JSON objects, which begin alike in base64url.
const signedJwt = /^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+$/

/** What an event tells of a credential; undefined when the text has not the form of one: it may be anybody's password. */
export function credentialFingerprint(text: string | undefined): string | undefined {
  return text !== undefined && hasForm(text) ? fingerprintOfDigest(digest(text)) : undefined
}

const hasForm = (text: string): boolean =>
  signedJwt.test(text) || kinds.some((kind) => credentialId(kind, text) !== undefined)

/** The fingerprint of a credential, from the digest that the record keeps. */
export function fingerprintOfDigest(text: string): string {
  // Six characters hold the four bytes.
  return Buffer.from(text.slice(0, 6), 'base64url').toString('hex')
}

const longest = 256
// Line breaks and escape sequences forge lines of a log; format characters turn the order of what is read.
const usual = /^[\x20-\x7E]*$/
const unprintable = /[\p{C}\p{Zl}\p{Zp}]/gu

/** A text from outside as a log may show it: at most 256 characters, each unprintable one replaced by U+FFFD. */
export function plainText(text: string): string {
  if (text.length <= longest && usual.test(text)) return text
  return text.slice(0, longest).replaceAll(unprintable, '\u{FFFD}')
}

/** {@link plainText}, and undefined for undefined. */
export function plainOrAbsent(text: string | undefined): string | undefined {
  return text === undefined ? undefined : plainText(text)
}
