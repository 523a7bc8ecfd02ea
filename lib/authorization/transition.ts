import type { Random } from '../protocol/credential'
import type { OAuthError } from '../protocol/oauth-error'
import type { TokenTypes } from '../protocol/token-type'
import type { ExtensionData } from '../protocol/extension'
import type { Scope } from '../protocol/scope'
import type { AccessToken, Authorization, Grant } from './authorization'

/**
 * What a transition decides on the record as it finds it: what becomes of the record, what the caller then learns, and what
 * listeners hear. A refusal is an outcome, so that one transition can both refuse and write (a replay refuses and revokes).
 */
export type TransitionResult<Outcome> = Action & {
  readonly outcome: Outcome | OAuthError
  readonly event: TransitionEvent | undefined
}

/** What becomes of the record. */
export type Action =
  | { readonly action: 'save'; readonly authorization: Authorization }
  | { readonly action: 'delete' | 'touch' | 'none' }

/**
 * A pure move of the record; undefined stands for a record that is not there. After a conflict it also gets the record
 * of the round before, which another writer has superseded.
 */
export type Transition<Outcome> = (
  current: Authorization | undefined,
  superseded?: Authorization,
) => TransitionResult<Outcome>

type Settled<Outcome> = TransitionResult<Exclude<Outcome, OAuthError>>

/** Writes nothing. */
export function unchanged<Outcome>(outcome: Outcome): Settled<Outcome>
export function unchanged<Outcome>(outcome: Outcome): TransitionResult<Outcome> {
  return { action: 'none', outcome, event: undefined }
}

/**
 * Makes sure of the record as it is, or of its absence: for an answer that rests on an earlier write. The request that
 * wrote it may not know whether replicas have it, so this request asks the store again.
 */
export function touch<Outcome>(outcome: Outcome, event?: TransitionEvent): Settled<Outcome>
export function touch<Outcome>(outcome: Outcome, event?: TransitionEvent): TransitionResult<Outcome> {
  return { action: 'touch', outcome, event }
}

/** Writes the record as it is to be from now on. */
export function save<Outcome>(
  authorization: Authorization,
  outcome: Outcome,
  event?: TransitionEvent,
): Settled<Outcome>
export function save<Outcome>(
  authorization: Authorization,
  outcome: Outcome,
  event?: TransitionEvent,
): TransitionResult<Outcome> {
  return { action: 'save', authorization, outcome, event }
}

/** Revokes: removes the record and with it every credential that descends from it. */
export function deleteRecord<Outcome>(outcome: Outcome, event?: TransitionEvent): Settled<Outcome>
export function deleteRecord<Outcome>(outcome: Outcome, event?: TransitionEvent): TransitionResult<Outcome> {
  return { action: 'delete', outcome, event }
}

/** A transition that is written. */
export interface CommittedTransition {
  /** The record that was found, or the one that began; undefined when there is none. */
  readonly authorization: Authorization | undefined
  readonly event: TransitionEvent | undefined
}

/**
 * Hears of the transition that a request led to, also of one that refuses. It is for events alone: what it hears of a
 * record must never reach an answer. It must not throw.
 */
export type OnCommitted = (committed: CommittedTransition) => void

/** What every transition is given from outside, so that it stays pure. */
export interface IssueContext {
  /** Seconds since the epoch. */
  readonly now: number
  /** Names this server in the records that it writes. */
  readonly issuerDigest: string
  readonly random: Random
  /** Where the secret of a code comes from that can be made again; left out: `random`. */
  readonly codeSecrets?: Random
  readonly lifetimes: Lifetimes
  readonly tokenTypes: TokenTypes
  /**
   * Counts that tokens are issued; once for all rounds of one request.
   *
   * @param subject the resource owner; undefined for a client that acts for itself.
   * @throws OverShare when the client or the owner has had its share. Nothing is written then.
   */
  readonly countIssue: (clientId: string, subject: string | undefined) => void
  /** Asks the extensions of the server about an access token. They may narrow the token, or refuse it. */
  readonly restrict: (granted: GrantedToken) => NewAccessToken | OAuthError
}

/** The access token that a grant gives, before extensions narrow it. */
export interface GrantedToken extends Pick<Grant, 'subject' | 'scope' | 'extensionData'> {
  /** Whether the authorization begins with the token. */
  readonly begins: boolean
}

/** An access token that is about to be issued. */
export interface NewAccessToken {
  readonly scope: Scope
  /** The longest lifetime that extensions allow, in seconds; undefined for the lifetime of the server. */
  readonly lifetime: number | undefined
  /** What extensions keep with the token, each under its own name. */
  readonly extensionData: ExtensionData
  /** What extensions keep with an authorization that begins with the token. */
  readonly authorizationData: ExtensionData
}

/** Restricts nothing, for requests that no extension looks at. */
export const unrestricted: IssueContext['restrict'] = ({ scope }) => ({
  scope,
  lifetime: undefined,
  extensionData: {},
  authorizationData: {},
})

/** How long credentials live, in seconds. */
export interface Lifetimes {
  readonly authorizationRequest: number
  readonly authorizationCode: number
  readonly accessToken: number
  readonly refreshToken: number
  /** How long after a rotation the old refresh token still gets the same answer again. */
  readonly refreshTokenGrace: number
}

/** What listeners hear of a transition once it is written. It holds digests, and nothing that a client could present. */
export interface TransitionEvent {
  readonly name: 'approved' | 'issued' | 'refreshed' | 'revoked'
  /** Why an authorization was revoked; `repeated` where an earlier answer was given again. */
  readonly reason: string | undefined
  readonly scope: Scope | undefined
  /** Of the credential that was issued; undefined when none was. */
  readonly digest: string | undefined
  /** Of the authorization request that was approved; undefined for everything else. */
  readonly responseType: string | undefined
}

/** The event of an approval: of a code, or of the access token that its answer holds. */
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

/** The event of an access token that was issued. */
export function issueEvent(
  name: 'issued' | 'refreshed',
  token: AccessToken | undefined,
  reason?: 'repeated',
): TransitionEvent {
  return { name, reason, scope: token?.scope, digest: token?.digest, responseType: undefined }
}

/** The event of an authorization that ended. @param found undefined when it could not be read. */
export function revocationEvent(found: Authorization | undefined, reason: string): TransitionEvent {
  return { name: 'revoked', reason, scope: found?.scope, digest: undefined, responseType: undefined }
}
