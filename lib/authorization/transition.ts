import type { Random } from '../protocol/credential'
import type { AccessTokenFormat } from '../protocol/access-token-format'
import type { Evidence } from '../protocol/evidence'
import type { Json } from '../protocol/json'
import type { OAuthError } from '../protocol/oauth-error'
import type { TokenTypes } from '../protocol/token-type'
import type { ExtensionData } from '../protocol/extension-data'
import type { Scope } from '../protocol/scope'
import type { AccessToken, Authorization, Grant } from './authorization'
import type { Lifetimes } from './lifetimes'
import type { FoundAccess } from './lookup'
import type { KeepsRefreshToken } from './refresh-token-rotation'

/**
 * The result of a transition: the action on the record, the outcome or the refusal for the caller, and the event for
 * listeners. A refusal may write, too. For example, a replay refuses and revokes.
 */
export type TransitionResult<Outcome> = Action &
  Conclusion<Outcome> & { readonly event?: TransitionEvent | undefined }

/** What a transition wants done with the record. */
export type Action =
  /** Saves the next state of the record. */
  | { readonly action: 'save'; readonly authorization: Authorization }
  /** Revokes the authorization: removes the record, and with the record every credential that descends from it. */
  | { readonly action: 'delete' }
  /**
   * Confirms the record as it is, or its absence, for a response that rests on the write of an earlier request. The
   * earlier request may have failed before replicas had its write, so this request waits for the replicas again.
   */
  | { readonly action: 'touch' }
  /** Leaves the record as it is, without a write. */
  | { readonly action: 'none' }

/** What the caller gets once the action has succeeded: an outcome, or a refusal as an error. */
type Conclusion<Outcome> = { readonly outcome: Outcome } | { readonly refusal: OAuthError }

/**
 * A pure function from one state of the record to the next.
 *
 * @param current the record; undefined if the store has none.
 * @param superseded after a conflict, the record that the previous round read and another writer replaced.
 */
export type Transition<Outcome> = (
  current: Authorization | undefined,
  superseded?: Authorization,
) => TransitionResult<Outcome>

/** The result of a transition that does not refuse. */
export type SuccessfulResult<Outcome> = Extract<TransitionResult<Outcome>, { readonly outcome: Outcome }>

/**
 * Completes the outcome and the event of a transition before its write, in a way that may wait, such as for a signature.
 * It may also turn the result into a refusal, with another action. If it rejects, nothing is written. After a conflict it runs again, with the result of the next round.
 *
 * @param current the record before the transition; undefined if the store has none.
 */
export type CompleteResult<Outcome> = (
  result: SuccessfulResult<Outcome>,
  current: Authorization | undefined,
) => Promise<TransitionResult<Outcome>>

/** A transition whose write, if any, has succeeded. */
export interface CommittedTransition {
  /** The record before the transition, or a record that begins; undefined if the store has none. */
  readonly authorization: Authorization | undefined
  readonly event: TransitionEvent | undefined
}

/**
 * Receives each committed transition of a request, including refusals. Events alone use this function: data of the
 * record must not reach a response. The function must not throw.
 */
export type OnCommitted = (committed: CommittedTransition) => void

/** What a new record needs besides its content. */
export interface RecordContext {
  /** Seconds since the epoch. */
  readonly now: number
  /** Names the issuer in the records of this server: 16 characters of base64url. */
  readonly issuerDigest: string
  /** The source of random bytes. */
  readonly random: Random
  readonly lifetimes: Lifetimes
}

/** All that a transition needs besides the record: time, randomness and settings. A transition is therefore pure. */
export interface IssueContext extends RecordContext {
  /** The source for the secret of a code that the server can derive again. Default: `random`. */
  readonly codeSecrets?: Random
  /** The token types of the server, by name. */
  readonly tokenTypes: TokenTypes
  /** The format of a new token for which nothing chooses one. Default: the text is opaque. */
  readonly usualFormat?: string | undefined
  /** The formats of access tokens by name. Default: none. */
  readonly formats?: ReadonlyMap<string, AccessTokenFormat> | undefined
  /** What the extensions found in the request of the client, each under its name. Default: nothing. */
  readonly evidence?: Evidence | undefined
  /** What a token is bound to: `cnf` (RFC 7800 3.1); undefined for a bearer token. Default: no token is bound. */
  readonly confirmationOf?: (
    token: AccessToken,
    authorization: Pick<Grant, 'tokenType' | 'extensionData'>,
  ) => Json | undefined
  /**
   * Whether each record says when its grant began, also if its client can get no more tokens. The marks of its owner and
   * of its client are compared with this time. Default: false.
   */
  readonly keepsGrantTime?: boolean | undefined
  /** Whether a refresh leaves the refresh token of an authorization good. Default: each refresh rotates it. */
  readonly keepsRefreshToken?: KeepsRefreshToken | undefined
  /**
   * Counts one response with tokens towards the option `limits.issuing`. Several calls for the same request count once.
   *
   * @param subject the resource owner; undefined for a client that acts for itself.
   * @throws Throttled if the client or the resource owner is over the limit. The server then writes nothing.
   */
  readonly countIssue: (clientId: string, subject: string | undefined) => void
  /**
   * Narrows a new access token to the scope that the client may have now, and asks the extensions of the server, which
   * may narrow the token, too. Both may refuse it.
   */
  readonly restrict: (granted: GrantedToken) => NewAccessToken | OAuthError
}

/** The access token that a grant gives, before registration and extensions narrow it. */
export interface GrantedToken extends Pick<Grant, 'subject' | 'scope' | 'extensionData'> {
  /** Whether the authorization begins with the token. */
  readonly begins: boolean
  /** The access token that the grant exchanges for the new one. Undefined for every other grant. */
  readonly subjectToken?: FoundAccess | undefined
  /** The targets that the grant type has approved for the token. Undefined if the grant type names none. */
  readonly audience?: readonly string[] | undefined
}

/** The terms of an access token that the server is about to issue. */
export interface NewAccessToken {
  readonly scope: Scope
  /** The longest lifetime that extensions allow, in seconds; undefined for the lifetime of the server. */
  readonly lifetime: number | undefined
  /** The data of extensions for this token. Each extension keeps its data under its own name. */
  readonly extensionData: ExtensionData
  /** The data that extensions keep with the authorization from now on. It replaces their earlier data. */
  readonly authorizationData: ExtensionData
  /** The token type that an extension has chosen; undefined for that of the authorization. */
  readonly tokenType?: string | undefined
  /** The format that an extension has chosen, or `opaque`; undefined for the usual one. */
  readonly format?: string | undefined
}

/** Grants the whole scope without restrictions, for requests that the server does not show to extensions. */
export const unrestricted = ({ scope }: GrantedToken): NewAccessToken => ({
  scope,
  lifetime: undefined,
  extensionData: {},
  authorizationData: nothingToKeep,
})

/** Stands for no data of extensions for the authorization. */
export const nothingToKeep: ExtensionData = {}

/** The event of a committed transition, for listeners. The event holds digests, and no credential in clear. */
export interface TransitionEvent {
  readonly name: 'approved' | 'issued' | 'refreshed' | 'revoked'
  /** The reason of a revocation, or `repeated` if the client got an earlier response again. */
  readonly reason: string | undefined
  readonly scope: Scope | undefined
  /** The digest of the issued credential; undefined for an event without a credential. */
  readonly digest: string | undefined
  /** The response type of the approved authorization request; undefined for all other events. */
  readonly responseType: string | undefined
}

/** Makes the event of an approval: `approved` for a code alone, `issued` for a response with an access token. */
export function approvalEvent(
  authorization: Authorization,
  responseType: string,
  reason?: 'repeated',
): TransitionEvent | undefined {
  if (!('accessTokens' in authorization)) return undefined
  const token = authorization.accessTokens.at(-1)
  if (authorization.state === 'active' || token !== undefined)
    return { ...issueEvent('issued', token, reason), responseType }
  const { scope, code } = authorization
  return { name: 'approved', reason, scope, digest: code.digest, responseType }
}

/** Makes the event of an issued access token. */
export function issueEvent(
  name: 'issued' | 'refreshed',
  token: AccessToken | undefined,
  reason?: 'repeated',
): TransitionEvent {
  return { name, reason, scope: token?.scope, digest: token?.digest, responseType: undefined }
}

/**
 * Makes the event of a revocation.
 *
 * @param found the revoked authorization; undefined if the server could not read the record.
 */
export function revocationEvent(found: Authorization | undefined, reason: string): TransitionEvent {
  return { name: 'revoked', reason, scope: found?.scope, digest: undefined, responseType: undefined }
}
