import { answered, approveWithCode, deny, type Answer } from '../../../lib/authorization/answer'
import type { Authorization, Pending } from '../../../lib/authorization/authorization'
import type { Circumstances } from '../../../lib/authorization/circumstances'
import type { Issued } from '../../../lib/authorization/issue'
import { redeemCode } from '../../../lib/authorization/redeem-code'
import { proposedOnce, repeatable, withForm } from '../../../lib/authorization/repetition'
import { rotateRefreshToken } from '../../../lib/authorization/rotate-refresh-token'
import { confirm, keep, remove, save, type Step, type Transition } from '../../../lib/authorization/step'
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

const brings = ({ write, outcome }: Step<Issued>): Step<Ending> => ({
  write,
  outcome: outcome instanceof OAuthError ? outcome : { kind: 'tokens', issued: outcome },
})

function decided(found: Authorization, { handle, approved }: Answer, at: Circumstances): Step<Ending> {
  if (found.state === 'denied') return confirm({ kind: 'done' })
  if (found.state === 'active') return keep({ kind: 'done before' })
  if (found.state === 'pending' && !approved) return save(deny(found), { kind: 'done' })
  const proposed = found.state === 'approved' ? proposedOnce(found) : found
  if (proposed === undefined) throw new Error('A code alone can be given again.')
  const known = found.state === 'approved' ? found.code.repetition?.salt : undefined
  const { salt, circumstances } = repeatable(handle, at, known)
  const { authorization, code } = approveWithCode(proposed, circumstances)
  const ending = { kind: 'code', code } as const
  return found.state === 'pending' ? save(withForm(authorization, found, salt), ending) : confirm(ending)
}

/** The transition that a move asks the server for, as its endpoints compose it. */
export function transitionOf(
  move: Exclude<Move, { move: 'wait' }>,
  presented: string,
  { handle }: ConsentForm,
  at: Circumstances,
): Transition<Ending> {
  switch (move.move) {
    case 'revoke':
      return () => remove({ kind: 'done' })
    case 'redeem': {
      const objection = () => (move.verifier === 'right' ? undefined : wrongVerifier)
      const asked = redemption(presented, { clientId: move.client, objection })
      return (current) => brings(redeemCode(current, asked, at))
    }
    case 'refresh': {
      const asked = { refreshToken: presented, clientId: move.client, scope: move.scope }
      return (current) => brings(rotateRefreshToken(current, asked, at))
    }
    case 'approve':
    case 'deny':
      return (current) => {
        const answer = { handle, subject: move.owner, approved: move.move === 'approve' }
        const found = answered(current, answer, at.now)
        return found instanceof OAuthError ? keep(found) : decided(found, answer, at)
      }
  }
}
