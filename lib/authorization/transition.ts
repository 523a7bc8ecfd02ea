import type { Random } from '../protocol/credential'
import type { OAuthError } from '../protocol/oauth-error'
import type { TokenTypes } from '../protocol/token-type'
import type { Authorization } from './authorization'

/**
 * What a transition decides on the record as it finds it: what to write, and what the caller then learns. A
 * refusal is an outcome, so that one step can both refuse and write (a replay refuses and revokes).
 */
export interface TransitionResult<Outcome> {
  readonly write: Authorization | 'removal' | 'confirmation' | 'nothing'
  readonly outcome: Outcome | OAuthError
}

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
  return { write: 'nothing', outcome }
}

/**
 * Makes sure of the record as it is, or of its absence: for an answer that rests on an earlier write. The request that
 * wrote it may not know whether replicas have it, so this request asks the store again.
 */
export function touch<Outcome>(outcome: Outcome): Settled<Outcome>
export function touch<Outcome>(outcome: Outcome): TransitionResult<Outcome> {
  return { write: 'confirmation', outcome }
}

/** Writes the record as it is to be from now on. */
export function save<Outcome>(authorization: Authorization, outcome: Outcome): Settled<Outcome>
export function save<Outcome>(authorization: Authorization, outcome: Outcome): TransitionResult<Outcome> {
  return { write: authorization, outcome }
}

/** Revokes: removes the record and with it every credential that descends from it. */
export function deleteRecord<Outcome>(outcome: Outcome): Settled<Outcome>
export function deleteRecord<Outcome>(outcome: Outcome): TransitionResult<Outcome> {
  return { write: 'removal', outcome }
}

/** A move of one authorization that is settled: what was found of it, and what was written. */
export interface CommittedTransition {
  /** Undefined when there was none, as before one begins. */
  readonly found: Authorization | undefined
  readonly write: TransitionResult<unknown>['write']
}

/**
 * Is told of the move that a request came to, also of one that ends in a refusal, for events alone: what it hears of a
 * record must never reach an answer. It must not throw.
 */
export type OnCommitted = (move: CommittedTransition) => void

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
}

/** How long credentials live, in seconds. */
export interface Lifetimes {
  readonly authorizationRequest: number
  readonly authorizationCode: number
  readonly accessToken: number
  readonly refreshToken: number
  /** How long after a rotation the old refresh token still gets the same answer again. */
  readonly refreshTokenGrace: number
}
