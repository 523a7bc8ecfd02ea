import { isUtf8 } from 'node:buffer'
import { BasicStrategy } from 'passport-http'
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
interface BasicCredentials {
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
  const [first, second] = readByStrategy(encoded) ?? decode(encoded)
  const [clientId, secret] = [formDecode(first), formDecode(second)]
  // The bounds of the parameters in the body hold for the header, too.
  if (isTooLong('client_id', clientId) || isTooLong('client_secret', secret))
    throw invalidRequest('basic_too_long', 'The credentials in the Authorization header are too long.')
  return { clientId, secret }
}

/** Identifier and secret, still form encoded. */
type Encoded = readonly [clientId: string, secret: string]

const strategy = new BasicStrategy((clientId, secret, done) => done(null, [clientId, secret]))

/**
 * Reads credentials with passport-http; undefined for those that it does not read as RFC 6749 2.3.1 demands: it accepts
 * no empty secret, cuts a secret at a colon, and replaces bytes that are not UTF-8. {@link decode} reads these.
 *
 * @param encoded base64, without padding.
 */
function readByStrategy(encoded: string): Encoded | undefined {
  let read: Encoded | undefined
  // As Passport runs a strategy: on an object of its own, with the outcomes. passport-http succeeds before it returns.
  const run = Object.assign(Object.create(strategy), {
    success: (credentials: Encoded) => (read = credentials),
    fail: () => undefined,
  })
  run.authenticate({ headers: { authorization: `Basic ${encoded}` } })
  return read !== undefined && isWhole(read, encoded) ? read : undefined
}

// Four characters of base64 are three bytes. As many characters as bytes mean that nothing is cut, and all is ASCII.
const isWhole = ([clientId, secret]: Encoded, encoded: string) =>
  clientId.length + 1 + secret.length === Math.floor((encoded.length * 3) / 4) &&
  !clientId.includes(replacement) &&
  !secret.includes(replacement)

const replacement = '\uFFFD'

function decode(encoded: string): Encoded {
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
