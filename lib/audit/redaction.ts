import { digest, isCredential } from '../protocol/credential'

// RFC 7515 7.1: header and payload begin with `{"`, in base64url `eyJ`.
const signedJwt = /^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+$/

// Other texts may be passwords.
export const credentialFingerprint = (text: string | undefined): string | undefined =>
  text !== undefined && (isCredential(text) || signedJwt.test(text))
    ? fingerprintOfDigest(digest(text))
    : undefined

// Six letters, 36 bits, contain the four bytes.
export const fingerprintOfDigest = (text: string): string => hexOf(text.slice(0, 6))

// Of base64url with at most 8 bytes.
export const hexOf = (text: string): string => bytes.toString('hex', 0, bytes.write(text, 'base64url'))

const bytes = Buffer.alloc(8)

const longest = 256
// Line breaks and escape sequences can forge log lines. Format characters can reverse text.
const usual = /^[\x20-\x7E]*$/
const unprintable = /[\p{C}\p{Zl}\p{Zp}]/gu

export function plainText(text: string): string {
  if (text.length <= longest && usual.test(text)) return text
  return text.slice(0, longest).replaceAll(unprintable, '\u{FFFD}')
}

export const plainOrAbsent = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : plainText(text)
