import { type GivenKey, givenKey, givenKid } from '../../jwt/signing-keys/signing-key'
import { signJwt } from '../../jwt/signing-keys/key-ring'
import { aTextThat, oneOf } from '../../primitives/fields'
import { type Field, group, kind, needed, optional, type Read, usual } from '../../primitives/schema'
import { isRecord } from '../../primitives/values'
import { formEncoded } from '../../protocol/parameters'
import { createId, secureRandom } from '../../protocol/credential'
import type { SourceTerms } from '../token-claims'

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

const either = '{ client_id, client_secret } or { client_id, key }'

const fields = {
  client_id: needed('', aTextThat('must be the client_id of the guard.')),
  client_secret: optional(aTextThat('must be the secret of this client.')),
  method: optional(
    kind(isMethod, "must be 'client_secret_basic' or 'client_secret_post'; private_key_jwt needs a key."),
  ),
  key: optional(givenKey),
  audience: optional(aTextThat('must be the aud that the server expects.')),
  type: usual('client-authentication+jwt', oneOf('client-authentication+jwt', 'JWT')),
}

const aClient = group(fields, {
  check: (_read, at) => {
    at.requireOne('client_secret', 'key')
    const [way, others] =
      at.source['key'] === undefined ? ['key', ['audience', 'type']] : ['client_secret', ['method']]
    for (const name of others) if (at.source[name] !== undefined) at.wrong(name, `belongs to ${way}.`)
  },
})

/** Returns a placeholder after a mistake. */
export const introspectionClient: Field<(guard: SourceTerms) => Authenticate> = (given, at, name) => {
  if (given === undefined) at.wrong(name, `is missing: it must be ${either}.`)
  const { client_secret, ...read } = aClient(given, at, name)
  const kid = isRecord(given) ? givenKid(given['key']) : undefined
  return (parties) =>
    client_secret === undefined
      ? authenticationByKey(read, kid, parties)
      : authenticationBySecret(read, client_secret)
}

function authenticationBySecret({ client_id, method }: ReadClient, client_secret: string): Authenticate {
  const byHeader = { headers: { Authorization: basic(client_id, client_secret) }, parameters: {} }
  const byBody = { headers: {}, parameters: { client_id, client_secret } }
  return async (offered = []) =>
    (method ?? secretMethodOf(offered)) === 'client_secret_post' ? byBody : byHeader
}

type ReadClient = Omit<Read<typeof fields>, 'client_secret'>

function isMethod(value: unknown): value is 'client_secret_basic' | 'client_secret_post' {
  return value === 'client_secret_basic' || value === 'client_secret_post'
}

const secretMethodOf = (offered: readonly string[]) =>
  offered.includes('client_secret_basic') ? 'client_secret_basic' : offered.find(isMethod)

/** RFC 6749 2.3.1: form-encoded before RFC 7617 encodes them. */
function basic(clientId: string, clientSecret: string): string {
  const credential = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`
  return `Basic ${Buffer.from(credential).toString('base64')}`
}

function authenticationByKey(
  { client_id, key, audience, type }: ReadClient,
  kid: string | undefined,
  { issuer, clock }: SourceTerms,
): Authenticate {
  if (key === undefined) return unauthenticated
  const header = { typ: type, kid }
  return async () => {
    const now = Math.floor(clock() / 1000)
    const claims = {
      iss: client_id,
      sub: client_id,
      aud: audience ?? issuer,
      // RFC 7523 3: the server may refuse a second use.
      jti: createId(secureRandom),
      iat: now,
      exp: now + assertionLife,
    }
    const client_assertion = await signJwt(key, header, claims)
    return { headers: {}, parameters: { client_id, client_assertion_type, client_assertion } }
  }
}

const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
// Seconds.
const assertionLife = 60

// After a mistake.
const unauthenticated: Authenticate = async () => ({ headers: {}, parameters: {} })
