import { isUtf8 } from 'node:buffer'
import { isTooLong } from '../../protocol/bounds'
import { invalidClient, invalidRequest } from '../../protocol/oauth-error'

/** Identifier and password out of a `Basic` header (RFC 7617, and the form encoding of RFC 6749 2.3.1). */
export interface BasicCredentials {
  readonly clientId: string
  readonly secret: string
}

const token68 = /^Basic +([A-Za-z0-9+/_-]+=*) *$/i

/** Reads one `Authorization` header; undefined when its scheme is not Basic. @throws OAuthError when it is malformed. */
export function parseBasicCredentials(header: string): BasicCredentials | undefined {
  if (!/^Basic(?: |$)/i.test(header)) return undefined
  const text = decodeBase64(token68.exec(header)?.[1])
  // The identifier is form encoded and so holds no colon; a secret that was sent raw may.
  const colon = text?.indexOf(':') ?? -1
  if (text === undefined || colon < 1)
    throw invalidClient('basic_malformed', 'The Authorization header does not hold Basic credentials.')
  const clientId = formDecode(text.slice(0, colon))
  const secret = formDecode(text.slice(colon + 1))
  // As in the body: the bounds are of the values, whichever way they come.
  if (isTooLong('client_id', clientId) || isTooLong('client_secret', secret))
    throw invalidRequest('basic_too_long', 'The credentials in the Authorization header are too long.')
  return { clientId, secret }
}

function decodeBase64(encoded: string | undefined): string | undefined {
  const bytes = Buffer.from(encoded ?? '', 'base64')
  return encoded !== undefined && isUtf8(bytes) ? bytes.toString() : undefined
}

// About half of the clients in the field send both halves raw: what is no percent triplet stays as it is.
function formDecode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text
  return text.replaceAll('+', ' ').replace(/(?:%[0-9A-Fa-f]{2})+/g, (triplets) => {
    try {
      return decodeURIComponent(triplets)
    } catch {
      return triplets
    }
  })
}
