import type { Requested } from '../authorization/authorization'
import { commit } from '../authorization/commit'
import type { OnCommitted, Transition } from '../authorization/transition'
import { findClaimable, type Presented } from '../authorization/requested'
import type { StoredAuthorization } from '../authorization/store'
import { isAbsentOr, isRecord, isText } from '../primitives/values'
import type { Client } from '../protocol/client'
import { credentialId } from '../protocol/credential'
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { Parameters } from '../protocol/parameters'
import type { RequestArrival, ResolvedRequest } from '../protocol/resolved-request'
import type { Sender } from '../protocol/sender'
import type { Context } from '../doors/context'
import type { Destination } from './authorization-request'

export interface ClaimedRequest {
  readonly presented: Presented
  /** With a salt, it derives the consent token: the handle, or a text that only the server knows. */
  readonly secret: string
  readonly record: Requested
  /** Only the compare-and-set of the claim proves that it is current. */
  readonly found: StoredAuthorization
  readonly onClaimed?: () => void
}

/** A request whose client and redirection URI are known. */
export interface SettledRequest {
  readonly destination: Destination
  readonly parameters: Parameters
  /** As the server received them. */
  readonly received: Parameters
  readonly claimed: ClaimedRequest | undefined
}

export const changeClaimed = <Outcome>(
  { store, random }: Context,
  { record, found }: ClaimedRequest,
  transition: Transition<Outcome>,
  onCommitted?: OnCommitted,
): Promise<Outcome> => commit(store, record.id, transition, random, { cached: found, onCommitted })

interface ReplacedRequest {
  readonly parameters: Parameters
  /** Undefined if the request uses nothing up. */
  readonly claimed: ClaimedRequest | undefined
}

export async function resolveRequest(
  server: Context,
  received: Parameters,
  client: Client,
  sender: Sender,
): Promise<ReplacedRequest> {
  const { parameters, handle } = await replaceParameters(server, received, client, {
    isPushed: false,
    sender,
  })
  const claimed = handle === undefined ? undefined : await findClaimed(server, handle, client, sender)
  return { parameters, claimed }
}

/**
 * In the order of the option `extensions`, each gets the parameters that the previous ones left. Also returns the
 * handle of the record that the request uses up.
 */
export async function replaceParameters(
  { plugIns }: Context,
  received: Parameters,
  client: Client,
  arrival: Omit<RequestArrival, 'hasRecord'>,
): Promise<{ readonly parameters: Parameters; readonly handle: string | undefined }> {
  let parameters = received
  let handle: string | undefined
  for (const extension of plugIns.resolveRequest) {
    const { name } = extension
    const resolved: unknown = await extension.resolveRequest(parameters, client, {
      ...arrival,
      hasRecord: handle !== undefined,
    })
    if (resolved === undefined) continue
    requireResolved(resolved, name)
    if (resolved.claims !== undefined && handle !== undefined)
      throw new TypeError(`The extension "${name}" claims a second record for one request.`)
    handle = resolved.claims ?? handle
    parameters = Parameters.parse(resolved.parameters)
    if (parameters.require('client_id') !== client.client_id) throw refused('client_id_mismatch')
  }
  return { parameters, handle }
}

async function findClaimed(
  { store, now, limits: { demandedLogins } }: Context,
  handle: string,
  { client_id: clientId }: Client,
  sender: Sender | undefined,
): Promise<ClaimedRequest> {
  const id = credentialId('requestHandle', handle)
  const found = id === undefined ? undefined : await store.find(id)
  const presented = { handle, clientId }
  const record = findClaimable(found?.authorization, presented, now())
  if (record instanceof OAuthError) throw record
  if (found === undefined) throw new Error('A record without a stored form was claimed.')
  // It has waited for a login since a browser brought it.
  const hasWaited = record.subject === undefined && record.lifetimeUntilSeen === undefined
  return {
    presented,
    secret: handle,
    record,
    found,
    ...(hasWaited && { onClaimed: () => demandedLogins.ended(sender?.address) }),
  }
}

// Hosts write extensions, also in JavaScript.
function requireResolved(resolved: unknown, name: string): asserts resolved is ResolvedRequest {
  const { parameters, claims, ...others } = isRecord(resolved) ? resolved : {}
  if (isText(parameters) && isAbsentOr(isText, claims) && Object.keys(others).length === 0) return
  throw new TypeError(
    `The extension "${name}" must resolve a request to { parameters, claims }: parameters in form encoding, claims a handle or undefined.`,
  )
}
