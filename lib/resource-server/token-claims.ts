import { aFlag, aNumber, someSeconds } from '../primitives/fields'
import { type Fields, optional } from '../primitives/schema'
import { isText, isTexts } from '../primitives/values'
import { resourceIndicatorsName } from '../extensions/resource-indicators/resource-indicators'
import type { Resources } from '../extensions/resource-indicators/resources'
import { anAudience } from '../jwt/verify-jwt'
import { readConfirmation } from '../protocol/confirmation'
import type { Extension } from '../protocol/extension'
import type { Observed } from '../protocol/oauth-error'
import type { Reason } from '../protocol/refusals'
import { loginIn } from '../protocol/resource-owner'
import { parseScope, type Scope } from '../protocol/scope'
import { fitsType, type TokenType } from '../protocol/token-type'
import type { FoundToken } from './admit'
import { otherAudience } from './challenge'

export type Claims = Readonly<Record<string, unknown>>

export interface SourceTerms {
  readonly issuer: string
  readonly resources: Resources | undefined
  readonly tokenTypes: readonly TokenType[]
  readonly extensions: readonly Extension[]
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

export interface TokenClaimsOptions {
  /**
   * `aud` of a token must contain one of these exactly: it is then good at each of `resources`.
   * Default: the URIs of the option `resources` of the guard. Without both, a token with `aud` is refused.
   */
  readonly audience?: string | readonly string[]
  /**
   * Whether a token must have `aud`. With `false`, one without it passes at the default resource, such as
   * those of Amazon Cognito. What a client got for any other API of the issuer then opens this one. Default
   * true.
   */
  readonly audienceRequired?: boolean
  /** Whole seconds by which clocks may differ. Default 5, at most 300. */
  readonly clockTolerance?: number
  /**
   * The most good tokens in the cache, which evicts the least recently used: 0 to 1 000 000. Default 10 000.
   */
  readonly maximumCached?: number
}

export const claimsFields = {
  audience: optional(
    anAudience('must be the value in aud of the tokens that names this resource server, or a list of them.'),
  ),
  audienceRequired: aFlag(true),
  clockTolerance: someSeconds(5, 0, 300),
  maximumCached: aNumber(10_000, 0, 1_000_000),
} satisfies Fields<TokenClaimsOptions>

interface ClaimNames {
  readonly clientId: readonly string[]
  readonly scope: string
  /** A scope may be a list, and `token_type` says nothing. */
  readonly areOlder: boolean
}

/** RFC 9068 2.2 and 2.2.3, RFC 7662 2.2. */
export const registeredNames: ClaimNames = { clientId: ['client_id'], scope: 'scope', areOlder: false }

export interface ClaimTerms extends Pick<SourceTerms, 'resources' | 'tokenTypes' | 'extensions'> {
  readonly audience: readonly string[] | undefined
  readonly audienceRequired: boolean
  readonly names: ClaimNames
}

/** RFC 9068 4, RFC 7662 2.2. @param claims proven, within their time. */
export function tokenOfClaims(claims: Claims, expiresAt: number, terms: ClaimTerms): FoundToken {
  const { names } = terms
  const claim = (name: string): unknown => (Object.hasOwn(claims, name) ? claims[name] : undefined)
  const audience = audienceIn(claim('aud'), terms)
  if (audience === 'wrong') {
    const expected = terms.audience ?? terms.resources?.all.map(({ uri }) => uri) ?? []
    return { rejectReason: 'token_resource', observed: otherAudience(claim('aud'), expected) }
  }
  const confirmation = readConfirmation(terms, claim('cnf'))
  // RFC 7800 3: a request without proof of the key may come from a thief.
  if (confirmation === undefined) return { rejectReason: 'token_bound_to_key' }
  const { tokenType, tokenData, tokenExtensionData: confirmed } = confirmation
  if ((!names.areOlder && !isOfType(claim('token_type'), tokenType)) || isOfAnotherKind(claim))
    return { rejectReason: 'token_of_another_kind' }
  const clientId = names.clientId.map(claim).find((value) => value !== undefined)
  const [subject, scope] = [claim('sub'), scopeOf(claim(names.scope), names.areOlder)]
  if (!isText(clientId) || !(subject === undefined || isText(subject)) || scope === undefined)
    return { rejectReason: 'token_incomplete' }
  // RFC 9700 4.15: a client could pass for an owner with its identifier.
  const owner = subject === clientId ? undefined : subject
  const login = owner === undefined ? undefined : loginIn(claims)
  const plain = { clientId, subject: owner, scope, tokenType, expiresAt, claims }
  const access = frozen(login === undefined ? plain : { ...plain, login })
  const tokenExtensionData =
    audience === undefined ? confirmed : { ...confirmed, [resourceIndicatorsName]: audience }
  return { access, tokenData, extensionData: {}, tokenExtensionData, claims }
}

/** Two clocks, or two spellings of an issuer, are the usual mistakes: other reasons read no claims. */
export const observedIn = (
  is: Reason,
  claimsOf: () => Claims,
  now: number,
  expected: readonly string[],
): Observed => observations[is]?.(claimsOf(), now, expected) ?? {}

const observations: Readonly<
  Partial<Record<Reason, (claims: Claims, now: number, expected: readonly string[]) => Observed>>
> = {
  token_issuer_unknown: ({ iss }, _now, expected) => ({ sent: String(iss), expected }),
  token_expired: ({ exp }, now) => ({ 'seconds since its end': Math.round(now - Number(exp)) }),
  token_not_yet_valid: ({ iat = 0, nbf = 0 }, now) => ({
    'seconds until its beginning': Math.round(Math.max(Number(iat), Number(nbf)) - now),
  }),
}

/** Undefined for a token that names no resource, and for one by `audience`. */
function audienceIn(
  aud: unknown,
  { audience, audienceRequired, resources }: ClaimTerms,
): readonly string[] | 'wrong' | undefined {
  const named = isText(aud) ? [aud] : (aud ?? [])
  if (!isTexts(named)) return 'wrong'
  if (named.length === 0 && !audienceRequired) return undefined
  if (audience === undefined) return resources === undefined && named.length === 0 ? undefined : named
  return named.some((one) => audience.includes(one)) ? resources?.all.map(({ uri }) => uri) : 'wrong'
}

// RFC 9449 6.2: a bound token must not call itself Bearer. Some servers name the format.
const isOfType = (named: unknown, type: string) =>
  fitsType(named, type) || (type === 'bearer' && fitsType(named, 'at+jwt'))

/**
 * OpenID Connect Core 3.1.3.6 and 3.3.2.11. This package, ORY Hydra and Cognito tell refresh and ID tokens by
 * `token_use`, Keycloak by `typ`.
 */
function isOfAnotherKind(claim: (name: string) => unknown): boolean {
  const [use = 'access', kind] = [claim('token_use'), claim('typ')]
  return (
    (use !== 'access' && use !== 'access_token') ||
    ['Refresh', 'Offline', 'ID'].some((name) => name === kind) ||
    ['at_hash', 'c_hash'].some((name) => claim(name) !== undefined)
  )
}

function scopeOf(value: unknown, mayBeList: boolean): Scope | undefined {
  if (value === undefined || value === '') return []
  if (isText(value)) return parseScope(value)
  const isList = mayBeList && isTexts(value) && value.every((token) => parseScope(token)?.length === 1)
  return isList ? [...new Set(value)] : undefined
}

/** JSON can be thousands of levels deep. */
function frozen<Value extends object>(value: Value): Value {
  const open: object[] = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    Object.freeze(next)
    for (const member of Object.values(next) as readonly unknown[])
      if (typeof member === 'object' && member !== null) open.push(member)
  }
  return value
}
