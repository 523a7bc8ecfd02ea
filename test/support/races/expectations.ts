import type { Operation, RoundPlan } from './plan'
import type { Answer } from './race-clients'

interface Words {
  /** The answer that brings something. */
  readonly accepted: string
  readonly refused: string
}

const decision = (accepted: string): Words => ({ accepted, refused: 'page 400 invalid_request' })
const grant: Words = { accepted: 'tokens', refused: '400 invalid_grant' }
// RFC 7009 2.2: the answer is the same, whatever became of the token.
const revocation: Words = { accepted: 'done', refused: 'done' }

const question: Words = { accepted: 'question', refused: 'access_denied' }

const words: Readonly<Record<Operation, Words>> = {
  ask: question,
  approve: decision('code'),
  deny: decision('access_denied'),
  'approve late': decision('code'),
  'deny late': decision('access_denied'),
  redeem: grant,
  replay: grant,
  refresh: grant,
  'refresh again': grant,
  reuse: grant,
  'revoke by access token': revocation,
  'revoke by refresh token': revocation,
  use: { accepted: 'access', refused: '401 invalid_token' },
  introspect: { accepted: 'active', refused: 'inactive' },
}

const neverAccepted = new Set<Operation>(['deny late', 'replay', 'reuse'])

export const isRevocation = ({ operation }: Answer): boolean => words[operation] === revocation
export const isAccepted = (answer: Answer): boolean =>
  !isRevocation(answer) && answer.word === words[answer.operation].accepted
export const isRefused = (answer: Answer): boolean =>
  !isRevocation(answer) && answer.word === words[answer.operation].refused

const withoutGrant = new Set<Operation>(['ask', 'approve', 'deny', 'approve late', 'deny late'])

/** A revocation, or a refusal of a credential, which each of these grants meets only at its end. */
export const tellsTheEnd = (answer: Answer): boolean =>
  isRevocation(answer) || (isRefused(answer) && !withoutGrant.has(answer.operation))

/** Whether something in this race may end the grant. */
export function isMortal({ moves, grace }: RoundPlan): boolean {
  const count = (operation: Operation): number => moves.filter((move) => move.operation === operation).length
  const surely: readonly Operation[] = [
    'replay',
    'reuse',
    'revoke by access token',
    'revoke by refresh token',
  ]
  if (surely.some((operation) => count(operation) > 0)) return true
  // RFC 9700 4.14.2: a refresh token that was rotated out revokes, when there is no grace or it was not the last one.
  const rotated = count('refresh again') > 0 && (grace === 0 || count('refresh') > 0)
  return rotated || count('redeem') > 1 || (grace === 0 && count('refresh') > 1)
}

/** All that this operation may be answered in this race. */
export function expected(plan: RoundPlan, { operation, phase }: Answer): readonly string[] {
  const { accepted, refused } = words[operation]
  if (phase === 'before') return [accepted]
  if (phase === 'after') return [accepted, refused]
  if (neverAccepted.has(operation)) return [refused]
  if (operation === 'approve late') return [...approvedBefore(plan), ...(isMortal(plan) ? [refused] : [])]
  if (operation === 'refresh again' && plan.grace === 0) return [refused]
  return plan.stage === 'pending' || isMortal(plan) ? [accepted, refused] : [accepted]
}

/** What a form is answered that was approved before: its code again, or a page once that is redeemed. */
function approvedBefore({ stage, moves }: RoundPlan): readonly string[] {
  const isRedeemed = stage === 'active' || moves.some(({ operation }) => operation === 'redeem')
  return [...(stage === 'approved' ? [words.approve.accepted] : []), ...(isRedeemed ? ['done already'] : [])]
}
