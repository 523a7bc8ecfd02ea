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
import type { IssueContext, OnCommitted, TransitionResult } from '../authorization/transition'
import type { Client } from '../protocol/client'
import { createId } from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import type { Context } from '../doors/context'
import { approveRequest, completeApproval } from './approve-request'
import type { Redirection } from './authorization-response'
import { changeClaimed, type ClaimedRequest } from './resolve-request'
import type { ResponseType } from '../authorization/response-types'

/** A code, or a token, answers it. */
export type ApprovableProposal = OwnerProposal & { readonly request: PendingRequest }

/** Approves without a page. What answers the client is stored, in place of the record that the request claims. */
export async function approveAtOnce(
  server: Context,
  client: Client,
  responseType: ResponseType,
  proposal: ApprovableProposal,
  claimed: ClaimedRequest | undefined,
  context: IssueContext,
  onCommitted: OnCommitted | undefined,
): Promise<Redirection> {
  const { issuerDigest, random, now } = context
  const id = claimed === undefined ? createId(random) : claimed.record.id
  const approved = approveRequest(server, responseType, { id, issuerDigest, ...proposal }, context)
  const { authorization } = approved
  const { redirection, event } = completes(server)
    ? await completeApproval(server, client, approved, now)
    : approved
  if (claimed === undefined) {
    await begin(server.store, authorization, random)
    onCommitted?.({ authorization, event })
    return redirection
  }
  const replace = (current: Authorization | undefined): TransitionResult<void> => {
    const claimable = findClaimable(current, claimed.presented, now, proposal.subject)
    return claimable instanceof OAuthError
      ? { action: 'none', refusal: claimable }
      : { action: 'save', authorization, outcome: undefined, event }
  }
  await changeClaimed(server, claimed, replace, onCommitted)
  claimed.onClaimed?.()
  return redirection
}

/** Returns the consent token. */
export async function keepOpen(
  server: Context,
  proposal: OwnerProposal,
  claimed: ClaimedRequest | undefined,
  context: IssueContext,
): Promise<string> {
  const { openRequests } = server.limits
  // A reload of the page opens no further request.
  if (claimed?.record.subject !== undefined)
    return (await claimRecord(server, proposal, claimed, context)).consentToken
  openRequests.opened(proposal.subject)
  try {
    if (claimed !== undefined) {
      const { consentToken, isAgain } = await claimRecord(server, proposal, claimed, context)
      if (isAgain) openRequests.ended(proposal.subject)
      else claimed.onClaimed?.()
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

const claimRecord = (
  server: Context,
  proposal: OwnerProposal,
  claimed: ClaimedRequest,
  context: IssueContext,
): Promise<ClaimedForm> =>
  changeClaimed(server, claimed, (current) =>
    claim(current, claimed.presented, claimed.secret, proposal, context),
  )
