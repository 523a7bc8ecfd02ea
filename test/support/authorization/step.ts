import type { Authorization } from '../../../lib/authorization/authorization'
import type { TransitionResult } from '../../../lib/authorization/transition'

/** What a transition refuses with, and what it does to the record. */
export function refusal(result: TransitionResult<unknown>) {
  if (!('refusal' in result)) throw new Error('The transition refuses nothing.')
  const { code, reason } = result.refusal
  return { code, reason, action: result.action }
}

/** The record that a transition saves. */
export function written(result: TransitionResult<unknown>): Authorization {
  if (result.action !== 'save')
    throw new Error(`The transition saves no record; its action is ${result.action}.`)
  return result.authorization
}

/** What a transition answers. */
export function answerOf<Outcome>(result: TransitionResult<Outcome>): Outcome {
  if ('refusal' in result) throw result.refusal
  return result.outcome
}
