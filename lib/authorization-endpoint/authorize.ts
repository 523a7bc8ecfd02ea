import type { Pending } from '../authorization/authorization'
import { begin } from '../authorization/commit'
import { type AuthorizationProposal, createPendingAuthorization } from '../authorization/decision'
import { approvalEvent, type IssueContext, type OnCommitted } from '../authorization/transition'
import type { Client, FindClient } from '../protocol/client'
import { createId } from '../protocol/credential'
import type { ConsentFact } from '../protocol/extension'
import { invalidRequest, type OAuthError, OverShare, Throttled, unexpected } from '../protocol/oauth-error'
import { longestEchoedState, type Parameters } from '../protocol/parameters'
import type { ResourceOwner } from '../protocol/resource-owner'
import type { Scope } from '../protocol/scope'
import { isInsecure } from '../protocol/redirect-uri'
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

/** The parts of the server that the authorization endpoint uses. */
export interface AuthorizationEndpoint extends RequestRules, AnsweringEndpoint {
  /** @throws OAuthError `temporarily_unavailable` during maintenance. */
  readonly requireService: () => void | Promise<void>
  readonly findClient: FindClient
  /** The token type of a client whose registration names none. */
  readonly tokenType: string
  readonly store: AuthorizationStore
  readonly takeCached: WriteBackCache['takeCached']
  readonly openRequests: OpenRequests
  /** Waits until the client has probably redeemed a code that is on its way. */
  readonly letArrive: () => Promise<void>
  /** Makes the context of one request of this client. The extensions see each access token that it issues. */
  readonly issueContext: (client: Client) => IssueContext
}

/**
 * Counts the requests of each resource owner that wait for a decision. The limit keeps one owner from filling the
 * store.
 */
export interface OpenRequests {
  /** Counts a new request of the owner. @throws Throttled if the owner has too many open requests. */
  opened(subject: string): void
  /** Takes back the count of a request that was decided, or that the store did not keep. */
  ended(subject: string): void
}

/**
 * The functions that the host provides to the authorization endpoint. If one throws anything but an `OAuthError`, the
 * client gets `server_error`.
 */
export interface Host {
  /** Runs if the client of the request is registered. */
  clientFound(): void
  /** The resource owner who is logged in; undefined if no owner is. */
  resourceOwner(): Promise<ResourceOwner | undefined>
  /** Whether the owner has approved before. If true, the server shows no consent page. */
  skipConsent(question: PriorConsentQuestion): Promise<boolean>
  /** Sends the user agent to the login, which returns to the same request. */
  logIn(): Promise<void>
  /** Shows the consent page. The decision arrives as another request. */
  ask(question: Question): Promise<void>
}

/** The outcome of an authorization request. */
export type AuthorizationOutcome =
  /** The resource owner sees the error on a page. The server does not redirect. */
  | { readonly kind: 'refused'; readonly error: OAuthError }
  /** The client gets a success or an error by redirect. */
  | Redirection
  /** The host has sent the response: a login or a consent page. */
  | { readonly kind: 'answered' }

/** The content of a consent page. */
export interface Question {
  readonly client: Client
  readonly resourceOwner: ResourceOwner
  readonly scope: Scope
  /** What extensions add to the page. */
  readonly facts: readonly ConsentFact[]
  readonly redirectUri: string
  /** The handle of the request, which the form sends with the decision. Only the consent form knows the handle. */
  readonly handle: string
}

/**
 * Handles an authorization request up to the consent page (RFC 6749 4.1.1). If the owner has approved before, sends the
 * code at once.
 */
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
    // The resource owner sees this error on a page: a client would only send the owner back here.
    if (cause instanceof Throttled && !(cause instanceof OverShare)) return { kind: 'refused', error: cause }
    const { client_id } = destination.client
    const answer = redirectWithError(frameOf(endpoint, destination, parameters), client_id, unexpected(cause))
    return { ...answer, asksOwner: !mayRedirectUnasked(destination) }
  }
}

/**
 * Whether the server may send a user agent to the client without a decision of the resource owner (RFC 9700 4.11.2). A
 * stranger chooses its redirection URIs: a link to this server could otherwise lead to any site, or start any program.
 * On loopback, only programs of the owner listen.
 */
function mayRedirectUnasked({ client, redirectUri }: ResolvedRedirectUri): boolean {
  const isStranger = client.metadataDocument !== undefined || client.selfRegistered === true
  return !isStranger || (protocolOf(redirectUri) === 'http:' && !isInsecure(redirectUri))
}

async function settle(
  endpoint: AuthorizationEndpoint,
  destination: ResolvedRedirectUri,
  parameters: Parameters,
  host: Host,
  onCommitted: OnCommitted | undefined,
): Promise<AuthorizationOutcome> {
  await endpoint.requireService()
  const parsed = parseAuthorizationRequest(destination, parameters, endpoint)
  const { responseType, scope, extensionData, facts } = parsed
  const resourceOwner = await host.resourceOwner()
  if (resourceOwner === undefined) {
    await host.logIn()
    return answered
  }
  const { client, redirectUri, redirectUriSent } = destination
  const requestState = parameters.get('state')
  const request = { responseType: responseType.name, redirectUri, redirectUriSent, requestState }
  const { subject } = resourceOwner
  const context = endpoint.issueContext(client)
  const { client_id: clientId, token_type: tokenType = endpoint.tokenType } = client
  const proposal = { clientId, subject, scope, tokenType, extensionData, request }
  const isApproved =
    mayHavePriorConsent(client, responseType, redirectUri) &&
    (await host.skipConsent({ clientId, subject, scope, facts, redirectUri }))
  if (isApproved) return approveAtOnce(endpoint, responseType, proposal, context, onCommitted)
  const { pending, handle } = createPendingAuthorization(proposal, context)
  await keepOpen(endpoint, pending, context)
  await host.ask({ client, resourceOwner, scope, facts, redirectUri, handle })
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

// RFC 6749 4.1.2.1 requires `state` in every redirect. A `state` that is too long for a URI therefore gets a page
// instead of a redirect, which deviates from the RFC. Only a form can carry such a long value.
function requireEchoableState(parameters: Parameters): void {
  if ((parameters.received('state')?.length ?? 0) > longestEchoedState)
    throw invalidRequest('parameter_too_long', 'The parameter state is too long.')
}

// The server must send an error even if the parameters of the response are faulty themselves. A faulty parameter
// therefore counts as absent here.
function frameOf(
  { issuer, errorUri, responseTypes }: AuthorizationEndpoint,
  { redirectUri }: ResolvedRedirectUri,
  parameters: Parameters,
): ResponseFrame {
  const responseType = responseTypes.get(parameters.peek('response_type') ?? '')
  return { redirectUri, responseType, requestState: parameters.received('state'), issuer, errorUri }
}

/** The request that the option `skipConsent` decides about: has this owner approved it before (RFC 6749 4.1.1)? */
export interface PriorConsentQuestion {
  /** The identifier of the client. */
  readonly clientId: string
  /** The resource owner who is logged in. */
  readonly subject: string
  /** The scope of this request, which may exceed the scope that the owner approved before. */
  readonly scope: readonly string[]
  /**
   * What extensions add to the consent page, such as the resources that the access is for. An earlier approval without
   * these facts is no approval of this request.
   */
  readonly facts: readonly ConsentFact[]
  /** The redirection URI of the request. */
  readonly redirectUri: string
}

/**
 * Whether an earlier approval may stand for this request at all. A public client must have an https redirection URI: at
 * any other URI, another app could pass for the client (RFC 6749 10.2, RFC 8252 8.6). A response that carries a token
 * always needs a new approval.
 */
export function mayHavePriorConsent(
  { client_type }: Client,
  { grantTypes }: ResponseType,
  redirectUri: string,
): boolean {
  const isProvenClient = client_type === 'confidential' || protocolOf(redirectUri) === 'https:'
  return isProvenClient && grantTypes.every((name) => name === 'authorization_code')
}

/** Reads the result of the host's `skipConsent` function. @throws TypeError for anything but true and false. */
export function parsePriorConsent(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw new TypeError('The option skipConsent must return true or false.')
}
