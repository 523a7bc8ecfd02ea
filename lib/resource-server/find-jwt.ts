import { type KeySource, KeysUnavailable } from '../jwt/key-source'
import {
  type JwtFault,
  type JwtTerms,
  longestJwt,
  type ProvenJwt,
  RefusedJwt,
  verifyJwt,
} from '../jwt/verify-jwt'
import { type VerifiedToken, VerifiedTokens } from '../jwt/verified-tokens'
import { isText, isTexts } from '../primitives/values'
import { SingleFlight } from '../primitives/concurrency'
import { digest as digestOf } from '../protocol/credential'
import { readConfirmation } from '../protocol/confirmation'
import type { Extension } from '../protocol/extension'
import { loginIn } from '../protocol/resource-owner'
import type { Observed } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { parseScope, type Scope } from '../protocol/scope'
import { fitsType, type TokenType } from '../protocol/token-type'
import { type FoundToken, frozen, type GoodToken, type JwtAccess } from './admit'
import { otherAudience } from './refusals'

interface JwtAccessTerms extends Omit<JwtTerms, 'issuers' | 'audience'> {
  readonly audience: readonly string[]
  readonly issuer: string
  readonly keys: KeySource
  readonly claimNames: JwtDialect
  readonly tokenTypes: readonly TokenType[]
  readonly extensions: readonly Extension[]
  /** Tokens; 0 for no cache. */
  readonly maximumCached: number
  /** Seconds. */
  readonly maximumAge: number
}

/** RFC 9068 4. A verified token costs one look-up in memory. */
export function findJwt(
  terms: JwtAccessTerms,
): (token: string, now: number) => FoundToken | Promise<FoundToken> {
  const { keys, clockTolerance, maximumAge } = terms
  const verified = new VerifiedTokens<VerifiedAccess>(terms.maximumCached)
  // The result depends on nothing but the token.
  const verifications = new SingleFlight<FoundToken>()
  const forVerification = { ...terms, issuers: new Map([[terms.issuer, keys]]) }

  const verify = async (text: string, digest: string, now: number): Promise<FoundToken> => {
    const known = await verified.find(digest, keys, now)
    if (known !== undefined) return known
    const proven = await verifyJwt(text, now, forVerification)
    const token = jwtToken(proven, terms)
    if (typeof token === 'string') return refusedToken(token)
    const endsAt = Math.min(proven.expiresAt + clockTolerance, now + maximumAge)
    const found: VerifiedAccess = { ...token, keySet: proven.keySet, verifiedAt: now, endsAt }
    verified.remember(digest, found)
    return found
  }

  return (token, now) => {
    if (token.length > longestJwt) return refusedToken('malformed')
    const digest = digestOf(token)
    return (
      verified.getCached(digest, keys, now) ??
      verifications.share(digest, () => verify(token, digest, now).catch((error) => refusal(error, terms)))
    )
  }
}

const refusedToken = (fault: JwtFault | AccessFault, observed?: Observed): FoundToken => ({
  rejectReason: `jwt_${fault}`,
  observed,
})

function refusal(error: unknown, { audience }: JwtAccessTerms): FoundToken {
  if (error instanceof RefusedJwt) {
    const { fault } = error
    return refusedToken(
      fault,
      fault === 'audience_wrong' ? otherAudience(error.audience, audience) : undefined,
    )
  }
  if (!(error instanceof KeysUnavailable)) throw error
  // No refusal: the client must not discard a token that may be valid.
  throw refused('jwt_keys_unavailable', {}, { cause: error.cause, headers: error.headers })
}

/** Some issuers do not use the registered claims. */
export interface JwtDialect {
  readonly clientId: readonly string[]
  readonly scope: string
  readonly listsScope: boolean
}

/** RFC 9068 2.2 and 2.2.3. */
export const rfc9068: JwtDialect = { clientId: ['client_id'], scope: 'scope', listsScope: false }

type AccessFault = Extract<JwtFault, 'incomplete'> | 'bound_to_key' | 'of_another_kind'

function jwtToken(
  { subject, expiresAt, claims }: ProvenJwt,
  { claimNames: dialect, ...confirming }: JwtAccessTerms,
): JwtToken | AccessFault {
  const confirmation = readConfirmation(confirming, claimOf(claims, 'cnf'))
  // RFC 7800 3: bound to a key. A request without proof of it may come from a thief.
  if (confirmation === undefined) return 'bound_to_key'
  const { tokenType, ...kept } = confirmation
  // Only this package names the type of a token that demands a proof: older issuers use the claim otherwise.
  if (!dialect.listsScope && !fitsType(claimOf(claims, 'token_type'), tokenType)) return 'of_another_kind'
  // OpenID Connect Core 3.1.3.6 and 3.3.2.11: an ID token, which gives no access.
  if (['at_hash', 'c_hash'].some((name) => Object.hasOwn(claims, name))) return 'of_another_kind'
  const clientId = dialect.clientId.map((name) => claimOf(claims, name)).find((value) => value !== undefined)
  const scope = scopeOf(claimOf(claims, dialect.scope), dialect.listsScope)
  if (!isText(clientId) || scope === undefined) return 'incomplete'
  // RFC 9700 4.15: else a client could pass for a resource owner with the same identifier.
  const owner = subject === clientId ? undefined : subject
  const login = owner === undefined ? undefined : loginIn(claims)
  const plain = { clientId, subject: owner, scope, tokenType, expiresAt, claims }
  const access = frozen(login === undefined ? plain : { ...plain, login })
  return { access, ...kept, extensionData: {} }
}

const claimOf = (claims: ProvenJwt['claims'], name: string): unknown =>
  Object.hasOwn(claims, name) ? claims[name] : undefined

function scopeOf(value: unknown, listsScope: boolean): Scope | undefined {
  if (value === undefined || value === '') return []
  if (typeof value === 'string') return parseScope(value)
  const isList = listsScope && isTexts(value) && value.every((token) => parseScope(token)?.length === 1)
  return isList ? [...new Set(value)] : undefined
}

interface JwtToken extends GoodToken {
  readonly access: JwtAccess
}

interface VerifiedAccess extends JwtToken, VerifiedToken {}
