import type { Authorization, Pending, Polled, Unclaimed } from '../../../lib/authorization/authorization'
import {
  approveWithCode,
  type ConsentDecision,
  deny,
  findDecidable,
  repeatable,
  requestOf,
  withForm,
} from '../../../lib/authorization/decision'
import type { Issued } from '../../../lib/authorization/issue'
import { redeemCode } from '../../../lib/authorization/redeem-code'
import { rotateRefreshToken } from '../../../lib/authorization/refresh'
import {
  type IssueContext,
  type Transition,
  type TransitionResult,
} from '../../../lib/authorization/transition'
import { invalidGrant } from '../../../lib/protocol/host-errors'
import { OAuthError } from '../../../lib/protocol/oauth-error'
import { redemption } from './authorization'
import type { Move } from './moves'

/** How a move ended for the one who made it. */
export type Ending =
  | { readonly kind: 'tokens'; readonly issued: Issued }
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'done' }
  /** The client got its answer, which is not given twice. */
  | { readonly kind: 'done before' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'trouble' }

/** The consent form that alice was shown. */
export interface ConsentForm {
  readonly pending: Pending
  readonly consentToken: string
}

const wrongVerifier = invalidGrant('wrong_verifier', 'The verifier does not match.')

const brings = (result: TransitionResult<Issued>): TransitionResult<Ending> =>
  'refusal' in result ? result : { ...result, outcome: { kind: 'tokens', issued: result.outcome } }

function decided(
  found: Exclude<Authorization, Unclaimed | Polled>,
  { consentToken, approved }: ConsentDecision,
  at: IssueContext,
): TransitionResult<Ending> {
  if (found.state === 'denied') return { action: 'touch', outcome: { kind: 'done' } }
  if (found.state === 'active') return { action: 'none', outcome: { kind: 'done before' } }
  if (found.state === 'pending' && !approved)
    return { action: 'save', authorization: deny(found), outcome: { kind: 'done' } }
  const proposed = requestOf(found)
  if (proposed === undefined) throw new Error('A code alone can be given again.')
  const known = found.state === 'approved' ? found.code.repetition?.salt : undefined
  const { salt, context } = repeatable(consentToken, at, known)
  const { authorization, code } = approveWithCode(proposed, context)
  const ending = { kind: 'code', code } as const
  return found.state === 'pending'
    ? { action: 'save', authorization: withForm(authorization, found, salt), outcome: ending }
    : { action: 'touch', outcome: ending }
}

/** The transition that a move asks the server for, as its endpoints compose it. */
export function transitionOf(
  move: Exclude<Move, { move: 'wait' }>,
  presented: string,
  { consentToken }: ConsentForm,
  at: IssueContext,
): Transition<Ending> {
  switch (move.move) {
    case 'revoke':
      return () => ({ action: 'delete', outcome: { kind: 'done' } })
    case 'redeem': {
      const asked = redemption(presented, { clientId: move.client })
      const context = move.verifier === 'right' ? at : { ...at, restrict: () => wrongVerifier }
      return (current) => brings(redeemCode(current, asked, context))
    }
    case 'refresh': {
      const asked = { refreshToken: presented, clientId: move.client, scope: move.scope }
      return (current) => brings(rotateRefreshToken(current, asked, at))
    }
    case 'approve':
    case 'deny':
      return (current) => {
        const [subject, approved] = [move.owner, move.move === 'approve']
        const answer = { consentToken, subject, login: undefined, ownerReadAt: at.now, approved }
        const found = findDecidable(current, answer, at.now)
        return found instanceof OAuthError ? { action: 'none', refusal: found } : decided(found, answer, at)
      }
  }
}
