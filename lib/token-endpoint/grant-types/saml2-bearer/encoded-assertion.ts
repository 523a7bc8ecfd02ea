import { refused } from './refused'

// As many bytes as fit into the body of a token request, which is bounded by 64 KiB.
const maximumLength = 64 * 1024
// RFC 7522 2.1 wants base64url without padding; older clients send padding, or the alphabet of plain base64.
const grammar = /^(?:[A-Za-z0-9_-]+|[A-Za-z0-9+/]+)(={0,2})$/

/** The XML text inside an `assertion` parameter (RFC 7522 2.1), at most 48 KiB of UTF-8. */
export function decodeAssertion(encoded: string): string {
  if (encoded.length > maximumLength) throw refused('saml_too_large')
  const padding = grammar.exec(encoded)?.[1]
  if (padding === undefined || (padding !== '' && encoded.length % 4 !== 0)) throw refused('saml_encoding')
  const bytes = Buffer.from(encoded, 'base64url')
  // Bits that no byte holds, or a character alone at the end, would be a second spelling of the same bytes.
  const body = encoded
    .slice(0, encoded.length - padding.length)
    .replaceAll('+', '-')
    .replaceAll('/', '_')
  if (bytes.toString('base64url') !== body) throw refused('saml_encoding')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw refused('saml_encoding', cause)
  }
}
