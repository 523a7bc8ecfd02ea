import { type GivenKey, givenKey, givenKid } from '../../jwt/signing-keys/given-keys'
import { signJwt } from '../../jwt/signing-keys/key-ring'
import { OptionsReader } from '../../primitives/options-reader'
import { isRecord, isText } from '../../primitives/values'
import { formEncoded } from '../../protocol/form-encoding'
import { createId, secureRandom } from '../../protocol/credential'

/** Authentication by a secret (RFC 6749 2.3.1). */
export interface IntrospectionSecret {
  readonly client_id: string
  readonly client_secret: string
  /** Default: what the metadata of the issuer name, `client_secret_basic` first. */
  readonly method?: 'client_secret_basic' | 'client_secret_post'
  readonly key?: undefined
}

/** Authentication by JWTs that the guard signs: `private_key_jwt` (RFC 7523 2.2). Needs no package. */
export interface IntrospectionKey {
  readonly client_id: string
  /** PEM, JWK or `KeyObject`, or a key of a key service. The JWTs have its `kid` if you name one. */
  readonly key: GivenKey
  /**
   * `aud` of the JWTs. Default: the issuer (draft-ietf-oauth-rfc7523bis). Some servers want the URL of the
   * introspection or token endpoint.
   */
  readonly audience?: string
  /**
   * `typ` of the JWTs. Default `client-authentication+jwt` (draft-ietf-oauth-rfc7523bis). Some servers
   * accept only `JWT`.
   */
  readonly type?: 'client-authentication+jwt' | 'JWT'
  readonly client_secret?: undefined
}

interface Authentication {
  readonly headers: Readonly<Record<string, string>>
  readonly parameters: Readonly<Record<string, string>>
}

/**
 * @param offered by the metadata.
 * @throws OAuthError `temporarily_unavailable` if a key service fails.
 */
export type Authenticate = (offered: readonly string[] | undefined) => Promise<Authentication>

/** Returns a placeholder after a mistake. */
export function readIntrospectionClient(
  reading: OptionsReader,
  issuer: string,
  clock: () => number,
): Authenticate {
  const given = reading.required('client', {}, isRecord, `must be ${either}.`)
  const fields = new OptionsReader(given, reading.at('client'), reading.issues)
  const clientId = fields.required('client_id', '', isText, 'must be the client_id of the guard.')
  const [hasKey, hasSecret] = [fields.take('key'), fields.take('client_secret')].map(
    (value) => value !== undefined,
  )
  if (hasKey && hasSecret) fields.wrong('key', `is given beside client_secret: the option must be ${either}.`)
  const authenticate = hasKey ? readKey(fields, { clientId, issuer, clock }) : readSecret(fields, clientId)
  fields.refuseUnknown()
  return authenticate
}

const either = '{ client_id, client_secret } or { client_id, key }'

function readSecret(fields: OptionsReader, clientId: string): Authenticate {
  const secret = fields.required('client_secret', '', isText, 'must be the secret of this client.')
  const method = fields.optional<IntrospectionSecret['method']>(
    'method',
    undefined,
    isMethod,
    "must be 'client_secret_basic' or 'client_secret_post'; private_key_jwt needs a key.",
  )
  for (const name of ['audience', 'type']) fields.refuse(name, 'belongs to key, and client_secret is given.')
  const byHeader = { headers: { Authorization: basic(clientId, secret) }, parameters: {} }
  const byBody = { headers: {}, parameters: { client_id: clientId, client_secret: secret } }
  return async (offered = []) =>
    (method ?? secretMethodOf(offered)) === 'client_secret_post' ? byBody : byHeader
}

const isMethod = (value: unknown): value is 'client_secret_basic' | 'client_secret_post' =>
  value === 'client_secret_basic' || value === 'client_secret_post'

const secretMethodOf = (offered: readonly string[]) =>
  offered.includes('client_secret_basic') ? 'client_secret_basic' : offered.find(isMethod)

/** RFC 6749 2.3.1: form-encoded before RFC 7617 encodes them. */
function basic(clientId: string, clientSecret: string): string {
  const credential = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`
  return `Basic ${Buffer.from(credential).toString('base64')}`
}

interface Parties {
  readonly clientId: string
  readonly issuer: string
  readonly clock: () => number
}

function readKey(fields: OptionsReader, { clientId, issuer, clock }: Parties): Authenticate {
  const given: unknown = fields.take('key')
  const key = fields.field('key', givenKey)
  const audience = fields.optional('audience', issuer, isText, 'must be the aud that the server expects.')
  const type = fields.optional<string>('type', usualType, isType, `must be '${usualType}' or 'JWT'.`)
  fields.refuse('method', 'belongs to client_secret, and key is given.')
  if (key === undefined) return unauthenticated
  const header = { typ: type, kid: givenKid(given) }
  return async () => {
    const now = Math.floor(clock() / 1000)
    const claims = {
      iss: clientId,
      sub: clientId,
      aud: audience,
      // RFC 7523 3: the server may refuse a second use.
      jti: createId(secureRandom),
      iat: now,
      exp: now + assertionLife,
    }
    const client_assertion = await signJwt(key, header, claims)
    return { headers: {}, parameters: { client_id: clientId, client_assertion_type, client_assertion } }
  }
}

const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const usualType = 'client-authentication+jwt'
const isType = (value: unknown): value is string => value === usualType || value === 'JWT'
// Seconds.
const assertionLife = 60

// After a mistake.
const unauthenticated: Authenticate = async () => ({ headers: {}, parameters: {} })
