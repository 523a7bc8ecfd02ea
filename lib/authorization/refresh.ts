import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../primitives/values'
import {
  createCredential,
  createRefreshToken,
  createSalt,
  derivedText,
  digest,
  genuineGeneration,
  hasDigest,
  type Random,
  sealText,
  unsealText,
} from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { covers, isSameScope, malformedScope, parseScope, type Scope, scopeRefusal } from '../protocol/scope'
import type { TokenProperties } from '../protocol/token-type'
import { type AccessToken, findToken, newestToken } from './access-token'
import type { Active, Authorization, RefreshToken, Rotation } from './authorization'
import { addAccessToken, issuePair, type Issuance, type Issued } from './issue'
import { keepRefreshToken } from './keep-refresh-token'
import { hasGrantEnded } from './lifetimes'
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

interface Refresh {
  readonly refreshToken: string
  readonly clientId: string
  /** As received; undefined stands for the whole granted scope. */
  readonly scope: string | undefined
}

/**
 * RFC 9700 4.14.2: an old refresh token counts as stolen and revokes the authorization. During the grace, the previous
 * one gets the same tokens again: parallel refreshes, and retries after a lost response.
 */
export function rotateRefreshToken(
  current: Authorization | undefined,
  refresh: Refresh,
  context: IssueContext,
  superseded?: Authorization,
): TransitionResult<Issued> {
  // Confirms an absence that may not be durable yet.
  if (current === undefined) return { action: 'touch', refusal: refused('refresh_token_unknown') }
  if (current.state !== 'active' || current.refreshToken === undefined)
    return { action: 'none', refusal: refused('refresh_token_unknown') }
  const { refreshToken } = current
  // The tag shows whether this server made a former token.
  const isCurrent = hasDigest(refresh.refreshToken, refreshToken.digest)
  const generation = isCurrent
    ? refreshToken.generation
    : genuineGeneration(refresh.refreshToken, refreshToken.tagKey)
  if (generation === undefined || generation > refreshToken.generation)
    return { action: 'none', refusal: refused('refresh_token_unknown') }
  if (refresh.clientId !== current.clientId)
    return { action: 'none', refusal: refused('refresh_token_of_another_client') }
  if (generation < refreshToken.generation)
    return replayRotation(current, refreshToken, { ...refresh, generation, superseded }, context)
  if (!isCurrent) return { action: 'none', refusal: refused('refresh_token_unknown') }
  if (hasGrantEnded(current.grantedAt, context)) return endOf(current)
  if (refreshToken.expiresAt <= context.now)
    return { action: 'none', refusal: refused('refresh_token_expired') }
  const token = requestedToken(current, refresh.scope, context)
  if (token instanceof OAuthError) return { action: 'none', refusal: token }
  // A key of this request binds the next refresh token: this one may have been stolen before.
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
  const event = issueEvent('refreshed', newestToken(authorization))
  return { action: 'save', authorization, outcome: issued, event }
}

// A server with a shorter lifetime of grants also ends the access tokens.
function endOf(current: Active): TransitionResult<Issued> {
  const event = revocationEvent(current, 'grant_expired')
  return { action: 'delete', refusal: refused('grant_expired'), event }
}

interface FormerRefreshToken {
  readonly refreshToken: string
  readonly generation: number
  readonly scope: string | undefined
  readonly superseded: Authorization | undefined
}

/**
 * Repeats the last rotation during its grace. Otherwise revokes the authorization, unless the request was only slow.
 */
function replayRotation(
  current: Active,
  refreshToken: RefreshToken,
  former: FormerRefreshToken,
  context: IssueContext,
): TransitionResult<Issued> {
  const { generation, rotation, expiresAt } = refreshToken
  const { now, lifetimes } = context
  // Clocks of processes differ both ways: a rotation may seem to lie in the future. Further ahead than the grace, the
  // clock is wrong, and there is no grace.
  const inGrace = rotation !== undefined && Math.abs(now - rotation.at) < lifetimes.refreshTokenGrace
  const isLast = former.generation === generation - 1
  const pair = isLast && inGrace ? rederiveTokens(current, refreshToken, former.refreshToken) : undefined
  if (rotation === undefined || pair === undefined)
    return refuseReplaced(current, former, lifetimes.refreshTokenGrace)
  if (hasGrantEnded(current.grantedAt, context)) return endOf(current)
  if (expiresAt <= now) return { action: 'none', refusal: refused('refresh_token_expired') }
  const token = requestedToken(current, former.scope, context)
  if (token instanceof OAuthError) return { action: 'none', refusal: token }
  return repeatRotation(current, former.refreshToken, rotation, pair, token, context)
}

/** @param credential the replaced refresh token, or the handle of a poll. */
export function repeatRotation(
  current: Active,
  credential: string,
  rotation: Rotation,
  pair: RotatedPair,
  token: NewAccessToken,
  context: IssueContext,
): TransitionResult<Issued> {
  // The first response has settled this, such as the key that binds the refresh token.
  const keepingNothing = { ...token, authorizationData: nothingToKeep }
  const { stored } = pair
  if (stored !== undefined && !isSameToken(stored, token, current, context)) {
    const secrets = () => secretsOfOtherToken(credential, rotation.salt, token)
    return besidePair(current, pair, keepingNothing, secrets, context)
  }
  if (stored !== undefined && stored.expiresAt > context.now) return repeat(current.tokenType, pair, stored)
  // The grace may outlast the access token: a new one comes with the same refresh token.
  return saveBeside(pair, addAccessToken(current, keepingNothing, context), context)
}

function requestedToken(
  current: Active,
  requested: string | undefined,
  context: IssueContext,
): NewAccessToken | OAuthError {
  const scope = refreshScope(current.scope, requested)
  return scope instanceof OAuthError ? scope : context.restrict({ ...current, scope })
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
 * For a repeated refresh with another scope or other data of extensions. The secret is derived: the same request gets
 * the same token, and the record does not grow.
 */
function besidePair(
  current: Active,
  pair: RotatedPair,
  token: NewAccessToken,
  secrets: () => Random,
  context: IssueContext,
): TransitionResult<Issued> {
  const accessToken = createCredential('accessToken', current.id, secrets())
  const stored = findToken(current, digest(accessToken))
  const isGood = stored !== undefined && stored.expiresAt > context.now
  // Members that a token type added cannot be derived, so a token with data of its type is not repeated.
  if (isGood && stored.tokenData === undefined && isWritable(stored, context))
    return repeat(current.tokenType, { ...pair, accessToken, properties: {} }, stored)
  const source = stored === undefined ? secrets() : context.random
  return saveBeside(pair, addAccessToken(current, token, context, source), context)
}

function saveBeside(
  { stored, refreshToken, refreshTokenExpiresAt }: RotatedPair,
  { authorization, issued }: Issuance,
  context: IssueContext,
): TransitionResult<Issued> {
  const refusal = refusalOfOtherKey(stored, authorization, context)
  if (refusal !== undefined) return { action: 'none', refusal }
  const event = issueEvent('refreshed', newestToken(authorization), 'repeated')
  return { action: 'save', authorization, outcome: { ...issued, refreshToken, refreshTokenExpiresAt }, event }
}

function refuseReplaced(
  current: Active,
  { generation, superseded }: FormerRefreshToken,
  grace: number,
): TransitionResult<Issued> {
  // Current when this request first read the record, two rotations ago: slow, not stolen.
  const wasCurrent = superseded?.state === 'active' && superseded.refreshToken?.generation === generation
  if (wasCurrent && grace > 0) return { action: 'none', refusal: refused('refresh_token_superseded') }
  const event = revocationEvent(current, 'refresh_token_reused')
  return { action: 'delete', refusal: refused('refresh_token_reused'), event }
}

const purpose = 'refresh token grace'
const pairFrom = (salt: string) => `refresh token pair ${salt}`

function secretsOfOtherToken(refreshToken: string, salt: string, token: NewAccessToken): Random {
  return derivedText(refreshToken, `access token beside the pair ${salt} ${termsOf(token)}`)
}

/**
 * Derives the secrets from the replaced refresh token and a salt, to repeat them. The record has only the salt and
 * digests: the store alone does not suffice to make the tokens.
 */
export function rotate(
  current: Active,
  refreshToken: string,
  token: NewAccessToken,
  context: IssueContext,
): Issuance {
  const { now, random } = context
  const salt = createSalt(random)
  const secrets = derivedText(refreshToken, pairFrom(salt))
  const { authorization, issued, refreshToken: next } = issuePair(current, token, context, secrets)
  const rotation = { at: now, salt, sealedProperties: sealed(issued.properties, refreshToken, random) }
  return { authorization: { ...authorization, refreshToken: { ...next, rotation } }, issued }
}

interface RotatedPair extends RepeatedTokens {
  /** Undefined if the record dropped the token after its end. */
  readonly stored: AccessToken | undefined
}

/** Undefined if the rotation replaced another refresh token. */
export function rederiveTokens(
  current: Active,
  next: RefreshToken,
  refreshToken: string,
): RotatedPair | undefined {
  const { rotation } = next
  if (rotation === undefined) return undefined
  const secrets = derivedText(refreshToken, pairFrom(rotation.salt))
  const accessToken = createCredential('accessToken', current.id, secrets)
  const nextRefreshToken = createRefreshToken(current.id, next.generation, next.tagKey, secrets)
  if (!hasDigest(nextRefreshToken, next.digest)) return undefined
  return {
    accessToken,
    stored: findToken(current, digest(accessToken)),
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

/** RFC 6749 6: at most, and by default, the granted scope. */
function refreshScope(granted: Scope, requested: string | undefined): Scope | OAuthError {
  if (requested === undefined) return granted
  const scope = parseScope(requested)
  if (scope === undefined) return malformedScope(requested)
  if (covers(granted, scope)) return scope
  return scopeRefusal('scope_exceeded', scope, granted, {
    'granted scope': granted,
  })
}
