import { answered, approveWithCode, deny } from '../../../lib/authorization/answer'
import type { Pending } from '../../../lib/authorization/authorization'
import type { Circumstances } from '../../../lib/authorization/circumstances'
import type { Issued } from '../../../lib/authorization/issue'
import { redeemCode } from '../../../lib/authorization/redeem-code'
import { rotateRefreshToken } from '../../../lib/authorization/rotate-refresh-token'
import { keep, remove, save, type Step, type Transition } from '../../../lib/authorization/step'
import { invalidGrant, OAuthError } from '../../../lib/protocol/oauth-error'
import { redemption } from './authorization'
import type { Move } from './moves'

/** How a move ended for the one who made it. */
export type Ending =
  | { readonly kind: 'tokens'; readonly issued: Issued }
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'done' }
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
        const request = answered(current, { handle, subject: move.owner }, at.now)
        if (request instanceof OAuthError) return keep(request)
        if (move.move === 'deny') return save(deny(request), { kind: 'done' })
        const { authorization, code } = approveWithCode(request, at)
        return save(authorization, { kind: 'code', code })
      }
  }
}
