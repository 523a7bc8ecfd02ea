import type { Random } from '../protocol/credential'
import type { AccessTokenFormat } from '../protocol/access-token-format'
import type { Evidence, ExtensionData } from '../protocol/extension-data'
import type { Json } from '../protocol/json'
import type { OAuthError } from '../protocol/oauth-error'
import { type Reason, type RefusalName, refused } from '../protocol/refusals'
import type { TokenTypes } from '../protocol/token-type'
import type { Scope } from '../protocol/scope'
import { type AccessToken, newestToken } from './access-token'
import type { Authorization, Grant } from './authorization'
import type { Lifetimes } from './lifetimes'
import type { FoundAccess } from './lookup'

/** A refusal may write, too: a replay refuses and revokes. */
export type TransitionResult<Outcome> = Action &
  ({ readonly outcome: Outcome } | { readonly refusal: OAuthError }) & {
    readonly event?: TransitionEvent | undefined
  }

export type Action =
  | { readonly action: 'save'; readonly authorization: Authorization }
  /** Removes the record, and so every credential of it. */
  | { readonly action: 'delete' }
  /**
   * Confirms the record, or its absence, for a response that rests on an earlier write. That write may not have reached
   * the replicas, so this request waits for them.
   */
  | { readonly action: 'touch' }
  | { readonly action: 'none' }

/**
 * A pure function to the next state of the record.
 *
 * @param current undefined if the store has no record.
 * @param superseded after a conflict, the replaced record of the previous round.
 */
export type Transition<Outcome> = (
  current: Authorization | undefined,
  superseded?: Authorization,
) => TransitionResult<Outcome>

export type SuccessfulResult<Outcome> = Extract<TransitionResult<Outcome>, { readonly outcome: Outcome }>

/**
 * Completes the outcome before the write, and may wait, such as for a signature. It may turn the result into a refusal
 * with another action. If it rejects, nothing is written. After a conflict it runs again.
 */
export type CompleteResult<Outcome> = (
  result: SuccessfulResult<Outcome>,
  current: Authorization | undefined,
) => Promise<TransitionResult<Outcome>>

export interface CommittedTransition {
  /** The record before the transition, or one that begins; undefined if the store has none. */
  readonly authorization: Authorization | undefined
  readonly event: TransitionEvent | undefined
}

/** Also receives refusals, for events alone: data of the record must not reach a response. Must not throw. */
export type OnCommitted = (committed: CommittedTransition) => void

export interface RecordContext {
  /** Seconds since the epoch. */
  readonly now: number
  /** The issuer in the records: 16 characters of base64url. */
  readonly issuerDigest: string
  readonly random: Random
  readonly lifetimes: Lifetimes
}

export interface IssueContext extends RecordContext {
  /** For a code that the server can derive again. Default: `random`. */
  readonly codeSecrets?: Random
  readonly tokenTypes: TokenTypes
  /** For a token for which nothing chooses a format. Default: opaque. */
  readonly usualFormat?: string | undefined
  /** By name. Default: none. */
  readonly formats?: ReadonlyMap<string, AccessTokenFormat> | undefined
  /** What each extension found in the request. Default: nothing. */
  readonly evidence?: Evidence | undefined
  /** What a token is bound to: `cnf` (RFC 7800 3.1); undefined for a bearer token. Default: no token is bound. */
  readonly confirmationOf?: (
    token: AccessToken,
    authorization: Pick<Grant, 'tokenType' | 'extensionData'>,
  ) => Json | undefined
  /** Whether a refresh leaves the refresh token good. Default: it rotates. */
  readonly keepsRefreshToken?: ((token: NewAccessToken) => boolean) | undefined
  /**
   * Counts one response with tokens towards the option `limits.issuing`; several calls for one request count once.
   *
   * @param subject undefined for a client that acts for itself.
   * @throws Throttled over the limit of the client or the owner. The server then writes nothing.
   */
  readonly countIssue: (clientId: string, subject: string | undefined) => void
  /** Narrows a token to the scope that the client may have now; extensions may narrow it, too. Both may refuse it. */
  readonly restrict: (granted: GrantedToken) => NewAccessToken | OAuthError
}

/** Before registration and extensions narrow it. */
export interface GrantedToken extends Pick<Grant, 'subject' | 'scope' | 'extensionData'> {
  /** Whether the authorization begins with the token. Default: false. */
  readonly begins?: boolean
  /** The exchanged access token. */
  readonly subjectToken?: FoundAccess | undefined
  /** Undefined if the grant type names no targets. */
  readonly audience?: readonly string[] | undefined
}

export interface NewAccessToken {
  readonly scope: Scope
  /** The longest that extensions allow, in seconds; undefined for that of the server. */
  readonly lifetime: number | undefined
  /** Of this token. */
  readonly extensionData: ExtensionData
  /** Of the authorization. Replaces the earlier data. */
  readonly authorizationData: ExtensionData
  /** Undefined for that of the authorization. */
  readonly tokenType?: string | undefined
  /** Or `opaque`; undefined for the usual one. */
  readonly format?: string | undefined
  /** Of a key to which the refresh token is bound. */
  readonly provesKey?: boolean | undefined
}

/** For requests that the server does not show to extensions. */
export const unrestricted = ({ scope }: Pick<GrantedToken, 'scope'>): NewAccessToken => ({
  scope,
  lifetime: undefined,
  extensionData: nothingToKeep,
  authorizationData: nothingToKeep,
})

export const nothingToKeep: ExtensionData = {}

/** For listeners: holds digests, and no credential in clear. */
export interface TransitionEvent {
  readonly name: 'approved' | 'issued' | 'refreshed' | 'revoked'
  /** Of a revocation, or `repeated` if the client got an earlier response again. */
  readonly reason: string | undefined
  readonly scope: Scope | undefined
  readonly digest: string | undefined
  /** Undefined except for approved authorization requests. */
  readonly responseType: string | undefined
}

/** `approved` for a code alone, `issued` for a response with an access token. */
export function approvalEvent(
  authorization: Authorization,
  responseType: string,
  reason?: 'repeated',
): TransitionEvent | undefined {
  if (!('accessTokens' in authorization)) return undefined
  const token = newestToken(authorization)
  if (authorization.state === 'active' || token !== undefined)
    return { ...issueEvent('issued', token?.scope, token?.digest, reason), responseType }
  const { scope, code } = authorization
  return { name: 'approved', reason, scope, digest: code.digest, responseType }
}

export function issueEvent(
  name: 'issued' | 'refreshed',
  scope: Scope | undefined,
  digest: string | undefined,
  reason?: 'repeated',
): TransitionEvent {
  return { name, reason, scope, digest, responseType: undefined }
}

export function revocationEvent(found: Authorization | undefined, reason: string): TransitionEvent {
  return { name: 'revoked', reason, scope: found?.scope, digest: undefined, responseType: undefined }
}

/** Refuses the request, and leaves the record as it is. */
export const unchanged = (refusal: OAuthError): TransitionResult<never> => ({ action: 'none', refusal })

/** Ends the authorization, and refuses the request. */
export const revoked = (
  found: Authorization,
  reason: Reason & RefusalName,
  refusal = refused(reason),
): TransitionResult<never> => ({ action: 'delete', refusal, event: revocationEvent(found, reason) })
