import type { OAuthError } from '../protocol/oauth-error'
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
