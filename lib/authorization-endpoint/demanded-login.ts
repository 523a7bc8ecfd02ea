import { begin } from '../authorization/commit'
import {
  demandLogin,
  findClaimable,
  openForLogin,
  prolongRequest,
  type RequestProposal,
} from '../authorization/requested'
import type { RecordContext } from '../authorization/transition'
import type { Eventual } from '../primitives/concurrency'
import { OAuthError } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import type { ResourceOwner } from '../protocol/resource-owner'
import type { Sender } from '../protocol/sender'
import type { DemandedLogins } from '../limits/open-requests'
import type { Context } from '../doors/context'
import { loginReferenceOf, requestDigest } from './login-return'
import { changeClaimed, type ClaimedRequest, type SettledRequest } from './resolve-request'

interface AskedHost {
  readonly sender?: Sender | undefined
}

/**
 * Others may have seen the URL with the reference, and it may be old. A reference that is not good for this very
 * request counts as absent: a new login.
 */
export function findDemandedLogin(
  server: Context,
  { received, destination }: SettledRequest,
  owner: ResourceOwner | undefined,
  { now }: RecordContext,
  { sender }: AskedHost,
): Eventual<ClaimedRequest | undefined> {
  const named = loginReferenceOf(received)
  if (named === undefined) return undefined
  const { id, reference: handle } = named
  const presented = { handle, clientId: destination.client.client_id }
  const { store, limits } = server
  return store.find(id).then((found) => {
    const record = findClaimable(found?.authorization, presented, now, owner?.subject)
    if (found === undefined || record instanceof OAuthError) return undefined
    if (record.demandedLogin?.parameters !== requestDigest(received)) return undefined
    return {
      presented,
      secret: handle,
      record,
      found,
      onClaimed: () => limits.demandedLogins.ended(sender?.address),
    }
  })
}

interface DemandingRequest {
  readonly received: Parameters
  readonly unclaimed: () => RequestProposal
  readonly isLoggedIn: boolean
  readonly context: RecordContext
}

/** @returns the reference for the return of the login; undefined if the request names its record. */
export async function keepDemand(
  server: Context,
  { received, unclaimed, isLoggedIn, context }: DemandingRequest,
  claimed: ClaimedRequest | undefined,
  { sender }: AskedHost,
): Promise<string | undefined> {
  const { demandedLogins } = server.limits
  if (claimed !== undefined) {
    const keep = () => keepInRecord(server, claimed, isLoggedIn, context)
    return livesLonger(claimed) ? counted(demandedLogins, sender, keep) : keep()
  }
  const { requested, reference } = openForLogin(unclaimed(), requestDigest(received), context)
  return counted(demandedLogins, sender, async () => {
    await begin(server.store, requested, context.random)
    return reference
  })
}

/** True for a pushed request that no owner who is logged in has brought. */
const livesLonger = ({ record }: ClaimedRequest) => record.lifetimeUntilSeen !== undefined

/** Counts a record that waits for its login, unless it does not come to be. */
async function counted<Outcome>(
  logins: DemandedLogins,
  sender: Sender | undefined,
  keep: () => Promise<Outcome>,
): Promise<Outcome> {
  const address = sender?.address
  logins.opened(address)
  try {
    return await keep()
  } catch (error) {
    logins.ended(address)
    throw error
  }
}

// A login after the first demand satisfies every later one of an owner who is not logged in. A login since then that is
// too old does not.
async function keepInRecord(
  server: Context,
  claimed: ClaimedRequest,
  isLoggedIn: boolean,
  context: RecordContext,
): Promise<string | undefined> {
  const { presented, record } = claimed
  const { demandedLogin } = record
  if (demandedLogin === undefined || isLoggedIn)
    await changeClaimed(server, claimed, (current) => demandLogin(current, presented, context))
  return demandedLogin?.parameters === undefined ? undefined : presented.handle
}

/** The login of the owner may take longer than the request would live. */
export async function prolong(
  server: Context,
  claimed: ClaimedRequest | undefined,
  context: RecordContext,
  { sender }: AskedHost,
): Promise<undefined> {
  if (claimed === undefined || !livesLonger(claimed)) return undefined
  return counted(server.limits.demandedLogins, sender, () =>
    changeClaimed(server, claimed, (current) => prolongRequest(current, claimed.presented, context)),
  )
}
