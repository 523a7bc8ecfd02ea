import {
  createCredential,
  createId,
  createRefreshToken,
  createTagKey,
  digest,
  type Random,
} from '../protocol/credential'
import type { ExtensionData } from '../protocol/extension'
import { OAuthError } from '../protocol/oauth-error'
import type { Scope } from '../protocol/scope'
import { issueOfType, type TokenProperties, type TokenType, type TokenTypes } from '../protocol/token-type'
import type { AccessToken, Active, Approved, Grant, RefreshToken } from './authorization'
import type { OneTimeUse } from './one-time-use'
import type { IssueContext, NewAccessToken } from './transition'

/** Tokens as they go to the client, in clear: this value never reaches a store. */
export interface Issued {
  readonly accessToken: string
  readonly tokenType: string
  /** What the token type adds to the answer. */
  readonly properties: TokenProperties
  /** Seconds since the epoch. */
  readonly expiresAt: number
  readonly scope: Scope
  readonly refreshToken: string | undefined
}

/** An authorization after tokens were issued from it, and the tokens. */
export interface Issuance<Holder extends Approved | Active = Active> {
  readonly authorization: Holder
  readonly issued: Issued
}

// RFC 6819 4.4.1.11: a client that refreshes without end must not grow the record without end. The 33rd live access
// token ends the oldest one before its time.
const liveAccessTokens = 32

/**
 * Issues an access token, without a refresh token: the response of an authorization endpoint may hold nothing more. The
 * returned authorization replaces the given one.
 *
 * @throws OAuthError when an extension of the server refuses the token.
 */
export function issueAccessToken<Holder extends Approved | Active>(
  authorization: Holder,
  scope: Scope,
  context: IssueContext,
): Issuance<Holder> {
  const token = context.restrict({ ...authorization, scope, begins: false })
  if (token instanceof OAuthError) throw token
  return addAccessToken(authorization, token, context)
}

/**
 * Adds an access token to an authorization.
 *
 * @param secrets the source of its secret; default: random bytes.
 */
export function addAccessToken<Holder extends Approved | Active>(
  authorization: Holder,
  { scope, lifetime, extensionData }: NewAccessToken,
  { now, random, lifetimes, tokenTypes, countIssue }: IssueContext,
  secrets: Random = random,
): Issuance<Holder> {
  countIssue(authorization.clientId, authorization.subject)
  const tokenType = offered(authorization.tokenType, tokenTypes)
  const accessToken = createCredential('accessToken', authorization.id, secrets)
  const expiresAt = now + Math.min(lifetimes.accessToken, lifetime ?? Infinity)
  const { properties, tokenData } = issueOfType(tokenType, accessToken, { now, random })
  const added: AccessToken = { digest: digest(accessToken), scope, expiresAt, tokenData, extensionData }
  const live = authorization.accessTokens.filter((token) => token.expiresAt > now)
  const accessTokens = [...live, added].slice(-liveAccessTokens)
  return {
    authorization: { ...authorization, accessTokens },
    issued: {
      accessToken,
      tokenType: tokenType.name,
      properties,
      expiresAt,
      scope,
      refreshToken: undefined,
    },
  }
}

function offered(name: string, tokenTypes: TokenTypes): TokenType {
  const tokenType = tokenTypes.get(name)
  if (tokenType !== undefined) return tokenType
  throw new Error(
    `The token type "${name}" was withdrawn, but authorizations of it live: put it back, or revoke them.`,
  )
}

/** Adds an access token, and a refresh token if one is wanted. */
export function issue(
  current: Active,
  token: NewAccessToken,
  refreshToken: boolean,
  context: IssueContext,
): Issuance {
  return refreshToken ? issuePair(current, token, context) : addAccessToken(current, token, context)
}

/**
 * Adds an access token and a refresh token. The new refresh token replaces the present one.
 *
 * @param secrets the source of both secrets, in this order; default: random bytes.
 */
export function issuePair(
  current: Active,
  token: NewAccessToken,
  context: IssueContext,
  secrets: Random = context.random,
): Issuance & { readonly refreshToken: RefreshToken } {
  const { authorization, issued } = addAccessToken(current, token, context, secrets)
  const { now, random, lifetimes } = context
  const tagKey = current.refreshToken?.tagKey ?? createTagKey(random)
  const generation = (current.refreshToken?.generation ?? -1) + 1
  const text = createRefreshToken(current.id, generation, tagKey, secrets)
  const expiresAt = now + lifetimes.refreshToken
  const refreshToken = { digest: digest(text), generation, tagKey, expiresAt, rotation: undefined }
  return {
    authorization: { ...authorization, refreshToken },
    refreshToken,
    issued: { ...issued, refreshToken: text },
  }
}

/** The record of what was granted, as it is before any token is issued from it. */
export function withoutTokens(
  { issuerDigest, clientId, subject, scope, tokenType, extensionData }: Omit<Grant, 'id'>,
  id: string,
): Active {
  return {
    state: 'active',
    id,
    issuerDigest,
    handle: undefined,
    clientId,
    subject,
    scope,
    tokenType,
    extensionData,
    spentCode: undefined,
    accessTokens: [],
    refreshToken: undefined,
    usedUntil: undefined,
  }
}

/** What a grant has proven when it needs no code: a client for itself, or an assertion about an owner. */
export interface DirectAuthorization {
  readonly clientId: string
  readonly subject: string | undefined
  readonly scope: Scope
  /** The one that the client gets. */
  readonly tokenType: string
  readonly refreshToken: boolean
  readonly extensionData: ExtensionData
  /**
   * When what was proven ends, in seconds since the epoch: the access token ends then at the latest, and no refresh
   * token comes, which would outlive it. Left out: the server's lifetimes say it all.
   */
  readonly expiresAt?: number | undefined
  /** What the grant uses up. Left out: nothing. */
  readonly oneTimeUse?: OneTimeUse | undefined
}

/**
 * Begins an authorization with tokens.
 *
 * @param id of the authorization; default: a random one.
 * @throws OAuthError when an extension of the server refuses the token.
 */
export function issueDirectly(
  grant: DirectAuthorization,
  context: IssueContext,
  id: string = createId(context.random),
): Issuance {
  const { refreshToken, expiresAt, oneTimeUse } = grant
  const token = context.restrict({ ...grant, begins: true })
  if (token instanceof OAuthError) throw token
  const extensionData = { ...grant.extensionData, ...token.authorizationData }
  const authorization = {
    ...withoutTokens({ ...grant, extensionData, issuerDigest: context.issuerDigest }, id),
    usedUntil: oneTimeUse?.until,
  }
  return expiresAt === undefined
    ? issue(authorization, token, refreshToken, context)
    : issue(authorization, token, false, endingAt(expiresAt, context))
}

function endingAt(end: number, context: IssueContext): IssueContext {
  const { now, lifetimes } = context
  if (!Number.isSafeInteger(end) || end <= now)
    throw new RangeError('A grant type has proven a grant whose expiresAt is no whole second to come.')
  return {
    ...context,
    lifetimes: { ...lifetimes, accessToken: Math.min(lifetimes.accessToken, end - now) },
  }
}
