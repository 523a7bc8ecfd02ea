import type { Authorization } from '../../../lib/authorization/authorization'
import type { TransitionResult } from '../../../lib/authorization/transition'
import { OAuthError } from '../../../lib/protocol/oauth-error'

/** What a transition refuses with, and what it does to the record. */
export function refusal({ outcome, action }: TransitionResult<unknown>) {
  if (!(outcome instanceof OAuthError)) throw new Error('The transition refuses nothing.')
  const { code, reason } = outcome
  return { code, reason, action }
}

/** The record that a transition saves. */
export function written(result: TransitionResult<unknown>): Authorization {
  if (result.action !== 'save')
    throw new Error(`The transition saves no record; its action is ${result.action}.`)
  return result.authorization
}

/** What a transition answers. */
export function answerOf<Outcome>({ outcome }: TransitionResult<Outcome>): Outcome {
  if (outcome instanceof OAuthError) throw outcome
  return outcome
}
