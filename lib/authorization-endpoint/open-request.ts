import type { Authorization, PendingRequest } from '../authorization/authorization'
import { begin, commit } from '../authorization/commit'
import { completes } from '../authorization/complete-issue'
import {
  awaitLogin,
  claim,
  type ClaimedForm,
  findClaimable,
  openForLogin,
  openForOwner,
  type OwnerProposal,
} from '../authorization/requested'
import type { ResponseType } from '../authorization/response-types'
import {
  type OnCommitted,
  type Transition,
  type TransitionResult,
  unchanged,
} from '../authorization/transition'
import type { Context } from '../doors/context'
import type { Eventual } from '../primitives/concurrency'
import { createId, credentialId, digest } from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import { type Parameters, parametersAtMost, withField } from '../protocol/parameters'
import { refused } from '../protocol/refusals'
import type { ResourceOwner } from '../protocol/resource-owner'
import {
  type ApprovedRequest,
  approveRequest,
  completeApproval,
  type Redirection,
} from './authorization-response'
import type { ClaimedRequest, SettledRequest, Visit } from './visit'

export type ApprovableProposal = OwnerProposal & { readonly request: PendingRequest }

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

const changeClaimed = <Outcome>(
  { store, random }: Context,
  { record, found }: ClaimedRequest,
  transition: Transition<Outcome>,
  onCommitted?: OnCommitted,
): Promise<Outcome> => commit(store, record.id, transition, random, { cached: found, onCommitted })

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

/**
 * Others may have seen the URL, and it may be old: a reference that is not good for this very request means a new
 * login.
 */
export function findDemandedLogin(
  { store, now }: Context,
  { received, destination }: SettledRequest,
  owner: ResourceOwner | undefined,
): Eventual<ClaimedRequest | undefined> {
  const named = loginReferenceOf(received)
  if (named === undefined) return undefined
  const { id, reference: handle } = named
  const presented = { handle, clientId: destination.client.client_id }
  return store.find(id).then((found) => {
    const record = findClaimable(found?.authorization, presented, now(), owner?.subject)
    if (found === undefined || record instanceof OAuthError) return undefined
    if (record.demandedLogin?.parameters !== requestDigest(received)) return undefined
    return { presented, secret: handle, record, found, hasWaited: true }
  })
}

/**
 * A login may take longer than a pushed request lives. A demanded login since the first demand satisfies every later
 * one of an owner who was not logged in.
 *
 * @param isPlain no owner is logged in, and every login is good enough.
 * @returns the reference for the return; undefined if the request names its record, or needs none.
 */
export async function keepForLogin(visit: Visit, isPlain: boolean): Promise<string | undefined> {
  const { server, settled, parsed, context, owner, claimed } = visit
  if (claimed === undefined) {
    if (isPlain) return undefined
    const { requested, reference } = openForLogin(parsed.proposal, requestDigest(settled.received), context)
    await countWait(visit, () => begin(server.store, requested, context.random))
    return reference
  }
  const { presented, record } = claimed
  const demands = !isPlain && (record.demandedLogin === undefined || owner !== undefined)
  const keep = () =>
    changeClaimed(server, claimed, (current) => awaitLogin(current, presented, context, demands))
  // No owner who is logged in has brought it yet.
  if (record.lifetimeUntilSeen !== undefined) await countWait(visit, keep)
  else if (demands) await keep()
  return isPlain || record.demandedLogin?.parameters === undefined ? undefined : presented.handle
}

/** A record that does not come to be does not count. */
async function countWait({ server, host }: Visit, keep: () => Promise<unknown>): Promise<void> {
  const { demandedLogins } = server.limits
  const { address } = host.sender
  demandedLogins.opened(address)
  try {
    await keep()
  } catch (error) {
    demandedLogins.ended(address)
    throw error
  }
}

/**
 * How often the request returned from the login, since when, and the reference to a demanded login. In the URL, it
 * needs no memory and works on several processes and tabs. RFC 6749 3.1: clients ignore unknown parameters. A forged
 * count only shows its sender a page.
 */
const parameter = 'login_returns'

const returnsAtMost = 3
/** Seconds. Three slow logins are no loop. */
const window = 60

/** Undefined after three returns within a minute without an owner: a loop. */
export function queryAfterLogin(parameters: Parameters, now: number, reference?: string): string | undefined {
  const { count, since } = returnsIn(parameters.peek(parameter), now)
  if (count >= returnsAtMost) return undefined
  const query = parameters.format([parameter])
  const next = count === 0 ? '1' : `${count + 1}.${since.toString(36)}`
  if (fieldsIn(query) < parametersAtMost)
    return withField(query, parameter, reference === undefined ? next : `${next}.${reference}`)
  // A full request stays valid, but a demanded login would come without end.
  if (reference !== undefined) throw refused('too_many_parameters')
  return query
}

const fieldsIn = (query: string) => query.split('&').length

/** Characters. Servers and proxies take request lines of 8 KiB. */
export const longestQuery = 7000

/** OpenID Connect Core 3.1.2.1: the same request after the choice of an account; undefined if too long for a URL. */
export function accountSwitchOf(parameters: Parameters): string | undefined {
  const prompts = (parameters.peek('prompt') ?? '').split(' ').filter((prompt) => prompt !== '')
  const all = [...new Set([...prompts, 'select_account'])].join(' ')
  const query = withField(parameters.format([parameter, 'prompt']), 'prompt', all)
  return query.length <= longestQuery && fieldsIn(query) <= parametersAtMost ? query : undefined
}

// The count, the time in base 36, and the reference.
const form = /^([1-9])(?:\.([0-9a-z]{1,8}))?(?:\.(lr_[\w-]{65}))?$/

function returnsIn(text: string | undefined, now: number) {
  const [, count, start] = form.exec(text ?? '') ?? []
  if (count === '1' && start === undefined) return { count: 1, since: now }
  const since = Number.parseInt(start ?? '', 36)
  const isCurrent = count !== undefined && count !== '1' && since <= now && now - since < window
  return isCurrent ? { count: Number(count), since } : { count: 0, since: now }
}

/** It proves nothing yet. */
export function loginReferenceOf(
  parameters: Parameters,
): { readonly reference: string; readonly id: string } | undefined {
  const given = parameters.peek(parameter)
  if (given === undefined) return undefined
  const [, , , reference] = form.exec(given) ?? []
  const id = reference === undefined ? undefined : credentialId('loginReference', reference)
  return reference === undefined || id === undefined ? undefined : { reference, id }
}

/** Without what the login has added. */
export const requestDigest = (parameters: Parameters): string => digest(parameters.format([parameter]))
