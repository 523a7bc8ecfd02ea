import type { Authorization, Pending, Unclaimed } from '../../../lib/authorization/authorization'
import {
  approveWithCode,
  type ConsentDecision,
  deny,
  repeatable,
  requestOfApproval,
  requireAnswerable,
  withForm,
} from '../../../lib/authorization/decision'
import type { Issued } from '../../../lib/authorization/issue'
import { redeemCode } from '../../../lib/authorization/redeem-code'
import { rotateRefreshToken } from '../../../lib/authorization/refresh'
import {
  deleteRecord,
  type IssueContext,
  save,
  touch,
  type Transition,
  type TransitionResult,
  unchanged,
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
  readonly handle: string
}

const wrongVerifier = invalidGrant('wrong_verifier', 'The verifier does not match.')

const brings = ({ outcome, ...result }: TransitionResult<Issued>): TransitionResult<Ending> => ({
  ...result,
  outcome: outcome instanceof OAuthError ? outcome : { kind: 'tokens', issued: outcome },
})

function decided(
  found: Exclude<Authorization, Unclaimed>,
  { handle, approved }: ConsentDecision,
  at: IssueContext,
): TransitionResult<Ending> {
  if (found.state === 'denied') return touch({ kind: 'done' })
  if (found.state === 'active') return unchanged({ kind: 'done before' })
  if (found.state === 'pending' && !approved) return save(deny(found), { kind: 'done' })
  const proposed = found.state === 'approved' ? requestOfApproval(found) : found
  if (proposed === undefined) throw new Error('A code alone can be given again.')
  const known = found.state === 'approved' ? found.code.repetition?.salt : undefined
  const { salt, context } = repeatable(handle, at, known)
  const { authorization, code } = approveWithCode(proposed, context)
  const ending = { kind: 'code', code } as const
  return found.state === 'pending' ? save(withForm(authorization, found, salt), ending) : touch(ending)
}

/** The transition that a move asks the server for, as its endpoints compose it. */
export function transitionOf(
  move: Exclude<Move, { move: 'wait' }>,
  presented: string,
  { handle }: ConsentForm,
  at: IssueContext,
): Transition<Ending> {
  switch (move.move) {
    case 'revoke':
      return () => deleteRecord({ kind: 'done' })
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
        const answer = { handle, subject: move.owner, approved: move.move === 'approve' }
        const found = requireAnswerable(current, answer, at.now)
        return found instanceof OAuthError ? unchanged(found) : decided(found, answer, at)
      }
  }
}
