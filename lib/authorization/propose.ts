import { createCredential, createId, digest } from '../protocol/credential'
import type { Pending, RequestedAuthorization } from './authorization'
import type { IssueContext } from './circumstances'

/** A valid authorization request of a known resource owner, before it is a record with an id. */
export type AuthorizationProposal = Omit<RequestedAuthorization, 'id' | 'issuerDigest'>

/** Begins an authorization: the record to store, and the handle that only the consent form knows. */
export function createPendingAuthorization(
  proposal: AuthorizationProposal,
  { now, issuerDigest, random, lifetimes }: IssueContext,
): { readonly pending: Pending; readonly handle: string } {
  const id = createId(random)
  const handle = createCredential('authorizationRequest', id, random)
  const expiresAt = now + lifetimes.authorizationRequest
  return {
    handle,
    pending: { state: 'pending', id, issuerDigest, handle: digest(handle), expiresAt, ...proposal },
  }
}
