import type { Pending } from '../authorization/authorization'
import { begin } from '../authorization/commit'
import { type AuthorizationProposal, createPendingAuthorization } from '../authorization/decision'
import { approvalEvent, type IssueContext, type OnCommitted } from '../authorization/transition'
import type { Client, FindClient } from '../protocol/client'
import { createId } from '../protocol/credential'
import { invalidRequest, type OAuthError, OverShare, Throttled, unexpected } from '../protocol/oauth-error'
import { longestEchoedState, type Parameters } from '../protocol/parameters'
import type { ResourceOwner } from '../protocol/resource-owner'
import type { Scope } from '../protocol/scope'
import { protocolOf } from '../protocol/uri'
import type { AuthorizationStore } from '../stores/authorization-store'
import type { WriteBackCache } from '../stores/recently-written'
import {
  parseAuthorizationRequest,
  type RequestRules,
  type ResolvedRedirectUri,
  resolveRedirectUri,
} from './authorization-request'
import { type Redirection, redirectWithError, type ResponseFrame } from './authorization-response'
import { type AnsweringEndpoint, approve } from './decide'
import type { ResponseType } from './response-types'

/** What the authorization endpoint works with. */
export interface AuthorizationEndpoint extends RequestRules, AnsweringEndpoint {
  /** @throws OAuthError `temporarily_unavailable` during maintenance. */
  readonly requireService: () => void | Promise<void>
  readonly findClient: FindClient
  /** The token type of a client that names none. */
  readonly tokenType: string
  readonly store: AuthorizationStore
  readonly takeCached: WriteBackCache['takeCached']
  readonly openRequests: OpenRequests
  /** Waits for as long as a code needs that is on its way to its client, until it is redeemed. */
  readonly letArrive: () => Promise<void>
  readonly issueContext: () => IssueContext
}

/** The requests of each resource owner that wait for a decision: nobody fills the store with more of them. */
export interface OpenRequests {
  /** @throws Throttled when the owner has too many. */
  opened(subject: string): void
  /** One of them is over, or was never kept. */
  ended(subject: string): void
}

/** What the host does for the authorization endpoint. What it throws is told to the client as `server_error`. */
export interface Host {
  /** Hears that the client of the request is registered. */
  clientFound(): void
  /** Who is logged in; undefined for nobody. */
  resourceOwner(): Promise<ResourceOwner | undefined>
  /** Whether the owner's approval is established already, so that nobody need be asked. */
  skipConsent(question: PriorConsentQuestion): Promise<boolean>
  /** Answers with a login, after which the same request may be made again. */
  logIn(): Promise<void>
  /** Answers with the question; the decision comes as another request. */
  ask(question: Question): Promise<void>
}

/** What becomes of an authorization request. */
export type AuthorizationOutcome =
  /** The resource owner is to be told; nothing is redirected. */
  | { readonly kind: 'refused'; readonly error: OAuthError }
  /** The client is to be told. */
  | Redirection
  /** The host has answered. */
  | { readonly kind: 'answered' }

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
  host: Host,
  onCommitted?: OnCommitted,
): Promise<AuthorizationOutcome> {
  let destination: ResolvedRedirectUri
  try {
    requireEchoableState(parameters)
    destination = await resolveRedirectUri(parameters, endpoint.findClient, () => host.clientFound())
  } catch (error) {
    return { kind: 'refused', error: unexpected(error) }
  }
  try {
    return await settle(endpoint, destination, parameters, host, onCommitted)
  } catch (cause) {
    // A client would only send its owner back here: the owner is told to wait.
    if (cause instanceof Throttled && !(cause instanceof OverShare)) return { kind: 'refused', error: cause }
    const { client_id } = destination.client
    return redirectWithError(frameOf(endpoint, destination, parameters), client_id, unexpected(cause))
  }
}

async function settle(
  endpoint: AuthorizationEndpoint,
  destination: ResolvedRedirectUri,
  parameters: Parameters,
  host: Host,
  onCommitted: OnCommitted | undefined,
): Promise<AuthorizationOutcome> {
  await endpoint.requireService()
  const { responseType, scope, extensionData } = parseAuthorizationRequest(destination, parameters, endpoint)
  const resourceOwner = await host.resourceOwner()
  if (resourceOwner === undefined) {
    await host.logIn()
    return answered
  }
  const { client, redirectUri, redirectUriSent } = destination
  const requestState = parameters.get('state')
  const request = { responseType: responseType.name, redirectUri, redirectUriSent, requestState }
  const { subject } = resourceOwner
  const context = endpoint.issueContext()
  const { client_id: clientId, token_type: tokenType = endpoint.tokenType } = client
  const proposal = { clientId, subject, scope, tokenType, extensionData, request }
  const isKnown =
    mayHavePriorConsent(client, responseType, redirectUri) &&
    (await host.skipConsent({ clientId, subject, scope, redirectUri }))
  if (isKnown) return approveAtOnce(endpoint, responseType, proposal, context, onCommitted)
  const { pending, handle } = createPendingAuthorization(proposal, context)
  await keepOpen(endpoint, pending, context)
  await host.ask({ client, resourceOwner, scope, redirectUri, handle })
  return answered
}

const answered: AuthorizationOutcome = { kind: 'answered' }

async function approveAtOnce(
  endpoint: AuthorizationEndpoint,
  responseType: ResponseType,
  proposal: AuthorizationProposal,
  context: IssueContext,
  onCommitted: OnCommitted | undefined,
): Promise<Redirection> {
  const { issuerDigest, random } = context
  const proposed = { id: createId(random), issuerDigest, ...proposal }
  const { authorization, redirection } = approve(endpoint, responseType, proposed, context)
  await begin(endpoint.store, authorization, random)
  onCommitted?.({ authorization, event: approvalEvent(authorization, responseType.name) })
  return redirection
}

async function keepOpen(
  { store, openRequests }: AuthorizationEndpoint,
  pending: Pending,
  { random }: IssueContext,
): Promise<void> {
  openRequests.opened(pending.subject)
  try {
    await begin(store, pending, random)
  } catch (error) {
    openRequests.ended(pending.subject)
    throw error
  }
}

// RFC 6749 4.1.2.1 wants the state in every redirect: with one that no URI can hold there is none. A deviation, and only a
// form can bring so much.
function requireEchoableState(parameters: Parameters): void {
  if ((parameters.received('state')?.length ?? 0) > longestEchoedState)
    throw invalidRequest('parameter_too_long', 'The parameter state is too long.')
}

// A faulty parameter counts as absent here: the error is about something, and it must still be sent.
function frameOf(
  { issuer, errorUri, responseTypes }: AuthorizationEndpoint,
  { redirectUri }: ResolvedRedirectUri,
  parameters: Parameters,
): ResponseFrame {
  const responseType = responseTypes.get(parameters.peek('response_type') ?? '')
  return { redirectUri, responseType, requestState: parameters.received('state'), issuer, errorUri }
}

/** What the host is asked about: whether this owner's approval of it is established already (RFC 6749 4.1.1). */
export interface PriorConsentQuestion {
  readonly clientId: string
  /** The resource owner who is logged in. */
  readonly subject: string
  /** What is asked for now, which may be more than was approved before. */
  readonly scope: readonly string[]
  readonly redirectUri: string
}

/**
 * Whether an approval may be taken as given for the request at all. RFC 6749 10.2, RFC 8252 8.6: not where another app could
 * pass for the client, which a public one at anything but https cannot prevent; and never where a token is in the answer.
 */
export function mayHavePriorConsent(
  { client_type }: Client,
  { grantTypes }: ResponseType,
  redirectUri: string,
): boolean {
  const isTold = client_type === 'confidential' || protocolOf(redirectUri) === 'https:'
  return isTold && grantTypes.every((name) => name === 'authorization_code')
}

/** Reads what the host's `skipConsent` function returned. @throws TypeError for what is merely truthy. */
export function parsePriorConsent(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw new TypeError('The option skipConsent must return true or false.')
}
