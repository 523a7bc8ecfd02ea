import { findClaimable } from '../authorization/requested'
import { isAbsentOr, isRecord, isText } from '../primitives/values'
import type { Client } from '../protocol/client'
import { credentialId } from '../protocol/credential'
import type { Evidence } from '../protocol/extension-data'
import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { Parameters } from '../protocol/parameters'
import type { RequestArrival, ResolvedRequest } from '../protocol/extension'
import type { Context } from '../doors/context'
import type { ClaimedRequest } from './visit'

interface Arrival extends Omit<RequestArrival, 'hasRecord' | 'evidence'> {
  readonly evidence: Evidence
}

/** Each extension gets the parameters that the previous ones left. */
export async function replaceParameters(
  { plugins }: Context,
  received: Parameters,
  client: Client,
  arrival: Arrival,
): Promise<{ readonly parameters: Parameters; readonly handle: string | undefined }> {
  let parameters = received
  let handle: string | undefined
  for (const extension of plugins.resolve) {
    const { name } = extension
    const resolved: unknown = await extension.resolve(parameters, client, {
      ...arrival,
      evidence: arrival.evidence.get(name),
      hasRecord: handle !== undefined,
    })
    if (resolved === undefined) continue
    requireResolved(resolved, name)
    if (resolved.claims !== undefined && handle !== undefined)
      throw new TypeError(`The extension "${name}" claims a second record for one request.`)
    handle = resolved.claims ?? handle
    parameters = isText(resolved.parameters) ? Parameters.parse(resolved.parameters) : resolved.parameters
    if (parameters.require('client_id') !== client.client_id) throw refused('client_id_mismatch')
  }
  return { parameters, handle }
}

export async function findClaimed(
  { store, now }: Context,
  handle: string,
  { client_id: clientId }: Client,
): Promise<ClaimedRequest> {
  const id = credentialId('requestHandle', handle)
  const found = id === undefined ? undefined : await store.find(id)
  const presented = { handle, clientId }
  const record = findClaimable(found?.authorization, presented, now())
  if (record instanceof OAuthError) throw record
  if (found === undefined) throw new Error('A record without a stored form was claimed.')
  const hasWaited = record.subject === undefined && record.lifetimeUntilSeen === undefined
  return { presented, secret: handle, record, found, hasWaited }
}

// Hosts write extensions, also in JavaScript.
function requireResolved(resolved: unknown, name: string): asserts resolved is ResolvedRequest {
  const { parameters, claims, ...others } = isRecord(resolved) ? resolved : {}
  const areParameters = isText(parameters) || parameters instanceof Parameters
  if (areParameters && isAbsentOr(isText, claims) && Object.keys(others).length === 0) return
  throw new TypeError(
    `The extension "${name}" must resolve a request to { parameters, claims }: parameters as Parameters or in form encoding, claims a handle or undefined.`,
  )
}
