import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../primitives/options-reader'
import {
  createCredential,
  createRefreshToken,
  createSalt,
  derivedBytes,
  genuineGeneration,
  hasDigest,
  type Random,
  sealText,
  unsealText,
} from '../protocol/credential'
import { invalidGrant, OAuthError } from '../protocol/oauth-error'
import type { Reason } from '../protocol/reasons'
import { covers, isSameScope, malformedScope, parseScope, type Scope, scopeRefusal } from '../protocol/scope'
import type { TokenProperties } from '../protocol/token-type'
import type { AccessToken, Active, Authorization, RefreshToken, Rotation } from './authorization'
import { addAccessToken, issuePair, type Issuance, type Issued } from './issue'
import { keepRefreshToken } from './keep-refresh-token'
import { hasGrantEnded } from './lifetimes'
import { storedAccessToken } from './lookup'
import {
  hasFormat,
  isWritable,
  refusalOfOtherKey,
  repeat,
  type RepeatedTokens,
  termsOf,
} from './repeated-token'
import {
  type IssueContext,
  issueEvent,
  type NewAccessToken,
  nothingToKeep,
  revocationEvent,
  type TransitionResult,
} from './transition'

/** A refresh, as the client requests it (RFC 6749 6). */
interface Refresh {
  readonly refreshToken: string
  readonly clientId: string
  /** The parameter `scope` as received; undefined stands for the whole granted scope. */
  readonly scope: string | undefined
}

/**
 * The transition that uses a refresh token, and rotates it unless the server keeps it. During the grace, the previous refresh token gets the same tokens again,
 * so parallel refreshes and retries after a lost response end with the same tokens. Any other old refresh token counts
 * as stolen and revokes the authorization (RFC 9700 4.14.2).
 *
 * @param superseded the record that the previous round read, if another writer replaced this record meanwhile.
 */
export function rotateRefreshToken(
  current: Authorization | undefined,
  refresh: Refresh,
  context: IssueContext,
  superseded?: Authorization,
): TransitionResult<Issued> {
  // A reuse may have removed the record, and its request may have failed before the removal was durable. So this
  // request confirms the absence.
  if (current === undefined) return { action: 'touch', refusal: refreshRefused('refresh_token_unknown') }
  if (current.state !== 'active' || current.refreshToken === undefined)
    return { action: 'none', refusal: refreshRefused('refresh_token_unknown') }
  const { refreshToken } = current
  // The digest identifies the current refresh token. For any other token, the tag shows whether this server made it.
  const isCurrent = hasDigest(refresh.refreshToken, refreshToken.digest)
  const generation = isCurrent
    ? refreshToken.generation
    : genuineGeneration(refresh.refreshToken, refreshToken.tagKey)
  if (generation === undefined || generation > refreshToken.generation)
    return { action: 'none', refusal: refreshRefused('refresh_token_unknown') }
  if (refresh.clientId !== current.clientId)
    return { action: 'none', refusal: refreshRefused('refresh_token_of_another_client') }
  if (generation < refreshToken.generation)
    return replayRotation(current, refreshToken, { ...refresh, generation, superseded }, context)
  if (!isCurrent) return { action: 'none', refusal: refreshRefused('refresh_token_unknown') }
  if (hasGrantEnded(current.grantedAt, context)) return endOf(current)
  if (refreshToken.expiresAt <= context.now)
    return { action: 'none', refusal: refreshRefused('refresh_token_expired') }
  const token = requestedToken(current, refresh.scope, context)
  if (token instanceof OAuthError) return { action: 'none', refusal: token }
  // A key that this request brings binds the next refresh token: this one may have been stolen before.
  if (context.keepsRefreshToken?.(current.extensionData) === true)
    return keepRefreshToken(
      current,
      { text: refresh.refreshToken, stored: refreshToken, superseded },
      token,
      context,
    )
  const isRepeatable = context.lifetimes.refreshTokenGrace > 0
  const { authorization, issued } = isRepeatable
    ? rotate(current, refresh.refreshToken, token, context)
    : issuePair(current, token, context)
  const event = issueEvent('refreshed', authorization.accessTokens.at(-1))
  return { action: 'save', authorization, outcome: issued, event }
}

// A server with a shorter lifetime of grants ends the access tokens of the grant, too.
function endOf(current: Active): TransitionResult<Issued> {
  const event = revocationEvent(current, 'grant_expired')
  return { action: 'delete', refusal: refreshRefused('grant_expired'), event }
}

/** A genuine refresh token that a rotation has replaced. */
interface FormerRefreshToken {
  readonly refreshToken: string
  readonly generation: number
  readonly scope: string | undefined
  /** The record that the previous round read, if another writer replaced this record meanwhile. */
  readonly superseded: Authorization | undefined
}

/**
 * Gives a replaced refresh token the tokens of its rotation again, if this rotation is the last one and its grace has
 * not passed. Otherwise the token counts as stolen and revokes the authorization, unless the request was only slow.
 */
function replayRotation(
  current: Active,
  refreshToken: RefreshToken,
  former: FormerRefreshToken,
  context: IssueContext,
): TransitionResult<Issued> {
  const { generation, rotation, expiresAt } = refreshToken
  const { now, lifetimes } = context
  // The clocks of processes may differ in both directions, so a rotation may seem to lie in the future. A rotation that
  // lies further ahead than the grace comes from a wrong clock, and gets no grace.
  const inGrace = rotation !== undefined && Math.abs(now - rotation.at) < lifetimes.refreshTokenGrace
  const isLast = former.generation === generation - 1
  const pair = isLast && inGrace ? rederiveTokens(current, refreshToken, former.refreshToken) : undefined
  if (rotation === undefined || pair === undefined)
    return refuseReplaced(current, former, lifetimes.refreshTokenGrace)
  if (hasGrantEnded(current.grantedAt, context)) return endOf(current)
  if (expiresAt <= now) return { action: 'none', refusal: refreshRefused('refresh_token_expired') }
  const token = requestedToken(current, former.scope, context)
  if (token instanceof OAuthError) return { action: 'none', refusal: token }
  return repeatRotation(current, former.refreshToken, rotation, pair, token, context)
}

/**
 * Gives the tokens of a rotation again, or another access token beside them if the request is for another one.
 *
 * @param credential the credential that derives the tokens: the replaced refresh token, or the handle of a poll.
 */
export function repeatRotation(
  current: Active,
  credential: string,
  rotation: Rotation,
  pair: RotatedPair,
  token: NewAccessToken,
  context: IssueContext,
): TransitionResult<Issued> {
  // The first response has settled what extensions keep, such as the key to which the refresh token is bound.
  const keepingNothing = { ...token, authorizationData: nothingToKeep }
  const { stored } = pair
  if (stored !== undefined && !isSameToken(stored, token, current, context)) {
    const secrets = () => secretsOfOtherToken(credential, rotation.salt, token)
    return besidePair(current, pair, keepingNothing, secrets, context)
  }
  if (stored !== undefined && stored.expiresAt > context.now) return repeat(current.tokenType, pair, stored)
  // The access token of the rotation has expired, because the grace may be longer than the life of an access token. The
  // client gets a new access token with the same refresh token.
  return saveBeside(pair, addAccessToken(current, keepingNothing, context), context)
}

/**
 * The access token that a refresh requests, within the limits of the grant, the registration of the client and the
 * extensions; otherwise the refusal.
 */
function requestedToken(
  current: Active,
  requested: string | undefined,
  context: IssueContext,
): NewAccessToken | OAuthError {
  const scope = refreshScope(current.scope, requested)
  return scope instanceof OAuthError ? scope : context.restrict({ ...current, scope, begins: false })
}

function isSameToken(
  stored: AccessToken,
  token: NewAccessToken,
  { tokenType }: Active,
  context: IssueContext,
): boolean {
  const { scope, extensionData, tokenType: ownType = tokenType, format } = token
  return (
    isSameScope(stored.scope, scope) &&
    isDeepStrictEqual(stored.extensionData, extensionData) &&
    (stored.tokenType ?? tokenType) === ownType &&
    // Without a choice of an extension, the format of the first response stays.
    hasFormat(stored, format) &&
    isWritable(stored, context)
  )
}

/**
 * Issues an additional access token, for a repeated refresh with another scope or other data of extensions. The tokens
 * of the rotation stay unchanged. The server derives the secret of the additional token, so the same request gets the
 * same token again and the record does not grow.
 */
function besidePair(
  current: Active,
  pair: RotatedPair,
  token: NewAccessToken,
  secrets: () => Random,
  context: IssueContext,
): TransitionResult<Issued> {
  const accessToken = createCredential('accessToken', current.id, secrets())
  const stored = storedAccessToken(current.accessTokens, accessToken)
  const isGood = stored !== undefined && stored.expiresAt > context.now
  // The server cannot derive the members that a token type added to the first response. A token with data of its type
  // is therefore not repeated: the client gets a new token.
  if (isGood && stored.tokenData === undefined && isWritable(stored, context))
    return repeat(current.tokenType, { ...pair, accessToken, properties: {} }, stored)
  const source = stored === undefined ? secrets() : context.random
  return saveBeside(pair, addAccessToken(current, token, context, source), context)
}

// During the grace, a repeated refresh may get a new access token, but the refresh token stays the same.
function saveBeside(
  { stored, refreshToken, refreshTokenExpiresAt }: RotatedPair,
  { authorization, issued }: Issuance,
  context: IssueContext,
): TransitionResult<Issued> {
  const refusal = refusalOfOtherKey(stored, authorization, context)
  if (refusal !== undefined) return { action: 'none', refusal }
  const event = issueEvent('refreshed', authorization.accessTokens.at(-1), 'repeated')
  return { action: 'save', authorization, outcome: { ...issued, refreshToken, refreshTokenExpiresAt }, event }
}

function refuseReplaced(
  current: Active,
  { generation, superseded }: FormerRefreshToken,
  grace: number,
): TransitionResult<Issued> {
  // The refresh token was current when this request first read the record, and two rotations have followed since. The
  // request is slow; the token is not stolen.
  const wasCurrent = superseded?.state === 'active' && superseded.refreshToken?.generation === generation
  if (wasCurrent && grace > 0) return { action: 'none', refusal: refreshRefused('refresh_token_superseded') }
  const event = revocationEvent(current, 'refresh_token_reused')
  return { action: 'delete', refusal: refreshRefused('refresh_token_reused'), event }
}

const purpose = 'refresh token grace'
const pairFrom = (salt: string) => `refresh token pair ${salt}`

/** Derives the secret of an access token for a repeated refresh with another scope or other data of extensions. */
function secretsOfOtherToken(refreshToken: string, salt: string, token: NewAccessToken): Random {
  return derivedBytes(refreshToken, `access token beside the pair ${salt} ${termsOf(token)}`)
}

/**
 * Issues the next access token and refresh token. Derives their secrets from the replaced refresh token and a salt, so
 * the server can give the same tokens again. The record keeps only the salt and digests: without the replaced refresh
 * token, the store alone does not suffice to make the tokens.
 */
export function rotate(
  current: Active,
  refreshToken: string,
  token: NewAccessToken,
  context: IssueContext,
): Issuance {
  const { now, random } = context
  const salt = createSalt(random)
  const secrets = derivedBytes(refreshToken, pairFrom(salt))
  const { authorization, issued, refreshToken: next } = issuePair(current, token, context, secrets)
  const rotation = { at: now, salt, sealedProperties: sealed(issued.properties, refreshToken, random) }
  return { authorization: { ...authorization, refreshToken: { ...next, rotation } }, issued }
}

/** The access token and the refresh token that a rotation issued. */
interface RotatedPair extends RepeatedTokens {
  /** The access token in the record; undefined if the record dropped the token after its end. */
  readonly stored: AccessToken | undefined
}

/** Derives the tokens of the last rotation again; undefined if the rotation replaced another refresh token. */
export function rederiveTokens(
  { id, accessTokens }: Active,
  next: RefreshToken,
  refreshToken: string,
): RotatedPair | undefined {
  const { rotation } = next
  if (rotation === undefined) return undefined
  const secrets = derivedBytes(refreshToken, pairFrom(rotation.salt))
  const accessToken = createCredential('accessToken', id, secrets)
  const nextRefreshToken = createRefreshToken(id, next.generation, next.tagKey, secrets)
  if (!hasDigest(nextRefreshToken, next.digest)) return undefined
  return {
    accessToken,
    stored: storedAccessToken(accessTokens, accessToken),
    properties: unsealed(rotation.sealedProperties, refreshToken),
    refreshToken: nextRefreshToken,
    refreshTokenExpiresAt: next.expiresAt,
  }
}

function sealed(properties: TokenProperties, refreshToken: string, random: Random): string | undefined {
  if (Object.keys(properties).length === 0) return undefined
  return sealText(JSON.stringify(properties), { credential: refreshToken, purpose }, random)
}

function unsealed(text: string | undefined, refreshToken: string): TokenProperties {
  if (text === undefined) return {}
  const opened = unsealText(text, { credential: refreshToken, purpose })
  const properties: unknown = opened === undefined ? undefined : JSON.parse(opened)
  if (isProperties(properties)) return properties
  throw new Error('The members that a token type added to the last token response were altered in the store.')
}

function isProperties(value: unknown): value is TokenProperties {
  return (
    isRecord(value) && Object.values(value).every((member) => ['string', 'number'].includes(typeof member))
  )
}

/** The refusal of a refresh token. The client always gets the same text; only the reason, for events, differs. */
function refreshRefused(reason: Reason<'invalid_grant'>): OAuthError {
  return invalidGrant(
    reason,
    'The refresh token is invalid, expired, revoked, or was issued to another client.',
  )
}

/** The scope of a refresh (RFC 6749 6): at most the granted scope, and by default the whole granted scope. */
function refreshScope(granted: Scope, requested: string | undefined): Scope | OAuthError {
  if (requested === undefined) return granted
  const scope = parseScope(requested)
  if (scope === undefined) return malformedScope(requested)
  if (covers(granted, scope)) return scope
  return scopeRefusal('scope_exceeded', 'exceeds what was granted.', scope, granted, {
    'granted scope': granted,
  })
}
