import { isUtf8 } from 'node:buffer'
import { readBasic } from '../passport/read-basic'
import { hasCredentials } from '../protocol/client'
import { invalidClient, invalidRequest } from '../protocol/oauth-error'
import { isTooLong } from '../protocol/parameters'
import type { SecretVerifier } from './client-secret'
import type { ClientAuthenticationMethod } from './method'

/** HTTP Basic with the client secret (RFC 6749 2.3.1). Every server must support this method. */
export function clientSecretBasic(secrets: SecretVerifier): ClientAuthenticationMethod {
  return {
    name: 'client_secret_basic',
    scheme: 'Basic',
    read({ authorization }) {
      const credentials = authorization[0] === undefined ? undefined : parseBasicCredentials(authorization[0])
      // A header with an empty password only names a client. Some libraries send it for public clients: the method
      // `none` reads it.
      if (credentials === undefined || credentials.secret === '') return undefined
      return { clientId: credentials.clientId, credential: credentials.secret }
    },
    verify: (client, secret, withinLimits) => secrets.verify(client, secret, withinLimits),
  }
}

/** Identifier and secret of a `Basic` header (RFC 7617, with the form encoding of RFC 6749 2.3.1). */
export interface BasicCredentials {
  readonly clientId: string
  readonly secret: string
}

const token68 = /^Basic +([A-Za-z0-9+/_-]+)=* *$/i
const malformed = () =>
  invalidClient('basic_malformed', 'The Authorization header does not hold Basic credentials.')

/**
 * Parses one `Authorization` header; undefined if its scheme is not Basic.
 *
 * @throws OAuthError `invalid_client` if the header is malformed, `invalid_request` if a value is too long.
 */
export function parseBasicCredentials(header: string): BasicCredentials | undefined {
  if (!/^Basic(?: |$)/i.test(header)) return undefined
  const [, encoded] = token68.exec(header) ?? []
  if (encoded === undefined) throw malformed()
  const [first, second] = readBasic(encoded) ?? decodeCredentials(encoded)
  const [clientId, secret] = [formDecode(first), formDecode(second)]
  // The bounds of the parameters in the body hold for the header, too.
  if (isTooLong('client_id', clientId) || isTooLong('client_secret', secret))
    throw invalidRequest('basic_too_long', 'The credentials in the Authorization header are too long.')
  return { clientId, secret }
}

/** Decodes credentials that passport-http does not read. */
function decodeCredentials(encoded: string): readonly [clientId: string, secret: string] {
  const bytes = Buffer.from(encoded, 'base64')
  const text = bytes.toString()
  const colon = text.indexOf(':')
  if (!isUtf8(bytes) || colon < 1) throw malformed()
  return [text.slice(0, colon), text.slice(colon + 1)]
}

// About half of the clients in the field do not form encode identifier and secret. Text that is not a percent triplet
// therefore stays unchanged.
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

/** The client secret in the form body (RFC 6749 2.3.1), for clients that cannot use Basic. */
export function clientSecretPost(secrets: SecretVerifier): ClientAuthenticationMethod {
  return {
    name: 'client_secret_post',
    read({ body }) {
      const secret = body.get('client_secret')
      return secret === undefined ? undefined : { clientId: body.require('client_id'), credential: secret }
    },
    verify: (client, secret, withinLimits) => secrets.verify(client, secret, withinLimits),
  }
}

/**
 * No authentication: a public client without credentials names itself by `client_id` (RFC 6749 3.2.1), or by Basic
 * with an empty password, as some libraries do. The server uses this method if a request uses no other.
 */
export const none: ClientAuthenticationMethod = {
  name: 'none',
  scheme: 'Basic',
  read({ authorization, body }) {
    const header = authorization[0] === undefined ? undefined : parseBasicCredentials(authorization[0])
    const clientId = header?.clientId ?? body.get('client_id')
    return clientId === undefined ? undefined : { clientId, credential: '' }
  },
  verify: async (client) => client !== undefined && !hasCredentials(client),
}
