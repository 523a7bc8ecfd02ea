import type { Authorization, PendingRequest } from '../authorization/authorization'
import { begin, commit } from '../authorization/commit'
import { completes } from '../authorization/complete-issue'
import {
  claim,
  type ClaimedForm,
  findClaimable,
  openForOwner,
  type OwnerProposal,
  refusalForOwner,
} from '../authorization/requested'
import {
  approvalEvent,
  type IssueContext,
  type OnCommitted,
  type SuccessfulResult,
  type TransitionResult,
} from '../authorization/transition'
import { type Eventual, following } from '../primitives/concurrency'
import type { Client } from '../protocol/client'
import { createId } from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import type { Context } from '../doors/context'
import { type ApprovedRequest, approveRequest, completeApproval } from './approve-request'
import type { Redirection } from './authorization-response'
import { changeClaimed, type ClaimedRequest } from './resolve-request'
import type { ResponseType } from '../authorization/response-types'

type StoredApproval = Redirection | { readonly kind: 'refused'; readonly error: OAuthError }

/** A code, or a token, answers it. */
export type ApprovableProposal = OwnerProposal & { readonly request: PendingRequest }

export function approveAtOnce(
  server: Context,
  client: Client,
  responseType: ResponseType,
  proposal: ApprovableProposal,
  claimed: ClaimedRequest | undefined,
  context: IssueContext,
  onCommitted: OnCommitted | undefined,
): Eventual<StoredApproval> {
  if (claimed !== undefined)
    return approveClaimed(server, client, responseType, proposal, claimed, context, onCommitted)
  const { issuerDigest, random } = context
  const proposed = { id: createId(random), issuerDigest, ...proposal }
  const approved = approveRequest(server, responseType, proposed, context)
  const { authorization } = approved
  const plain = { redirection: approved.redirection, event: approvalEvent(authorization, responseType.name) }
  return following(
    () => (completes(server) ? completeApproval(server, client, approved, plain.event, context.now) : plain),
    ({ redirection, event }) =>
      begin(server.store, authorization, random).then(() => {
        onCommitted?.({ authorization, event })
        return redirection
      }),
  )
}

interface ClaimedApproval {
  readonly approved: ApprovedRequest
  readonly redirection: Redirection
}

async function approveClaimed(
  server: Context,
  client: Client,
  responseType: ResponseType,
  proposal: ApprovableProposal,
  { presented, record, found, onClaimed }: ClaimedRequest,
  context: IssueContext,
  onCommitted: OnCommitted | undefined,
): Promise<StoredApproval> {
  const { issuerDigest, random, now } = context
  const { id } = record
  const transition = (current: Authorization | undefined): TransitionResult<ClaimedApproval | OAuthError> => {
    const claimable = findClaimable(current, presented, now)
    // An outcome: the owner sees it. The client gets a thrown error.
    const refusal = claimable instanceof OAuthError ? claimable : refusalForOwner(claimable, proposal.subject)
    if (refusal !== undefined) return { action: 'none', outcome: refusal }
    const proposed = { id, issuerDigest, ...proposal }
    const approved = approveRequest(server, responseType, proposed, context)
    const { authorization, redirection } = approved
    const event = approvalEvent(authorization, responseType.name)
    return { action: 'save', authorization, outcome: { approved, redirection }, event }
  }
  const outcome = await commit(server.store, id, transition, random, {
    cached: found,
    onCommitted,
    complete: completes(server) ? (result) => completeClaimed(server, client, result, now) : undefined,
  })
  if (outcome instanceof OAuthError) return { kind: 'refused', error: outcome }
  onClaimed?.()
  return outcome.redirection
}

async function completeClaimed(
  server: Context,
  client: Client,
  result: SuccessfulResult<ClaimedApproval | OAuthError>,
  now: number,
): Promise<SuccessfulResult<ClaimedApproval | OAuthError>> {
  const { outcome } = result
  if (outcome instanceof OAuthError) return result
  const { redirection, event } = await completeApproval(server, client, outcome.approved, result.event, now)
  return { ...result, outcome: { ...outcome, redirection }, event }
}

/** Returns the consent token, or the refusal for the page if another owner has claimed the record meanwhile. */
export async function keepOpen(
  server: Context,
  proposal: OwnerProposal,
  claimed: ClaimedRequest | undefined,
  context: IssueContext,
): Promise<string | OAuthError> {
  const { openRequests } = server.limits
  // A reload of the page opens no further request.
  if (claimed?.record.subject !== undefined)
    return tokenOf(await claimRecord(server, proposal, claimed, context))
  openRequests.opened(proposal.subject)
  try {
    if (claimed !== undefined) {
      const form = await claimRecord(server, proposal, claimed, context)
      if (form instanceof OAuthError || form.isAgain) openRequests.ended(proposal.subject)
      else claimed.onClaimed?.()
      return tokenOf(form)
    }
    const { requested, consentToken } = openForOwner(proposal, context)
    await begin(server.store, requested, context.random)
    return consentToken
  } catch (error) {
    openRequests.ended(proposal.subject)
    throw error
  }
}

const tokenOf = (form: ClaimedForm | OAuthError) => (form instanceof OAuthError ? form : form.consentToken)

function claimRecord(
  server: Context,
  proposal: OwnerProposal,
  claimed: ClaimedRequest,
  context: IssueContext,
): Promise<ClaimedForm | OAuthError> {
  const { presented, secret } = claimed
  const claiming = (current: Authorization | undefined) =>
    claim(current, presented, secret, proposal, context)
  return changeClaimed(server, claimed, claiming, context.random)
}
