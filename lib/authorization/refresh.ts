import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../protocol/configuration'
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
import { invalidGrant, invalidScope, OAuthError } from '../protocol/oauth-error'
import type { Reason } from '../protocol/reasons'
import { covers, formatScope, isSameScope, parseScope, type Scope } from '../protocol/scope'
import type { TokenProperties } from '../protocol/token-type'
import type { AccessToken, Active, Authorization, RefreshToken } from './authorization'
import { addAccessToken, issuePair, type Issuance, type Issued } from './issue'
import { storedAccessToken } from './lookup'
import {
  deleteRecord,
  type IssueContext,
  issueEvent,
  type NewAccessToken,
  revocationEvent,
  save,
  touch,
  type TransitionEvent,
  type TransitionResult,
  unchanged,
} from './transition'

/** A refresh as its client asks for it. */
export interface Refresh {
  readonly refreshToken: string
  readonly clientId: string
  /** The scope parameter as it came; undefined means all that was granted. */
  readonly scope: string | undefined
}

/**
 * Rotates a refresh token. The one that was just rotated out gets the same answer again during the grace, so that
 * parallel refreshes and lost answers converge; any older one was stolen or leaked, and revokes (RFC 9700 4.14.2).
 *
 * @param superseded the record of the round before, when another writer was faster.
 */
export function rotateRefreshToken(
  current: Authorization | undefined,
  refresh: Refresh,
  context: IssueContext,
  superseded?: Authorization,
): TransitionResult<Issued> {
  // A reuse may have removed the record, without an answer that it is gone for good.
  if (current === undefined) return touch(refreshRefused('refresh_token_unknown'))
  if (current.state !== 'active' || current.refreshToken === undefined)
    return unchanged(refreshRefused('refresh_token_unknown'))
  const { refreshToken } = current
  // The current one is known by its digest; of any other, the tag tells whether it was ever ours.
  const isCurrent = hasDigest(refresh.refreshToken, refreshToken.digest)
  const generation = isCurrent
    ? refreshToken.generation
    : genuineGeneration(refresh.refreshToken, refreshToken.tagKey)
  if (generation === undefined || generation > refreshToken.generation)
    return unchanged(refreshRefused('refresh_token_unknown'))
  if (refresh.clientId !== current.clientId)
    return unchanged(refreshRefused('refresh_token_of_another_client'))
  if (generation < refreshToken.generation)
    return replayRotation(current, refreshToken, { ...refresh, generation, superseded }, context)
  if (!isCurrent) return unchanged(refreshRefused('refresh_token_unknown'))
  if (refreshToken.expiresAt <= context.now) return unchanged(refreshRefused('refresh_token_expired'))
  const token = requestedToken(current, refresh.scope, context)
  if (token instanceof OAuthError) return unchanged(token)
  const isRepeatable = context.lifetimes.refreshTokenGrace > 0
  const { authorization, issued } = isRepeatable
    ? rotate(current, refresh.refreshToken, token, context)
    : issuePair(current, token, context)
  return save(authorization, issued, issueEvent('refreshed', authorization.accessTokens.at(-1)))
}

/** A genuine refresh token that is not the current one any more. */
export interface FormerRefreshToken {
  readonly refreshToken: string
  readonly generation: number
  readonly scope: string | undefined
  /** The record of the round before, when another writer was faster. */
  readonly superseded: Authorization | undefined
}

/** Gives the answer of its own rotation again, as long as that is the last one and the grace has not passed. */
export function replayRotation(
  current: Active,
  refreshToken: RefreshToken,
  former: FormerRefreshToken,
  context: IssueContext,
): TransitionResult<Issued> {
  const { generation, rotation, expiresAt } = refreshToken
  const { now, lifetimes } = context
  // Clocks of processes may differ either way; a rotation of an hour ahead is one of a clock that was wrong, and not fresh.
  const inGrace = rotation !== undefined && Math.abs(now - rotation.at) < lifetimes.refreshTokenGrace
  const isLast = former.generation === generation - 1
  const pair = isLast && inGrace ? rederiveTokens(current, refreshToken, former.refreshToken) : undefined
  if (rotation === undefined || pair === undefined)
    return outOfUse(current, former, lifetimes.refreshTokenGrace)
  if (expiresAt <= now) return unchanged(refreshRefused('refresh_token_expired'))
  const token = requestedToken(current, former.scope, context)
  if (token instanceof OAuthError) return unchanged(token)
  const { stored } = pair
  if (stored !== undefined && !isSameToken(stored, token)) {
    const secrets = () => secretsOfOtherToken(former.refreshToken, rotation.salt, token)
    return besidePair(current, pair, token, secrets, context)
  }
  if (stored !== undefined && stored.expiresAt > now)
    return touch(answerOf(current.tokenType, pair, stored), repeated(stored))
  // The grace may be longer than an access token lives: then a new one comes with the same refresh token.
  return saveBeside(pair, addAccessToken(current, token, context))
}

/** The access token that a refresh asks for, as far as the grant and the extensions allow it. */
function requestedToken(
  current: Active,
  requested: string | undefined,
  context: IssueContext,
): NewAccessToken | OAuthError {
  const scope = refreshScope(current.scope, requested)
  return scope instanceof OAuthError ? scope : context.restrict({ ...current, scope, begins: false })
}

function isSameToken(stored: AccessToken, { scope, extensionData }: NewAccessToken): boolean {
  return isSameScope(stored.scope, scope) && isDeepStrictEqual(stored.extensionData, extensionData)
}

/**
 * Issues an access token of another scope, or with other data of extensions, beside the pair of the rotation. The pair stays
 * unchanged. The secret of the token is derived, so the same repetition gets the same token and the record does not grow.
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
  // What a token type gave to the client beside such a token cannot be derived: then a new one is issued.
  if (isGood && stored.tokenData === undefined)
    return touch(
      answerOf(current.tokenType, { ...pair, accessToken, properties: {} }, stored),
      repeated(stored),
    )
  const source = stored === undefined ? secrets() : context.random
  return saveBeside(pair, addAccessToken(current, token, context, source))
}

// Within the grace the refresh token stays what it is, though a new access token comes with it.
function saveBeside(
  { refreshToken }: RotatedPair,
  { authorization, issued }: Issuance,
): TransitionResult<Issued> {
  return save(authorization, { ...issued, refreshToken }, repeated(authorization.accessTokens.at(-1)))
}

const repeated = (token: AccessToken | undefined): TransitionEvent =>
  issueEvent('refreshed', token, 'repeated')

function answerOf(
  tokenType: string,
  { accessToken, properties, refreshToken }: RotatedPair,
  { expiresAt, scope }: AccessToken,
): Issued {
  return { accessToken, tokenType, properties, expiresAt, scope, refreshToken }
}

function outOfUse(
  current: Active,
  { generation, superseded }: FormerRefreshToken,
  grace: number,
): TransitionResult<Issued> {
  // It was current when this request came, and others have rotated twice since: slow, not stolen.
  const wasCurrent = superseded?.state === 'active' && superseded.refreshToken?.generation === generation
  if (wasCurrent && grace > 0) return unchanged(refreshRefused('refresh_token_superseded'))
  return deleteRecord(
    refreshRefused('refresh_token_reused'),
    revocationEvent(current, 'refresh_token_reused'),
  )
}

const purpose = 'refresh token grace'
const pairFrom = (salt: string) => `refresh token pair ${salt}`

/** The source of the secret of an access token that a repeated refresh asks for with other terms than the first one. */
export function secretsOfOtherToken(
  refreshToken: string,
  salt: string,
  { scope, extensionData }: NewAccessToken,
): Random {
  const data = Object.keys(extensionData).length === 0 ? '' : ` ${JSON.stringify(extensionData)}`
  return derivedBytes(
    refreshToken,
    `access token beside the pair ${salt} ${formatScope(scope.toSorted())}${data}`,
  )
}

/**
 * Issues the next pair in a way that can be repeated with the refresh token that goes out of use, and with nothing else:
 * the secrets are derived from it and from a salt, which is all that the record keeps of them.
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

/** The pair that a rotation issued. */
export interface RotatedPair {
  readonly accessToken: string
  /** What the record has of it; undefined when it ended and was forgotten. */
  readonly stored: AccessToken | undefined
  readonly properties: TokenProperties
  readonly refreshToken: string
}

/** The pair of the last rotation again; undefined when this is not the refresh token that it put out of use. */
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
  throw new Error('What a token type added to the last answer was altered in the store.')
}

function isProperties(value: unknown): value is TokenProperties {
  return (
    isRecord(value) && Object.values(value).every((member) => ['string', 'number'].includes(typeof member))
  )
}

/** One answer to every refresh token that is no good: only the reason, which stays here, tells them apart. */
export function refreshRefused(reason: Reason<'invalid_grant'>): OAuthError {
  return invalidGrant(
    reason,
    'The refresh token is invalid, expired, revoked, or was issued to another client.',
  )
}

/** The scope of a refresh (RFC 6749 6): never beyond the original grant, and all of it when none is named. */
export function refreshScope(granted: Scope, requested: string | undefined): Scope | OAuthError {
  if (requested === undefined) return granted
  const scope = parseScope(requested)
  if (scope === undefined) return invalidScope('scope_malformed', 'The scope is malformed.')
  return covers(granted, scope)
    ? scope
    : invalidScope('scope_exceeded', 'The scope exceeds what was granted.')
}
