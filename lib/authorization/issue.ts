import {
  createCredential,
  createId,
  createRefreshToken,
  createTagKey,
  digest,
  type Random,
} from '../protocol/credential'
import { opaqueFormat } from '../protocol/access-token-format'
import { type ExtensionData, noEvidence } from '../protocol/extension-data'
import type { Json } from '../protocol/json'
import { OAuthError } from '../protocol/oauth-error'
import type { Scope } from '../protocol/scope'
import { issueOfType, type TokenProperties, type TokenType, type TokenTypes } from '../protocol/token-type'
import {
  type AccessToken,
  endOf,
  type Formatted,
  newestDigest,
  type StoredToken,
  storedTokenOf,
} from './access-token'
import type { Active, Approved, Grant, LastResponse, RefreshToken, OneTimeUse } from './authorization'
import { accessTokenEnd, refreshTokenEnd } from './lifetimes'
import type { FoundAccess } from './lookup'
import {
  type GrantedToken,
  type IssueContext,
  issueEvent,
  type NewAccessToken,
  nothingToKeep,
  type TransitionEvent,
  type TransitionResult,
} from './transition'

/** In clear, for the response alone. */
export interface Issued {
  readonly accessToken: string
  /** RFC 6749 7.1. */
  readonly tokenType: string
  /** From the token type. */
  readonly properties: TokenProperties
  /** Seconds since the epoch. */
  readonly expiresAt: number
  readonly scope: Scope
  readonly refreshToken: string | undefined
  /** If unused. */
  readonly refreshTokenExpiresAt?: number | undefined
  readonly members?: Readonly<Record<string, Json>> | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export interface Issuance<Holder extends Approved | Active = Active> {
  readonly authorization: Holder
  readonly issued: Issued
}

// RFC 6819 4.4.1.11: endless refreshes must not make the record grow endlessly.
export const liveAccessTokens = 32

/**
 * Issues an access token without a refresh token (RFC 6749 4.2.2). Replace the given authorization by the returned one.
 *
 * The 33rd live access token of an authorization ends the oldest one.
 *
 * @throws OAuthError if the client has lost the whole scope, or an extension refuses the token; `Throttled` over a
 * limit of the option `limits.issuing`.
 */
export function issueAccessToken<Holder extends Approved | Active>(
  authorization: Holder,
  scope: Scope,
  context: IssueContext,
): Issuance<Holder> {
  const token = restrict({ ...authorization, scope }, context)
  return addAccessToken(authorization, token, context)
}

// No write belongs to a refusal here, so it may be thrown.
function restrict(granted: GrantedToken, context: IssueContext): NewAccessToken {
  const token = context.restrict(granted)
  if (token instanceof OAuthError) throw token
  return token
}

/** @throws OverShare over a limit on issued tokens. */
export function addAccessToken<Holder extends Approved | Active>(
  authorization: Holder,
  token: NewAccessToken,
  context: IssueContext,
  accessToken = createCredential('accessToken', authorization.id, context.random),
): Issuance<Holder> {
  const { issued, extensionData, accessTokens } = made(authorization, token, context, accessToken)
  return { issued, authorization: { ...authorization, extensionData, accessTokens } }
}

function made(
  authorization: Approved | Active,
  { scope, lifetime, extensionData, authorizationData, tokenType: ownType, format }: NewAccessToken,
  context: IssueContext,
  accessToken: string,
  next?: RefreshTokenWithText,
): { readonly issued: Issued } & Pick<Active, 'extensionData' | 'accessTokens'> {
  const { now, random, tokenTypes, countIssue, evidence = noEvidence } = context
  countIssue(authorization.clientId, authorization.subject)
  const tokenType = offered(ownType ?? authorization.tokenType, tokenTypes)
  const expiresAt = accessTokenEnd(authorization.grantedAt, lifetime, context)
  const { properties, tokenData } = issueOfType(tokenType, accessToken, { now, random, evidence })
  const added: AccessToken = {
    digest: digest(accessToken),
    scope,
    expiresAt,
    tokenData,
    extensionData,
    tokenType: tokenType.name === authorization.tokenType ? undefined : tokenType.name,
    formatted: formattedAs(format, tokenType, context),
  }
  const live = liveOf(authorization.accessTokens, now)
  return {
    issued: {
      accessToken,
      tokenType: tokenType.name,
      properties,
      expiresAt,
      scope,
      refreshToken: next?.text,
      refreshTokenExpiresAt: next?.stored.expiresAt,
    },
    accessTokens: [...live, storedTokenOf(added, authorization)],
    extensionData:
      authorizationData === nothingToKeep
        ? authorization.extensionData
        : { ...authorization.extensionData, ...authorizationData },
  }
}

/** With room for one more. Most end in order: a later one that has ended waits. */
function liveOf(known: readonly StoredToken[], now: number): readonly StoredToken[] {
  const isLive = (token: StoredToken) => endOf(token) > now
  if (known.length >= liveAccessTokens) return known.filter(isLive).slice(1 - liveAccessTokens)
  const first = known.findIndex(isLive)
  return first < 0 ? [] : known.slice(first)
}

function offered(name: string, tokenTypes: TokenTypes): TokenType {
  const tokenType = tokenTypes.get(name)
  if (tokenType !== undefined) return tokenType
  throw new Error(
    `The server does not have the token type "${name}", but authorizations or an extension use it. Put the token type back, or revoke these authorizations.`,
  )
}

function formattedAs(
  chosen: string | undefined,
  { opaque = false }: TokenType,
  { usualFormat, formats, now: issuedAt }: IssueContext,
): Formatted | undefined {
  const format = chosen ?? usualFormat ?? opaqueFormat
  // A type such as mac needs the opaque text.
  if (opaque || format === opaqueFormat) return undefined
  if (formats?.has(format) === true) return { format, issuedAt }
  throw new Error(`An extension chose the format "${format}", which the server does not have.`)
}

/** @param secrets of the texts. Default: random. */
export function issue(
  current: Active,
  token: NewAccessToken,
  withRefreshToken: boolean,
  context: IssueContext,
  secrets: Random = context.random,
  lastResponseOf?: (issued: Issued) => LastResponse,
): Issuance {
  const text = createCredential('accessToken', current.id, secrets)
  const next = withRefreshToken ? nextRefreshToken(current, secrets, context) : undefined
  const refreshToken = next?.stored ?? current.refreshToken
  const { issued, extensionData, accessTokens } = made(current, token, context, text, next)
  const lastResponse = lastResponseOf?.(issued)
  return {
    authorization: { ...current, extensionData, accessTokens, refreshToken, lastResponse },
    issued,
  }
}

export interface RefreshTokenWithText {
  readonly text: string
  readonly stored: RefreshToken
}

function nextRefreshToken(
  { id, grantedAt, refreshToken: last }: Active,
  secrets: Random,
  context: IssueContext,
): RefreshTokenWithText {
  const tagKey = last?.tagKey ?? createTagKey(context.random)
  const generation = last === undefined ? 0 : last.generation + 1
  const text = createRefreshToken(id, generation, tagKey, secrets)
  const expiresAt = refreshTokenEnd(grantedAt, context)
  return { text, stored: { digest: digest(text), generation, tagKey, expiresAt } }
}

export function saved(
  name: 'issued' | 'refreshed',
  { authorization, issued }: Issuance,
  reason?: 'repeated',
): TransitionResult<Issued> {
  const event = issueEvent(name, issued.scope, newestDigest(authorization), reason)
  return { action: 'save', authorization, outcome: issued, event }
}

export function activeOf(
  { id, issuerDigest, clientId, subject, scope, tokenType, extensionData, login }: Grant,
  grantedAt: number,
  had: Partial<Pick<Active, 'consentToken' | 'spentCode' | 'accessTokens' | 'usedUntil'>> = {},
): Active {
  const { consentToken, spentCode, accessTokens = [], usedUntil } = had
  return {
    state: 'active',
    id,
    issuerDigest,
    consentToken,
    clientId,
    subject,
    scope,
    tokenType,
    extensionData,
    spentCode,
    accessTokens,
    refreshToken: undefined,
    lastResponse: undefined,
    usedUntil,
    grantedAt,
    login,
  }
}

/** A proven grant without a code: a client that acts for itself, or an assertion about an owner. */
export interface DirectAuthorization {
  readonly clientId: string
  /** The resource owner; undefined if the client acts for itself. */
  readonly subject: string | undefined
  readonly scope: Scope
  readonly tokenType: string
  readonly refreshToken: boolean
  /** By the name of the extension. */
  readonly extensionData: ExtensionData
  /**
   * The end of the grant, in whole seconds since the epoch. The access token ends then at the latest, and the client
   * gets no refresh token. Default: the lifetimes of the server.
   */
  readonly expiresAt?: number | undefined
  /** Default: nothing. */
  readonly oneTimeUse?: OneTimeUse | undefined
  /**
   * The exchanged token of this server, as `findAccess` returned it. Extensions confine the new token to its bounds.
   * Default: none.
   */
  readonly subjectToken?: FoundAccess | undefined
  /**
   * The approved targets. With the option `resources`, the token is for these alone: resources of the option, or other
   * targets, which no guard of a resource accepts. A refresh is for the resources among them; without any, it is
   * refused. Default: the request names the resources.
   */
  readonly audience?: readonly string[] | undefined
}

export interface Begun extends Issuance {
  readonly event: TransitionEvent
}

/**
 * @throws OAuthError if an extension refuses the token; `OverShare` over a limit on issued tokens.
 * @throws RangeError if `expiresAt` is no whole second in the future.
 */
export function issueDirectly(
  grant: DirectAuthorization,
  context: IssueContext,
  id: string = createId(context.random),
): Begun {
  const { refreshToken, expiresAt, oneTimeUse, subject, subjectToken } = grant
  const { issuerDigest, now } = context
  const token = restrict({ ...grant, begins: true }, context)
  // RFC 9068 2.2.1: an exchanged token for the same owner says the same of the login.
  const exchanged = subjectToken?.access
  const login = subject !== undefined && subject === exchanged?.subject ? exchanged.login : undefined
  const usedUntil = oneTimeUse?.until
  const empty = activeOf({ ...grant, id, issuerDigest, login }, now, { usedUntil })
  const { authorization, issued } =
    expiresAt === undefined
      ? issue(empty, token, refreshToken, context)
      : issue(empty, token, false, endingAt(expiresAt, context))
  return { authorization, issued, event: issueEvent('issued', issued.scope, newestDigest(authorization)) }
}

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
