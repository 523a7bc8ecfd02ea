import { answered, deny, requestNotOpen, type Answer } from '../authorization/answer'
import type { Pending } from '../authorization/authorization'
import { commit } from '../authorization/commit'
import { keep, save, type Step, type Transition } from '../authorization/step'
import type { Witness } from '../authorization/witness'
import type { Client } from '../protocol/client'
import { credentialId } from '../protocol/credential'
import { requireScope } from '../protocol/grantable-scope'
import { accessDenied, invalidRequest, OAuthError, unexpected } from '../protocol/oauth-error'
import { approved, frameOf } from './approval'
import { requireResponseType } from './authorization-request'
import { redirectWithError, type Redirection } from './authorization-response'
import type { AuthorizationEndpoint } from './authorize'
import type { StoredAuthorization } from '../stores/authorization-store'
import { requireClient, requireRedirectUri } from './destination'

/** The resource owner's decision. */
export interface Decision extends Answer {
  readonly approved: boolean
}

/** What becomes of a decision. */
export type DecisionOutcome =
  /** The resource owner is told; nothing is redirected. */
  | { readonly kind: 'refused'; readonly error: OAuthError }
  /** The client is told, of a denial or of trouble by an error. */
  | Redirection

/** Carries out a decision, once, and answers the client (RFC 6749 4.1.2). */
export async function decide(
  endpoint: AuthorizationEndpoint,
  decision: Decision,
  witness?: Witness,
): Promise<DecisionOutcome> {
  // The request as the last round of the commit found it: with it, trouble can still be told to the client.
  const open: { pending?: Pending | undefined } = {}
  try {
    const outcome = await settle(endpoint, decision, (pending) => (open.pending = pending), witness)
    // What was denied stays in the store as long as it would have waited, and so stays counted.
    if (decision.approved) endpoint.openRequests.ended(decision.subject)
    return outcome
  } catch (cause) {
    const error = unexpected(cause)
    if (open.pending === undefined) return { kind: 'refused', error }
    return redirectWithError(frameOf(endpoint, open.pending), open.pending.clientId, error)
  }
}

async function settle(
  endpoint: AuthorizationEndpoint,
  decision: Decision,
  found: (pending: Pending | undefined) => void,
  witness: Witness | undefined,
): Promise<DecisionOutcome> {
  const id = credentialId('authorizationRequest', decision.handle)
  if (id === undefined)
    throw invalidRequest('authorization_request_unknown', 'The authorization request is not known.')
  await endpoint.requireService()
  const believed = endpoint.justWritten(id) ?? (await endpoint.store.find(id))
  const client = await clientOf(endpoint, believed)
  const circumstances = endpoint.circumstances()
  const transition: Transition<DecisionOutcome> = (current) => {
    found(undefined)
    const pending = answered(current, decision, circumstances.now)
    if (pending instanceof OAuthError) return keep(pending)
    // What the request was held against may have been withdrawn while the owner looked at the page.
    const { redirectUri, responseType } = pending.request
    requireRedirectUri(client, redirectUri)
    found(pending)
    if (!decision.approved) return denial(endpoint, pending)
    const type = requireResponseType(client, responseType, endpoint.responseTypes)
    requireScope(client, pending.scope)
    const { authorization, redirection } = approved(endpoint, type, pending, circumstances)
    return save(authorization, redirection)
  }
  return commit(endpoint.store, id, transition, circumstances.random, believed, witness)
}

// It may have been disabled while the owner looked at the page: an implicit grant would still give it a token.
async function clientOf(
  { findClient }: AuthorizationEndpoint,
  believed: StoredAuthorization | undefined,
): Promise<Client> {
  if (believed?.authorization.state !== 'pending') throw requestNotOpen()
  return requireClient(believed.authorization.clientId, findClient)
}

function denial(endpoint: AuthorizationEndpoint, pending: Pending): Step<DecisionOutcome> {
  const error = accessDenied('owner_denied', 'The resource owner denied the request.')
  return save(deny(pending), redirectWithError(frameOf(endpoint, pending), pending.clientId, error))
}
