import {
  createCredential,
  createId,
  createRefreshToken,
  createTagKey,
  digest,
  type Random,
} from '../protocol/credential'
import { opaqueFormat } from '../protocol/access-token-format'
import { noEvidence } from '../protocol/evidence'
import type { ExtensionData } from '../protocol/extension-data'
import type { Json } from '../protocol/json'
import { OAuthError } from '../protocol/oauth-error'
import { type Login, withLogin } from '../protocol/resource-owner'
import type { Scope } from '../protocol/scope'
import { issueOfType, type TokenProperties, type TokenType, type TokenTypes } from '../protocol/token-type'
import type { AccessToken, Active, Approved, Formatted, Grant, RefreshToken } from './authorization'
import { accessTokenEnd, refreshTokenEnd } from './lifetimes'
import type { FoundAccess } from './lookup'
import type { OneTimeUse } from './one-time-use'
import { type GrantedToken, type IssueContext, type NewAccessToken, nothingToKeep } from './transition'

/** Issued tokens in clear, for the response to the client. This value never reaches a store. */
export interface Issued {
  readonly accessToken: string
  /** `token_type` of the response (RFC 6749 7.1). */
  readonly tokenType: string
  /** The members that the token type adds to the response. */
  readonly properties: TokenProperties
  /** Seconds since the epoch. */
  readonly expiresAt: number
  readonly scope: Scope
  /** Undefined if the client gets no refresh token. */
  readonly refreshToken: string | undefined
  /** The end of the refresh token if it is not used, in seconds since the epoch. Undefined without a refresh token. */
  readonly refreshTokenExpiresAt?: number | undefined
  /** The members that extensions add to the response. */
  readonly members?: Readonly<Record<string, Json>> | undefined
  /** The headers that extensions add to the response. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The next record of an authorization, with the new tokens, and the same tokens in clear. */
export interface Issuance<Holder extends Approved | Active = Active> {
  readonly authorization: Holder
  readonly issued: Issued
}

// RFC 6819 4.4.1.11: a client that refreshes endlessly must not make the record grow endlessly. The 33rd live access
// token ends the oldest one before its expiry.
const liveAccessTokens = 32

/**
 * Issues an access token, without a refresh token, because the response of an authorization endpoint must not hold one
 * (RFC 6749 4.2.2). Replace the given authorization by the returned one.
 *
 * An authorization has at most 32 live access tokens: the 33rd ends the oldest one.
 *
 * @throws OAuthError if the client has lost the whole scope, or an extension of the server refuses the token;
 * `Throttled` over a limit of the option `limits.issuing`.
 */
export function issueAccessToken<Holder extends Approved | Active>(
  authorization: Holder,
  scope: Scope,
  context: IssueContext,
): Issuance<Holder> {
  const token = restrict({ ...authorization, scope, begins: false }, context)
  return addAccessToken(authorization, token, context)
}

// Nothing is written for a refusal here, so the refusal may be thrown.
function restrict(granted: GrantedToken, context: IssueContext): NewAccessToken {
  const token = context.restrict(granted)
  if (token instanceof OAuthError) throw token
  return token
}

/**
 * Adds an access token to an authorization, and the data that extensions keep with the authorization from now on.
 *
 * @param secrets the source for the secret of the token. Default: random bytes.
 * @throws OverShare over a limit on issued tokens.
 */
export function addAccessToken<Holder extends Approved | Active>(
  authorization: Holder,
  { scope, lifetime, extensionData, authorizationData, tokenType: ownType, format }: NewAccessToken,
  context: IssueContext,
  secrets: Random = context.random,
): Issuance<Holder> {
  const { now, random, tokenTypes, countIssue, usualFormat, evidence = noEvidence } = context
  countIssue(authorization.clientId, authorization.subject)
  const tokenType = offered(ownType ?? authorization.tokenType, tokenTypes)
  const accessToken = createCredential('accessToken', authorization.id, secrets)
  const expiresAt = accessTokenEnd(authorization.grantedAt, lifetime, context)
  const { properties, tokenData } = issueOfType(tokenType, accessToken, { now, random, evidence })
  const plain: AccessToken = { digest: digest(accessToken), scope, expiresAt, tokenData, extensionData }
  const added =
    ownType === undefined && format === undefined && usualFormat === undefined
      ? plain
      : withOwnForm(plain, tokenType, authorization.tokenType, formattedAs(format, tokenType, context))
  const live = authorization.accessTokens.filter((token) => token.expiresAt > now)
  const accessTokens = [...live, added].slice(-liveAccessTokens)
  const kept =
    authorizationData === nothingToKeep
      ? authorization.extensionData
      : { ...authorization.extensionData, ...authorizationData }
  return {
    authorization: {
      ...authorization,
      extensionData: kept,
      accessTokens,
      ...keptTime(authorization, context),
    },
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

function keptTime(
  { subject, grantedAt }: Approved | Active,
  { keepsGrantedAt = false, now }: IssueContext,
): Pick<Active, 'grantedAt'> {
  return keepsGrantedAt && subject !== undefined ? { grantedAt: grantedAt ?? now } : {}
}

function offered(name: string, tokenTypes: TokenTypes): TokenType {
  const tokenType = tokenTypes.get(name)
  if (tokenType !== undefined) return tokenType
  throw new Error(
    `The server does not have the token type "${name}", but authorizations or an extension use it. Put the token type back, or revoke these authorizations.`,
  )
}

function withOwnForm(
  token: AccessToken,
  { name }: TokenType,
  usual: string,
  formatted: Formatted | undefined,
): AccessToken {
  const tokenType = name === usual ? undefined : name
  return tokenType === undefined && formatted === undefined ? token : { ...token, tokenType, formatted }
}

/** @param chosen the format that an extension has chosen; undefined for the usual one. */
function formattedAs(
  chosen: string | undefined,
  { opaque = false }: TokenType,
  { usualFormat, formats, now: issuedAt }: IssueContext,
): Formatted | undefined {
  const format = chosen ?? usualFormat ?? opaqueFormat
  // A type such as mac needs the text itself.
  if (opaque || format === opaqueFormat) return undefined
  if (formats?.has(format) === true) return { format, issuedAt }
  throw new Error(`An extension chose the format "${format}", which the server does not have.`)
}

/** Adds an access token, and a refresh token if `refreshToken` is true. */
export function issue(
  current: Active,
  token: NewAccessToken,
  refreshToken: boolean,
  context: IssueContext,
): Issuance {
  return refreshToken ? issuePair(current, token, context) : addAccessToken(current, token, context)
}

/**
 * Adds an access token and a refresh token. The new refresh token replaces the current one.
 *
 * @param secrets the source for the secrets of the access token and then of the refresh token. Default: random bytes.
 */
export function issuePair(
  current: Active,
  token: NewAccessToken,
  context: IssueContext,
  secrets: Random = context.random,
): Issuance & { readonly refreshToken: RefreshToken } {
  const { authorization, issued } = addAccessToken(current, token, context, secrets)
  const { now, random } = context
  const tagKey = current.refreshToken?.tagKey ?? createTagKey(random)
  const generation = (current.refreshToken?.generation ?? -1) + 1
  const text = createRefreshToken(current.id, generation, tagKey, secrets)
  const { grantedAt = now } = current
  const expiresAt = refreshTokenEnd(grantedAt, context)
  const refreshToken = { digest: digest(text), generation, tagKey, expiresAt, rotation: undefined }
  return {
    authorization: { ...authorization, refreshToken, grantedAt },
    refreshToken,
    issued: { ...issued, refreshToken: text, refreshTokenExpiresAt: expiresAt },
  }
}

/** Makes the record of a grant, still without tokens. */
export function withoutTokens(
  { issuerDigest, clientId, subject, scope, tokenType, extensionData, login }: Omit<Grant, 'id'>,
  id: string,
): Active {
  const active: Active = {
    state: 'active',
    id,
    issuerDigest,
    consentToken: undefined,
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
  return withLogin(active, login)
}

/** A proven grant without a code, such as a client that acts for itself, or an assertion about a resource owner. */
export interface DirectAuthorization {
  readonly clientId: string
  /** The resource owner; undefined if the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: Scope
  /** The `token_type` of the access tokens. */
  readonly tokenType: string
  /** Whether the client gets a refresh token. */
  readonly refreshToken: boolean
  /** The data of extensions. Each extension keeps its data under its own name. */
  readonly extensionData: ExtensionData
  /**
   * The end of the grant, in whole seconds since the epoch: a time in the future. The access token expires then at
   * the latest. The client gets no refresh token, because a refresh token would outlive the grant. Default: the
   * lifetimes of the server alone.
   */
  readonly expiresAt?: number | undefined
  /** The assertion, voucher or similar that the grant uses up. Default: the grant uses nothing up. */
  readonly oneTimeUse?: OneTimeUse | undefined
  /**
   * The access token of this server that the grant exchanges for the new token, as `findAccess` returned it. Extensions
   * keep the new token within its bounds, such as its resources. Default: the grant exchanges no token of this server.
   */
  readonly subjectToken?: FoundAccess | undefined
  /**
   * The targets that the grant type has approved, such as the `audience` of an exchange policy. With the option
   * `resources`, the token is for these targets alone: for resources of the option, or for other targets, which no guard
   * of a resource accepts. A refresh is for the resources among them, and is refused if there are none. Default: the
   * request names the resources.
   */
  readonly audience?: readonly string[] | undefined
}

/**
 * Begins an authorization with tokens.
 *
 * @param id the id of the authorization. Default: a random id.
 * @throws OAuthError if an extension of the server refuses the token; `OverShare` over a limit on issued tokens.
 * @throws RangeError if `expiresAt` of the grant is no whole second in the future.
 */
export function issueDirectly(
  grant: DirectAuthorization,
  context: IssueContext,
  id: string = createId(context.random),
): Issuance {
  const { refreshToken, expiresAt, oneTimeUse } = grant
  const token = restrict({ ...grant, begins: true }, context)
  const authorization = {
    ...withoutTokens({ ...grant, issuerDigest: context.issuerDigest, login: loginOf(grant) }, id),
    usedUntil: oneTimeUse?.until,
  }
  return expiresAt === undefined
    ? issue(authorization, token, refreshToken, context)
    : issue(authorization, token, false, endingAt(expiresAt, context))
}

// RFC 9068 2.2.1: what a token says of the login stays the same when it is exchanged for another one of its owner.
const loginOf = ({ subject, subjectToken }: DirectAuthorization): Login | undefined =>
  subject !== undefined && subject === subjectToken?.access.subject ? subjectToken.access.login : undefined

function endingAt(end: number, context: IssueContext): IssueContext {
  const { now, lifetimes } = context
  if (!Number.isSafeInteger(end) || end <= now)
    throw new RangeError(
      'A grant type returned a wrong expiresAt: it must be whole seconds since the epoch, in the future.',
    )
  return {
    ...context,
    lifetimes: { ...lifetimes, accessToken: Math.min(lifetimes.accessToken, end - now) },
  }
}
