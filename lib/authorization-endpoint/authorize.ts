import type { Circumstances } from '../authorization/circumstances'
import { begin } from '../authorization/commit'
import { propose } from '../authorization/propose'
import type { Client, FindClient } from '../protocol/client'
import { unexpected, type OAuthError } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import type { ResourceOwner } from '../protocol/resource-owner'
import type { Scope } from '../protocol/scope'
import type { AuthorizationStore } from '../stores/authorization-store'
import { parseAuthorizationRequest, type RequestRules } from './authorization-request'
import { errorResponse, type ResponseFrame } from './authorization-response'
import { settleDestination, type Destination } from './destination'

/** What the authorization endpoint works with. */
export interface AuthorizationEndpoint extends RequestRules {
  readonly issuer: string
  readonly findClient: FindClient
  readonly store: AuthorizationStore
  readonly circumstances: () => Circumstances
}

/** What becomes of an authorization request. */
export type AuthorizationOutcome =
  /** The resource owner is told; nothing is redirected. */
  | { readonly kind: 'refused'; readonly error: OAuthError }
  /** The client is told. */
  | {
      readonly kind: 'redirect'
      readonly location: string
      readonly error: OAuthError
      readonly clientId: string
    }
  /** Nobody is logged in: the same request may be made again afterwards. */
  | { readonly kind: 'login' }
  /** The request waits for its resource owner. */
  | { readonly kind: 'pending'; readonly question: Question }

/** What the resource owner is asked. */
export interface Question {
  readonly client: Client
  readonly resourceOwner: ResourceOwner
  readonly scope: Scope
  readonly redirectUri: string
  /** Comes back with the decision; only the consent form knows it. */
  readonly handle: string
}

/** Takes an authorization request as far as it goes without the resource owner's decision (RFC 6749 4.1.1). */
export async function authorize(
  endpoint: AuthorizationEndpoint,
  parameters: Parameters,
  resourceOwner: () => Promise<ResourceOwner | undefined>,
): Promise<AuthorizationOutcome> {
  let destination: Destination
  try {
    destination = await settleDestination(parameters, endpoint.findClient)
  } catch (error) {
    return { kind: 'refused', error: unexpected(error) }
  }
  try {
    return await ask(endpoint, destination, parameters, resourceOwner)
  } catch (cause) {
    const error = unexpected(cause)
    const location = errorResponse(frameOf(endpoint, destination, parameters), error)
    return { kind: 'redirect', location, error, clientId: destination.client.client_id }
  }
}

async function ask(
  endpoint: AuthorizationEndpoint,
  destination: Destination,
  parameters: Parameters,
  resourceOwner: () => Promise<ResourceOwner | undefined>,
): Promise<AuthorizationOutcome> {
  const { responseType, scope, bindings } = parseAuthorizationRequest(destination, parameters, endpoint)
  const owner = await resourceOwner()
  if (owner === undefined) return { kind: 'login' }
  const { client, redirectUri, redirectUriSent } = destination
  const request = {
    responseType: responseType.name,
    redirectUri,
    redirectUriSent,
    requestState: parameters.get('state'),
  }
  const circumstances = endpoint.circumstances()
  const proposal = { clientId: client.client_id, subject: owner.subject, scope, bindings, request }
  const { pending, handle } = propose(proposal, circumstances)
  await begin(endpoint.store, pending, circumstances.random)
  return { kind: 'pending', question: { client, resourceOwner: owner, scope, redirectUri, handle } }
}

// A faulty parameter counts as absent here: the error is about something, and it must still be sent.
function frameOf(
  { issuer, responseTypes }: AuthorizationEndpoint,
  { redirectUri }: Destination,
  parameters: Parameters,
): ResponseFrame {
  const mode = responseTypes.get(parameters.peek('response_type') ?? '')?.mode ?? 'query'
  return { redirectUri, mode, requestState: parameters.peek('state'), issuer }
}
