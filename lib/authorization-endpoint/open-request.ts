import type { Authorization, PendingRequest } from '../authorization/authorization'
import { begin } from '../authorization/commit'
import { completes } from '../authorization/complete-issue'
import {
  claim,
  type ClaimedForm,
  findClaimable,
  openForOwner,
  type OwnerProposal,
} from '../authorization/requested'
import type { ResponseType } from '../authorization/response-types'
import { type OnCommitted, type TransitionResult, unchanged } from '../authorization/transition'
import { createId } from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import {
  type ApprovedRequest,
  approveRequest,
  completeApproval,
  type Redirection,
} from './authorization-response'
import { changeClaimed, type ClaimedRequest, type Visit } from './visit'

/** A code, or a token, answers it. */
export type ApprovableProposal = OwnerProposal & { readonly request: PendingRequest }

/** Approves without a page. What answers the client is stored, in place of the record that the request claims. */
export function approveAtOnce(
  visit: Visit,
  responseType: ResponseType,
  proposal: ApprovableProposal,
  onCommitted: OnCommitted | undefined,
): Promise<Redirection> {
  const { server, client, claimed, context } = visit
  const { issuerDigest, random, now } = context
  const id = claimed === undefined ? createId(random) : claimed.record.id
  const approved = approveRequest(server, responseType, { id, issuerDigest, ...proposal }, context)
  return completes(server) ? completeApproval(server, client, approved, now).then(store) : store(approved)

  function store({ authorization, redirection, event }: ApprovedRequest): Promise<Redirection> {
    if (claimed === undefined)
      return begin(server.store, authorization, random).then(() => {
        onCommitted?.({ authorization, event })
        return redirection
      })
    const replace = (current: Authorization | undefined): TransitionResult<Redirection> => {
      const claimable = findClaimable(current, claimed.presented, now, proposal.subject)
      return claimable instanceof OAuthError
        ? unchanged(claimable)
        : { action: 'save', authorization, outcome: redirection, event }
    }
    return changeClaimed(server, claimed, replace, onCommitted).then((answer) => {
      endWait(visit)
      return answer
    })
  }
}

/** Returns the consent token. */
export async function keepOpen(visit: Visit, proposal: OwnerProposal): Promise<string> {
  const { server, claimed, context } = visit
  const { openRequests } = server.limits
  // A reload of the page opens no further request.
  if (claimed?.record.subject !== undefined) return (await claimRecord(visit, claimed, proposal)).consentToken
  openRequests.opened(proposal.subject)
  try {
    if (claimed !== undefined) {
      const { consentToken, isAgain } = await claimRecord(visit, claimed, proposal)
      if (isAgain) openRequests.ended(proposal.subject)
      else endWait(visit)
      return consentToken
    }
    const { requested, consentToken } = openForOwner(proposal, context)
    await begin(server.store, requested, context.random)
    return consentToken
  } catch (error) {
    openRequests.ended(proposal.subject)
    throw error
  }
}

function endWait({ server, host, claimed }: Visit): void {
  if (claimed?.hasWaited === true) server.limits.demandedLogins.ended(host.sender.address)
}

const claimRecord = (
  { server, context }: Visit,
  claimed: ClaimedRequest,
  proposal: OwnerProposal,
): Promise<ClaimedForm> =>
  changeClaimed(server, claimed, (current) =>
    claim(current, claimed.presented, claimed.secret, proposal, context),
  )
