import type { Bindings } from '../protocol/bindings'
import { createCredential, createId, digest } from '../protocol/credential'
import type { Scope } from '../protocol/scope'
import type { Pending, PendingRequest } from './authorization'
import type { Circumstances } from './circumstances'

/** A valid authorization request of a known resource owner, to be put to them. */
export interface Proposal {
  readonly clientId: string
  readonly subject: string
  readonly scope: Scope
  /** The one that the client gets. */
  readonly tokenType: string
  readonly bindings: Bindings
  readonly request: PendingRequest
}

/** Begins an authorization: the record to store, and the handle that only the consent form knows. */
export function propose(
  proposal: Proposal,
  { now, random, lifetimes }: Circumstances,
): { readonly pending: Pending; readonly handle: string } {
  const id = createId(random)
  const handle = createCredential('authorizationRequest', id, random)
  const expiresAt = now + lifetimes.authorizationRequest
  return { handle, pending: { state: 'pending', id, handle: digest(handle), expiresAt, ...proposal } }
}
