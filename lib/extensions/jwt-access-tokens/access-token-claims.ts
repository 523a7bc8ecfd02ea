import { isRecord, isText, isTexts } from '../../primitives/values'
import type {
  AccessTokenClaims,
  AccessTokenContent,
  AccessTokenRequest,
} from '../../protocol/access-token-format'
import { resourceIndicatorsName } from '../resource-indicators/resource-indicators'
import { isJson, isUnicode } from '../../protocol/json'
import { loginIn } from '../../protocol/resource-owner'
import { formatScope, parseScope, type Scope } from '../../protocol/scope'

/** What a JWT access token gives, for claims of the host. */
export interface JwtClaimsGrant {
  /** Undefined if the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: Scope
  readonly audience: readonly string[]
  /** Seconds since the epoch. */
  readonly expiresAt: number
}

/** Returns claims of the host; undefined for none. */
export type HostClaims = (
  request: AccessTokenRequest,
  grant: JwtClaimsGrant,
) => object | undefined | Promise<object | undefined>

/** RFC 9068 2.2 */
export async function claimsOf(
  claims: AccessTokenClaims,
  request: AccessTokenRequest,
  hostClaims: HostClaims | undefined,
): Promise<object> {
  const { issuer, subject, clientId, scope, tokenType, issuedAt, expiresAt, login, members } = claims
  const audience = audienceIn(members['aud'])
  const own = {
    ...members,
    iss: issuer,
    // RFC 9068 2.2.
    sub: subject ?? clientId,
    aud: audience.length === 1 ? audience[0] : audience,
    client_id: clientId,
    scope: formatScope(scope),
    iat: issuedAt,
    exp: expiresAt,
    // Names the token in its record; nobody can make a token of it.
    jti: `${claims.authorizationId}.${claims.tokenId}`,
    // RFC 9068 2.2.1
    ...(login && { auth_time: login.authTime, acr: login.acr, amr: login.amr }),
    ...(tokenType === 'bearer' ? {} : { token_type: tokenType }),
  }
  if (hostClaims === undefined) return own
  const added: unknown = await hostClaims(request, {
    subject: request.subject,
    scope,
    audience,
    expiresAt,
  })
  if (added === undefined) return own
  requireClaims(added, own)
  return { ...added, ...own }
}

// RFC 9068 2.2: without one, it would be good everywhere.
function audienceIn(value: unknown): readonly string[] {
  if (isTexts(value) && value.length > 0) return value
  throw new Error('A JWT access token needs an audience: the authorization names no resource.')
}

const largestClaims = 1024
const wrong = (what: string) => new TypeError(`The option claims of jwtAccessTokens() must return ${what}.`)

// RFC 7519 4.1, RFC 9068 2.2, RFC 7800 3.1, RFC 8693 4, OpenID Connect Core 2.
const reserved =
  'iss sub aud exp nbf iat jti client_id scope token_type auth_time acr amr cnf act may_act azp nonce at_hash c_hash s_hash sid events choice'
const reservedNames: ReadonlySet<string> = new Set(reserved.split(' '))

function requireClaims(added: unknown, own: object): asserts added is object {
  if (!isRecord(added) || !isJson(added)) throw wrong('an object of JSON, or undefined')
  // Some verifiers cannot read others.
  if (!isUnicode(added)) throw wrong('texts of Unicode, without half of a surrogate pair')
  const taken = Object.keys(added).find((name) => reservedNames.has(name) || Object.hasOwn(own, name))
  if (taken !== undefined)
    throw wrong(`claims of its own, and not "${taken}", which the server or an extension sets`)
  if (Buffer.byteLength(JSON.stringify(added)) > largestClaims)
    throw wrong(`claims of at most ${largestClaims} bytes in all`)
}

const jtiGrammar = /^([\w-]{22})\.([\w-]{43})$/

export function contentOf(claims: Readonly<Record<string, unknown>>): AccessTokenContent | undefined {
  const { jti, sub, client_id: clientId, scope, exp, aud, token_type: tokenType = 'bearer', cnf } = claims
  const [, authorizationId, tokenId] = isText(jti) ? (jtiGrammar.exec(jti) ?? []) : []
  const audience = typeof aud === 'string' ? [aud] : aud
  if (authorizationId === undefined || tokenId === undefined) return undefined
  if (!isText(sub) || !isText(clientId) || typeof exp !== 'number' || !isTexts(audience)) return undefined
  const tokens = scope === '' ? [] : typeof scope === 'string' ? parseScope(scope) : undefined
  if (tokens === undefined || !isText(tokenType)) return undefined
  return {
    authorizationId,
    tokenId,
    clientId,
    subject: sub === clientId ? undefined : sub,
    scope: tokens,
    expiresAt: exp,
    login: loginIn(claims),
    tokenExtensionData: { [resourceIndicatorsName]: audience },
    claims,
    isPlain: cnf === undefined && tokenType === 'bearer',
    cnf,
  }
}
