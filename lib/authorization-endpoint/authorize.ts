import { ownerName } from '../authorization/owners'
import { type OwnerProposal, refusalForOwner } from '../authorization/requested'
import { end } from '../authorization/commit'
import { hasLetIn } from '../authorization/owner-entries'
import type { OwnerAnswerTo } from '../authorization/remembered-consent'
import type { IssueContext, OnCommitted } from '../authorization/transition'
import { type Eventual, following, isLater } from '../primitives/concurrency'
import { type Client, isRegisteredByHost } from '../protocol/client'
import type { ConsentFact } from '../protocol/extension'
import { loginOf, type LoginRequest, plainLogin, type ResourceOwner } from '../protocol/resource-owner'
import { isForOwner, OAuthError } from '../protocol/oauth-error'
import { refused, unexpected } from '../protocol/refusals'
import { longestEchoedState, type Parameters } from '../protocol/parameters'
import type { OwnerQuestion } from '../protocol/owner-question'
import { isInsecure } from '../protocol/redirect-uri'
import type { Scope } from '../protocol/scope'
import { protocolOf } from '../protocol/uri'
import type { Context } from '../doors/context'
import { contextOf } from './approve-request'
import { asksOnPage, offeredBy, type OwnerHost, OwnerQuestions } from './ask-owner'
import {
  type ClientFinder,
  destinationOf,
  type ParsedAuthorizationRequest,
  parseAuthorizationRequest,
  proposalOf,
  requireClient,
  type ResolvedRedirectUri,
} from './authorization-request'
import { frameOf, type Redirection, redirectWithError } from './authorization-response'
import { withOffer } from './consent-offer'
import { findDemandedLogin, prolong, keepDemand } from './demanded-login'
import { accountSwitchOf } from './login-return'
import { aboutOwner, type Look, lookAtOwner } from './look-at-owner'
import { type ApprovableProposal, approveAtOnce, keepOpen } from './open-request'
import { demandsLogin } from './requested-login'
import { type ClaimedRequest, resolveRequest, type SettledRequest } from './resolve-request'
import { modeIn, namedMode } from '../protocol/response-types'
import { settleDecision } from './settle-decision'

export interface LoginDemand {
  /** For the URL to which the login returns; undefined if the request names its record. */
  readonly reference: string | undefined
  readonly request: LoginRequest
}

/** If a function throws anything but an `OAuthError`, the client gets `server_error`. */
export interface Host extends OwnerHost, ClientFinder {
  /** Runs if extensions have replaced them, with those that count. */
  parametersReplaced(parameters: Parameters): void
  findOwner(): Eventual<ResourceOwner | undefined>
  logIn(demand: LoginDemand): Promise<void>
  ask(question: Question): unknown
}

export type AuthorizationOutcome =
  /** The owner sees a page, without a redirect. */
  | { readonly kind: 'refused'; readonly error: OAuthError }
  | Redirection
  /** The host has sent a login or a consent page. */
  | { readonly kind: 'answered' }

export interface Question {
  readonly client: Client
  readonly resourceOwner: ResourceOwner
  readonly scope: Scope
  readonly facts: readonly ConsentFact[]
  /** Undefined if the client polls. */
  readonly redirectUri: string | undefined
  /** Another page posts the response, so the form of this page never ends at the client. Default: false. */
  readonly isPosted?: boolean
  /** What the owner may leave out. */
  readonly optional: Scope
  readonly allowedBefore: Scope
  readonly asked: OwnerQuestion | undefined
  /** The query of the same request after the choice of an account; undefined if the request is good only once. */
  readonly switchAccount: string | undefined
  readonly consentToken: string
}

/** RFC 6749 4.1.1. If the owner has approved before, sends the code at once. */
export const authorize = (
  server: Context,
  received: Parameters,
  host: Host,
  onCommitted?: OnCommitted,
): Promise<AuthorizationOutcome> => take(server, () => settle(server, received, host), host, onCommitted)

/** A request whose client polls, once its owner brings it. */
export const enter = (server: Context, entered: SettledRequest, host: Host): Promise<AuthorizationOutcome> =>
  take(server, () => entered, host, undefined)

async function take(
  server: Context,
  settling: () => Eventual<SettledRequest>,
  host: Host,
  onCommitted: OnCommitted | undefined,
): Promise<AuthorizationOutcome> {
  let settled: SettledRequest | undefined
  try {
    const found = settling()
    settled = isLater(found) ? await found : found
    if (server.requireService !== undefined) await server.requireService()
    const { destination, parameters, received } = settled
    const { client, redirectUri } = destination
    const parsing = parseAuthorizationRequest(destination, parameters, server)
    const parsed = isLater(parsing) ? await parsing : parsing
    // An approval never counts as younger than the look at its owner.
    const context = contextOf(server, client, server.now())
    const owner = host.findOwner()
    const resourceOwner = isLater(owner) ? await owner : owner
    const ofAnother = settled.claimed && refusalForOwner(settled.claimed.record, resourceOwner?.subject)
    if (ofAnother !== undefined) throw ofAnother
    const demanded = settled.claimed ?? findDemandedLogin(server, settled, resourceOwner, context, host)
    const claimed = isLater(demanded) ? await demanded : demanded
    const questions = new OwnerQuestions(
      server,
      { client, redirectUri, parameters, parsed, resourceOwner },
      host,
    )
    const { requestedLogin } = parsed
    const waiting = { settled, claimed, parsed, context }
    const looking = lookAt(server, waiting, resourceOwner, questions)
    const { login, verdict } = isLater(looking) ? await looking : looking
    if (resourceOwner === undefined || login !== undefined) {
      const isPlain = verdict !== 'log in' && !demandsLogin(requestedLogin)
      const needed = { login, isPlain, isLoggedIn: resourceOwner !== undefined }
      return await sendToLogin(server, waiting, needed, host)
    }
    const lacks = server.plugIns.askOwner.length > 0 && (await questions.lacksAnswer())
    const asks = lacks || verdict === 'ask' || requestedLogin?.prompts.has('consent') === true
    const approving = !asks && (verdict === 'approve' ? questions.mayApprove : questions.hasApproved())
    const isApproved = isLater(approving) ? await approving : approving
    if (!isApproved && requestedLogin?.prompts.has('none') === true)
      throw refused(silently(lacks, questions.mayApprove))
    const { subject } = resourceOwner
    const unclaimed = proposalOf(destination, parameters, parsed, server.settings.tokenType)
    const proposal = { ...unclaimed, subject, login: loginOf(resourceOwner) }
    if (isApproved) {
      const answer = server.plugIns.askOwner.length > 0 ? await questions.answer() : undefined
      const confirming = questions.restsOnMemory ? withConfirmation(server, questions) : server
      return await approveNow(confirming, waiting, proposal, answer, onCommitted)
    }
    const question = await ask(server, waiting, proposal, questions)
    const isRepeatable = settled.claimed === undefined && parameters === received
    const switchAccount = isRepeatable ? accountSwitchOf(received) : undefined
    const shown = host.ask({ ...question, resourceOwner, switchAccount })
    if (isLater(shown)) await shown
    return answered
  } catch (cause) {
    // The server has no URI yet that it may redirect to, or never has one.
    return settled === undefined ? onPage(cause) : toClient(server, settled, host, cause)
  }
}

const answered: AuthorizationOutcome = { kind: 'answered' }
const onPage = (cause: unknown): AuthorizationOutcome => ({ kind: 'refused', error: unexpected(cause) })

/** Neither the request nor an extension says anything about the owner or the login, as in most requests. */
const saysNothing = ({ plugIns }: Context, { requestedLogin }: ParsedAuthorizationRequest) =>
  plugIns.atResourceOwner.length === 0 && requestedLogin === undefined

const anyLogin: Look = { login: plainLogin, verdict: undefined }
const noLogin: Look = { login: undefined, verdict: undefined }

function lookAt(
  server: Context,
  { settled, claimed, parsed, context }: WaitingRequest,
  owner: ResourceOwner | undefined,
  questions: OwnerQuestions,
): Eventual<Look> {
  const { responseType, scope, extensionData, requestedLogin } = parsed
  if (saysNothing(server, parsed)) return owner === undefined ? anyLogin : noLogin
  const { destination, parameters } = settled
  const { client, redirectUri } = destination
  const asked = { client, parameters, responseType, redirectUri, scope, extensionData, requestedLogin }
  const approval = {
    loginDemandedAt: claimed?.record.demandedLogin?.at,
    mayApprove: questions.mayApprove,
    hasApproved: async () => questions.hasApproved(),
  }
  return lookAtOwner(server, { ...asked, ...approval }, owner, context.now)
}

const silently = (lacksAnswer: boolean, mayApprove: boolean) =>
  lacksAnswer
    ? 'prompt_none_without_answer'
    : mayApprove
      ? 'prompt_none_without_consent'
      : 'prompt_none_without_page'

async function toClient(
  server: Context,
  { destination, parameters }: SettledRequest,
  host: Host,
  cause: unknown,
): Promise<AuthorizationOutcome> {
  if (destination.redirectUri === undefined || (cause instanceof OAuthError && isForOwner(cause)))
    return onPage(cause)
  const frame = frameOf(
    server,
    destination.client.client_id,
    requestAsSent(destination, parameters),
    modeAsSent(server, destination, parameters),
  )
  const mayRedirect =
    mayRedirectUnasked(destination) || (await awaitsError(server, destination.client, parameters, host))
  return { ...redirectWithError(frame, unexpected(cause)), asksOwner: !mayRedirect }
}

function settle(server: Context, received: Parameters, host: Host): Eventual<SettledRequest> {
  requireEchoableState(received)
  return following(
    requireClient(received.require('client_id'), server.settings.findClient, host),
    (client): Eventual<SettledRequest> =>
      server.plugIns.resolveRequest.length === 0
        ? { destination: destinationOf(client, received), parameters: received, received, claimed: undefined }
        : settleReplaced(server, received, client, host),
  )
}

async function settleReplaced(
  server: Context,
  received: Parameters,
  client: Client,
  host: Host,
): Promise<SettledRequest> {
  if (server.requireService !== undefined) await server.requireService()
  const { parameters, claimed } = await resolveRequest(server, received, client, host.sender)
  requireEchoableState(parameters)
  if (parameters !== received) host.parametersReplaced(parameters)
  return { destination: destinationOf(client, parameters), parameters, received, claimed }
}

/**
 * RFC 9700 4.11.2: a stranger chooses the redirection URIs of such a client, so a link to this server could lead to any
 * site, or start any program. On loopback, only programs of the owner listen.
 */
const mayRedirectUnasked = ({ client, redirectUri }: ResolvedRedirectUri): boolean =>
  isRegisteredByHost(client) || (protocolOf(redirectUri) === 'http:' && !isInsecure(redirectUri))

/**
 * OpenID Connect Core 3.1.2.6: an unchecked client gets the error only if the owner of this very session has let it in.
 * A stranger can approve his own client.
 */
async function awaitsError(
  { store, issuerDigest, now }: Context,
  client: Client,
  parameters: Parameters,
  host: Host,
): Promise<boolean> {
  const { owners, listsOwners } = store
  if (!listsOwners || parameters.peek('prompt') !== 'none') return false
  try {
    const owner = await host.findOwner()
    if (owner === undefined) return false
    const name = ownerName(issuerDigest, owner.subject)
    return await hasLetIn({ owners, store, now }, name, client.client_id)
  } catch {
    return false
  }
}

interface WaitingRequest {
  readonly settled: SettledRequest
  /** The record that the request uses up: of its client, or of the demanded login. */
  readonly claimed: ClaimedRequest | undefined
  readonly parsed: ParsedAuthorizationRequest
  readonly context: IssueContext
}

interface NeededLogin {
  readonly login: LoginRequest | undefined
  /** No owner is logged in, and every login is good enough: the return need not tell more. */
  readonly isPlain: boolean
  readonly isLoggedIn: boolean
}

async function sendToLogin(
  server: Context,
  { settled, claimed, parsed, context }: WaitingRequest,
  { login = plainLogin, isPlain, isLoggedIn }: NeededLogin,
  host: Host,
): Promise<AuthorizationOutcome> {
  if (parsed.requestedLogin?.prompts.has('none') === true) throw refused('prompt_none_without_login')
  const { destination, parameters, received } = settled
  const unclaimed = () => proposalOf(destination, parameters, parsed, server.settings.tokenType)
  const reference = isPlain
    ? await prolong(server, claimed, context, host)
    : await keepDemand(server, { received, unclaimed, isLoggedIn, context }, claimed, host)
  await host.logIn({ reference, request: login })
  return answered
}

function approveNow(
  server: Context,
  { settled: { destination }, claimed, parsed, context }: WaitingRequest,
  proposal: OwnerProposal,
  answer: OwnerAnswerTo | undefined,
  onCommitted: OnCommitted | undefined,
): Promise<AuthorizationOutcome> {
  const { client } = destination
  const { approving, scope } = parsed
  if (approving === undefined || !hasRedirectUri(proposal))
    throw new Error('A request without a redirection URI was approved without a page.')
  const approved = settleDecision(server.plugIns.atDecision, client, proposal, { scope, answer })
  return approveAtOnce(server, client, approving, approved, claimed, context, onCommitted)
}

const hasRedirectUri = (proposal: OwnerProposal): proposal is ApprovableProposal =>
  proposal.request !== undefined

/** Stores what waits for the decision. */
async function ask(
  server: Context,
  { settled: { destination, parameters }, claimed, parsed, context }: WaitingRequest,
  proposal: OwnerProposal,
  questions: OwnerQuestions,
): Promise<Omit<Question, 'resourceOwner' | 'switchAccount'>> {
  const { client, redirectUri } = destination
  const { scope, facts } = parsed
  const asked = server.plugIns.askOwner.length === 0 ? undefined : await questions.asked()
  const allowedBefore = server.store.consents === undefined ? [] : await questions.allowedBefore()
  const optional = scope.filter((token) => server.settings.scopes.get(token)?.optional === true)
  const offer = {
    optional,
    question: offeredBy(asked),
    memory: questions.offeredMemory(),
    aboutOwner: saysNothing(server, parsed) ? undefined : aboutOwner(server, parameters),
  }
  const extensionData = withOffer(proposal.extensionData, offer)
  const consentToken = await keepOpen(server, { ...proposal, extensionData }, claimed, context)
  return {
    client,
    scope,
    facts,
    redirectUri,
    isPosted: modeIn(proposal.extensionData, server.plugIns.responseModes)?.carrier === 'form',
    optional,
    allowedBefore,
    asked: asksOnPage(asked) ? asked?.question : undefined,
    consentToken,
  }
}

/**
 * Looks again once the approval is saved. An owner who takes the consent back meanwhile finds the entry of the
 * authorization and ends it, or else this look finds nothing.
 */
function withConfirmation(server: Context, questions: OwnerQuestions): Context {
  const { store } = server
  const save: typeof store.save = async (authorization, revision, expected) => {
    const isSaved = await store.save(authorization, revision, expected)
    if (!isSaved || (await questions.isStillRemembered())) return isSaved
    await end(store, authorization.id)
    throw refused('authorizations_revoked/consent')
  }
  return { ...server, store: { ...store, save } }
}

// Deviates from RFC 6749 4.1.2.1, which requires `state` in every redirect: one too long for a URI gets a page. Only a
// form can carry it.
export function requireEchoableState(parameters: Parameters): void {
  if ((parameters.received('state')?.length ?? 0) > longestEchoedState)
    throw refused('parameter_too_long', { parameter: 'state' })
}

// An error response must work with faulty parameters: they count as absent.
function requestAsSent({ redirectUri }: ResolvedRedirectUri, parameters: Parameters) {
  const responseType = parameters.peek('response_type') ?? ''
  return { redirectUri, responseType, requestState: parameters.received('state') }
}

const modeAsSent = ({ plugIns }: Context, { redirectUri }: ResolvedRedirectUri, parameters: Parameters) =>
  namedMode(plugIns.responseModes, parameters.peek('response_mode'), redirectUri)
