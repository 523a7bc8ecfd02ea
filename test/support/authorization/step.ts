import type { Authorization } from '../../../lib/authorization/authorization'
import type { TransitionResult } from '../../../lib/authorization/transition'
import { OAuthError } from '../../../lib/protocol/oauth-error'

/** What a step refuses with, and what it does to the record. */
export function refusal({ outcome, write }: TransitionResult<unknown>) {
  if (!(outcome instanceof OAuthError)) throw new Error('The step refuses nothing.')
  const { code, reason } = outcome
  return { code, reason, write: typeof write === 'string' ? write : 'record' }
}

/** The record that a step writes. */
export function written({ write }: TransitionResult<unknown>): Authorization {
  if (typeof write === 'string') throw new Error(`The step writes no record, but ${write}.`)
  return write
}

/** What a step answers. */
export function answerOf<Outcome>({ outcome }: TransitionResult<Outcome>): Outcome {
  if (outcome instanceof OAuthError) throw outcome
  return outcome
}
