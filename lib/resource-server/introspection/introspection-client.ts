import { type GivenKey, givenKey, givenKid, type SigningKey } from '../../jwt/signing-keys/signing-key'
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
  /** Default: by the metadata of the issuer, `client_secret_basic` first. */
  readonly method?: 'client_secret_basic' | 'client_secret_post'
  readonly key?: undefined
}

/** Authentication by JWTs that the guard signs: `private_key_jwt` (RFC 7523 2.2). */
export interface IntrospectionKey {
  readonly client_id: string
  /** The JWTs have its `kid` if you name one. */
  readonly key: GivenKey
  /** `aud` of the JWTs. Default: the issuer (draft-ietf-oauth-rfc7523bis). Some servers want an endpoint. */
  readonly audience?: string
  /** Default `client-authentication+jwt` (draft-ietf-oauth-rfc7523bis). Some servers take only `JWT`. */
  readonly type?: 'client-authentication+jwt' | 'JWT'
  readonly client_secret?: undefined
}

/** @throws OAuthError `temporarily_unavailable` if a key service fails. */
export type Authenticate = (
  guard: SourceTerms,
  offered: readonly string[] | undefined,
) => Promise<{
  readonly headers: Readonly<Record<string, string>>
  readonly parameters: Readonly<Record<string, string>>
}>

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

export const introspectionClient: Field<Authenticate> = (given, at, name) => {
  if (given === undefined) at.wrong(name, `is missing: it must be ${either}.`)
  const { key, ...read } = aClient(given, at, name)
  const kid = isRecord(given) ? givenKid(given['key']) : undefined
  return async (guard, offered) =>
    key === undefined ? withSecret(read, offered) : withKey(read, key, kid, guard)
}

type ReadClient = Omit<Read<typeof fields>, 'key'>

function withSecret({ client_id, client_secret = '', method }: ReadClient, offered: readonly string[] = []) {
  if ((method ?? secretMethodOf(offered)) === 'client_secret_post')
    return { headers: {}, parameters: { client_id, client_secret } }
  return { headers: { Authorization: basic(client_id, client_secret) }, parameters: {} }
}

function isMethod(value: unknown): value is 'client_secret_basic' | 'client_secret_post' {
  return value === 'client_secret_basic' || value === 'client_secret_post'
}

const secretMethodOf = (offered: readonly string[]) =>
  offered.includes('client_secret_basic') ? 'client_secret_basic' : offered.find(isMethod)

/** RFC 6749 2.3.1, RFC 7617. */
function basic(clientId: string, clientSecret: string): string {
  const credential = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`
  return `Basic ${Buffer.from(credential).toString('base64')}`
}

async function withKey(
  { client_id, audience, type }: ReadClient,
  key: SigningKey,
  kid: string | undefined,
  { issuer, clock }: SourceTerms,
) {
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
  const client_assertion = await signJwt(key, { typ: type, kid }, claims)
  return { headers: {}, parameters: { client_id, client_assertion_type, client_assertion } }
}

const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
// Seconds.
const assertionLife = 60
