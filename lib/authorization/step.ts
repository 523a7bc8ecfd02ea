import type { OAuthError } from '../protocol/oauth-error'
import type { Authorization } from './authorization'

/**
 * What a transition decides on the record as it finds it: what to write, and what the caller then learns. A
 * refusal is an outcome, so that one step can both refuse and write (a replay refuses and revokes).
 */
export interface Step<Outcome> {
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
) => Step<Outcome>

type Settled<Outcome> = Step<Exclude<Outcome, OAuthError>>

/** Writes nothing. */
export function keep<Outcome>(outcome: Outcome): Settled<Outcome>
export function keep<Outcome>(outcome: Outcome): Step<Outcome> {
  return { write: 'nothing', outcome }
}

/**
 * Writes the record again as it is: for an answer that was decided before. Whoever decided it may have failed to learn
 * that it is stored safely, so this one has to.
 */
export function confirm<Outcome>(outcome: Outcome): Settled<Outcome>
export function confirm<Outcome>(outcome: Outcome): Step<Outcome> {
  return { write: 'confirmation', outcome }
}

/** Writes the record as it is to be from now on. */
export function save<Outcome>(authorization: Authorization, outcome: Outcome): Settled<Outcome>
export function save<Outcome>(authorization: Authorization, outcome: Outcome): Step<Outcome> {
  return { write: authorization, outcome }
}

/** Revokes: removes the record and with it every credential that descends from it. */
export function remove<Outcome>(outcome: Outcome): Settled<Outcome>
export function remove<Outcome>(outcome: Outcome): Step<Outcome> {
  return { write: 'removal', outcome }
}
