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
  | { readonly action: 'delete' }
  /** The response rests on an earlier write, or absence, which may not have reached the replicas: waits for them. */
  | { readonly action: 'touch' }
  | { readonly action: 'none' }

/**
 * A pure function to the next state of the record.
 *
 * @param superseded after a conflict, the replaced record of the previous round.
 */
export type Transition<Outcome> = (
  current: Authorization | undefined,
  superseded?: Authorization,
) => TransitionResult<Outcome>

export type SuccessfulResult<Outcome> = Extract<TransitionResult<Outcome>, { readonly outcome: Outcome }>

/**
 * May wait, such as for a signature, and may refuse with another action. If it rejects, nothing is written. After a
 * conflict it runs again.
 */
export type CompleteResult<Outcome> = (
  result: SuccessfulResult<Outcome>,
  current: Authorization | undefined,
) => Promise<TransitionResult<Outcome>>

export interface CommittedTransition {
  readonly authorization: Authorization | undefined
  readonly event: TransitionEvent | undefined
}

/** Also receives refusals, for events alone: data of the record must not reach a response. Must not throw. */
export type OnCommitted = (committed: CommittedTransition) => void

export interface RecordContext {
  /** Seconds since the epoch. */
  readonly now: number
  /** Of the issuer in the records: 16 characters of base64url. */
  readonly issuerDigest: string
  readonly random: Random
  readonly lifetimes: Lifetimes
}

export interface IssueContext extends RecordContext {
  /** For a code that the server can derive again. Default: `random`. */
  readonly codeSecrets?: Random
  readonly tokenTypes: TokenTypes
  /** Where nothing chooses a format. Default: opaque. */
  readonly usualFormat?: string | undefined
  /** Default: none. */
  readonly formats?: ReadonlyMap<string, AccessTokenFormat> | undefined
  readonly evidence?: Evidence | undefined
  /** `cnf` (RFC 7800 3.1); undefined for a bearer token. Default: no token is bound. */
  readonly confirmationOf?: (
    token: AccessToken,
    authorization: Pick<Grant, 'tokenType' | 'extensionData'>,
  ) => Json | undefined
  /** Whether the refresh token stays good. Default: it rotates. */
  readonly keepsRefreshToken?: ((token: NewAccessToken) => boolean) | undefined
  /**
   * Counts one response with tokens towards the option `limits.issuing`; several calls for one request count once.
   *
   * @param subject undefined for a client that acts for itself.
   * @throws Throttled over the limit of the client or the owner. The server then writes nothing.
   */
  readonly countIssue: (clientId: string, subject: string | undefined) => void
  /** Narrows a token to the scope that the client may have now; extensions may narrow or refuse it, too. */
  readonly restrict: (granted: GrantedToken) => NewAccessToken | OAuthError
}

export interface GrantedToken extends Pick<Grant, 'subject' | 'scope' | 'extensionData'> {
  /** Whether the authorization begins with the token. Default: false. */
  readonly begins?: boolean
  readonly subjectToken?: FoundAccess | undefined
  readonly audience?: readonly string[] | undefined
}

export interface NewAccessToken {
  readonly scope: Scope
  /** In seconds; undefined for that of the server. */
  readonly lifetime: number | undefined
  readonly extensionData: ExtensionData
  /** Replaces the earlier data of the authorization. */
  readonly authorizationData: ExtensionData
  /** Default: that of the authorization. */
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

/** No credential in clear. */
export interface TransitionEvent {
  readonly name: 'approved' | 'issued' | 'refreshed' | 'revoked'
  /** Of a revocation, or `repeated`: the client got an earlier response again. */
  readonly reason: string | undefined
  readonly scope: Scope | undefined
  readonly digest: string | undefined
  /** Only of approved authorization requests. */
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

export const unchanged = (refusal: OAuthError): TransitionResult<never> => ({ action: 'none', refusal })

export const revoked = (
  found: Authorization,
  reason: Reason & RefusalName,
  refusal = refused(reason),
): TransitionResult<never> => ({ action: 'delete', refusal, event: revocationEvent(found, reason) })
