import { isUtf8 } from 'node:buffer'
import { BasicStrategy } from 'passport-http'
import { refused } from '../protocol/refusals'
import { isTooLong } from '../protocol/parameters'
import type { SecretVerifier } from './client-secret'
import type { ServedMethod } from './method'
import { type Client, hasCredentials } from '../protocol/client'

// RFC 6749 2.3.1
export function clientSecretBasic(secrets: SecretVerifier): ServedMethod {
  return {
    name: 'client_secret_basic',
    scheme: 'Basic',
    read({ authorization }) {
      const credentials = authorization[0] === undefined ? undefined : parseBasicCredentials(authorization[0])
      // An empty password only names a public client: the method `none` reads it.
      if (credentials === undefined || credentials.secret === '') return undefined
      return { clientId: credentials.clientId, credential: credentials.secret }
    },
    verifyAtOnce: (client, secret) => secrets.verifyGenerated(client, secret),
    verify: (client, secret, withinLimits) => secrets.verifyChosen(client, secret, withinLimits),
  }
}

// RFC 7617, form encoded (RFC 6749 2.3.1).
interface BasicCredentials {
  readonly clientId: string
  readonly secret: string
}

const basic = /^Basic(?: |$)/i
const token68 = /^Basic +([A-Za-z0-9+/_-]+)=* *$/i
const malformed = () => refused('basic_malformed')

function parseBasicCredentials(header: string): BasicCredentials | undefined {
  if (!basic.test(header)) return undefined
  const encoded = token68.exec(header)?.[1]
  if (encoded === undefined) throw malformed()
  const read = readByStrategy(encoded) ?? decode(encoded)
  const clientId = formDecode(read.clientId)
  const secret = formDecode(read.secret)
  if (isTooLong('client_id', clientId) || isTooLong('client_secret', secret)) throw refused('basic_too_long')
  return { clientId, secret }
}

const strategy = new BasicStrategy((clientId, secret, done) => done(null, { clientId, secret }))

// passport-http deviates from RFC 6749 2.3.1: it refuses an empty secret, cuts it at a colon, and replaces
// bytes that are not UTF-8. `decode` reads these.
function readByStrategy(encoded: string): BasicCredentials | undefined {
  succeeded = undefined
  run.authenticate({ headers: { authorization: `Basic ${encoded}` } })
  return succeeded !== undefined && isWhole(succeeded, encoded) ? succeeded : undefined
}

// passport-http succeeds before it returns: one object serves all requests.
let succeeded: BasicCredentials | undefined
const run = Object.assign(Object.create(strategy), {
  success: (credentials: BasicCredentials) => (succeeded = credentials),
  fail: () => undefined,
})

// As many characters as bytes: nothing is cut, all is ASCII.
const isWhole = ({ clientId, secret }: BasicCredentials, encoded: string) =>
  clientId.length + 1 + secret.length === Math.floor((encoded.length * 3) / 4) &&
  !clientId.includes(replacement) &&
  !secret.includes(replacement)

const replacement = '\uFFFD'

function decode(encoded: string): BasicCredentials {
  const bytes = Buffer.from(encoded, 'base64')
  const text = bytes.toString()
  const colon = text.indexOf(':')
  if (!isUtf8(bytes) || colon < 1) throw malformed()
  return { clientId: text.slice(0, colon), secret: text.slice(colon + 1) }
}

// About half of the clients do not form encode: other text than percent triplets stays.
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

// RFC 6749 2.3.1
export function clientSecretPost(secrets: SecretVerifier): ServedMethod {
  return {
    name: 'client_secret_post',
    read({ body }) {
      const secret = body.get('client_secret')
      return secret === undefined ? undefined : { clientId: body.require('client_id'), credential: secret }
    },
    verifyAtOnce: (client, secret) => secrets.verifyGenerated(client, secret),
    verify: (client, secret, withinLimits) => secrets.verifyChosen(client, secret, withinLimits),
  }
}

const isPublic = (client: Client | undefined) => client !== undefined && !hasCredentials(client)

// RFC 6749 3.2.1: a public client names itself by `client_id`; some libraries use Basic with an empty
// password.
export const none: ServedMethod = {
  name: 'none',
  scheme: 'Basic',
  read({ authorization, body }) {
    const header = authorization[0] === undefined ? undefined : parseBasicCredentials(authorization[0])
    const clientId = header?.clientId ?? body.get('client_id')
    return clientId === undefined ? undefined : { clientId, credential: '' }
  },
  verifyAtOnce: isPublic,
  verify: async (client) => isPublic(client),
}
