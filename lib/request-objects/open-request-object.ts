import type { KeySource } from '../jwt/key-source'
import { type ProvenClaims, unprovenType, verifyClaims } from '../jwt/verify-jwt'
import { isRecord, isText } from '../primitives/values'
import type { Client } from '../protocol/client'
import { isShallow } from '../protocol/json'
import { refused } from '../protocol/refusals'

export interface RequestObjectTerms {
  readonly issuer: string
  readonly algorithms: readonly string[]
  /** Seconds. */
  readonly clockTolerance: number
  /** Seconds from now to `exp`. */
  readonly maximumLifetime: number
}

// RFC 9101 10.8: keeps other JWTs out.
const ownType = 'oauth-authz-req+jwt'
// OpenID Connect Core 6.1 knows neither a type nor an end.
const coreType = 'jwt'

/** RFC 9101 6. */
export async function openRequestObject(
  object: string,
  client: Client,
  keys: KeySource,
  now: number,
  terms: RequestObjectTerms,
): Promise<string> {
  const { issuer, algorithms, clockTolerance, maximumLifetime } = terms
  const { client_id: clientId } = client
  const isCore = client.scope.includes('openid') && unprovenType(object) === coreType
  const { claims, expiresAt } = await verifyClaims(object, now, {
    issuers: new Map([[clientId, keys]]),
    // RFC 9101 4: no credential, so `aud` may name others, too.
    audience: [issuer],
    algorithms: algorithmsFor(client, algorithms),
    clockTolerance,
    types: [isCore ? coreType : ownType],
    mayBeEndless: isCore,
    refusal: (fault) => refused(`request_object_${fault}`),
  })
  const isEndless = expiresAt === Infinity
  if (!isEndless && expiresAt > now + maximumLifetime + clockTolerance)
    throw refused('request_object_too_long_lived')
  requireRequestOf(clientId, claims)
  // Without its own type, only claims tell it from an assertion.
  if (isCore && (Object.hasOwn(claims, 'sub') || !isText(claims['response_type'])))
    throw refused('request_object_as_assertion')
  return parametersOf(claims)
}

function algorithmsFor(
  { members: { request_object_signing_alg: only } }: Client,
  offered: readonly string[],
): readonly string[] {
  return only === undefined ? offered : offered.filter((algorithm) => algorithm === only)
}

function requireRequestOf(clientId: string, claims: ProvenClaims['claims']): void {
  // RFC 9101 6.3.
  if (claims['client_id'] !== clientId) throw refused('request_object_of_another_client')
  // RFC 9101 10.8: a server that checks no type would take it for a client assertion.
  if (claims['sub'] === clientId) throw refused('request_object_as_assertion')
  // RFC 9101 4
  if (['request', 'request_uri'].some((name) => Object.hasOwn(claims, name)))
    throw refused('request_object_nested')
}

/** Other claims about the object are dropped. */
export const endOfObject = 'exp'

const aboutObject: ReadonlySet<string> = new Set(['iss', 'sub', 'aud', 'nbf', 'iat', 'jti'])

/** RFC 9101 4. A list of texts repeats a parameter; other values become JSON. Null counts as omitted. */
function parametersOf(claims: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(claims)) {
    if (aboutObject.has(name)) continue
    for (const text of textsOf(value)) parameters.append(name, text)
  }
  return parameters.toString()
}

function textsOf(value: unknown): readonly string[] {
  if (value === null) return []
  if (typeof value === 'string') return [value]
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return [`${value}`]
  if (Array.isArray(value) && value.length > 0 && value.every(isText)) return value
  if ((Array.isArray(value) || isRecord(value)) && isShallow(value)) return [JSON.stringify(value)]
  throw refused('request_object_claim_malformed')
}
