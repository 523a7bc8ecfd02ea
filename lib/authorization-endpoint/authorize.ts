import { end } from '../authorization/commit'
import { hasLetIn } from '../authorization/owner-entries'
import type { OwnerAnswerTo } from '../authorization/remembered-consent'
import { type OwnerProposal, refusalForOwner } from '../authorization/requested'
import type { OnCommitted } from '../authorization/transition'
import type { Context } from '../doors/context'
import { type Eventual, following, isLater } from '../primitives/concurrency'
import { type Client, isRegisteredByHost } from '../protocol/client'
import { noEvidence } from '../protocol/extension-data'
import { isForOwner, OAuthError } from '../protocol/oauth-error'
import { longestEchoedState, type Parameters } from '../protocol/parameters'
import { isInsecure } from '../protocol/redirect-uri'
import { refused, unexpected } from '../protocol/refusals'
import { loginOf, plainLogin, type ResourceOwner } from '../protocol/resource-owner'
import { modeIn, namedMode } from '../protocol/response-types'
import { protocolOf } from '../protocol/uri'
import { asksOnPage, offeredBy, OwnerQuestions } from './ask-owner'
import {
  authorizeRequest,
  checkRequest,
  destinationOf,
  parametersToKeep,
  requireClient,
  type ResolvedRedirectUri,
} from './authorization-request'
import { contextOf, frameOf, type Redirection, redirectWithError } from './authorization-response'
import { settleDecision, withOffer } from './consent-offer'
import {
  accountSwitchOf,
  type ApprovableProposal,
  approveAtOnce,
  findDemandedLogin,
  keepForLogin,
  keepOpen,
} from './open-request'
import { demandsLogin } from './requested-login'
import { findClaimed, replaceParameters } from './resolve-request'
import type { Host, Question, SettledRequest, Visit } from './visit'

export type AuthorizationOutcome =
  | Redirection
  /** The host has sent a page. */
  | { readonly kind: 'answered' }

/** RFC 6749 4.1.1. @throws what the owner sees on a page. */
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
    const { destination, parameters } = settled
    const { client, redirectUri } = destination
    const checked = checkRequest(destination, parameters, server)
    // An approval never counts as younger than the look at its owner.
    const context = contextOf(server, client, server.now())
    const finding = host.findOwner()
    const owner = isLater(finding) ? await finding : finding
    const ofAnother = settled.claimed && refusalForOwner(settled.claimed.record, owner?.subject)
    if (ofAnother !== undefined) throw ofAnother
    const demanded = settled.claimed ?? findDemandedLogin(server, settled, owner)
    const claimed = isLater(demanded) ? await demanded : demanded
    const demandedLogin = claimed?.record.demandedLogin
    const authorizing = authorizeRequest(server, checked, owner, demandedLogin, context.now)
    const parsed = isLater(authorizing) ? await authorizing : authorizing
    const visit = { server, host, settled, client, redirectUri, parsed, context, owner, claimed }
    const questions = new OwnerQuestions(visit)
    const { requestedLogin, demandedClasses, missingLogin: login, consent } = parsed
    const isSilent = requestedLogin?.prompts.has('none') === true
    if (owner === undefined || login !== undefined) {
      if (isSilent) throw refused('prompt_none_without_login')
      const isPlain = demandedClasses === undefined && !demandsLogin(requestedLogin)
      const reference = await keepForLogin(visit, isPlain)
      await host.logIn({ reference, request: login ?? plainLogin })
      return answered
    }
    const mayAsk = parsed.questions.length > 0
    const lacks = mayAsk && (await questions.lacksAnswer())
    const asks = lacks || consent === 'ask' || requestedLogin?.prompts.has('consent') === true
    const approving = !asks && (consent === 'approve' ? questions.mayApprove : questions.hasApproved())
    const isApproved = isLater(approving) ? await approving : approving
    if (!isApproved && isSilent) throw refused(silently(lacks, questions.mayApprove))
    const proposal = { ...parsed.proposal, subject: owner.subject, login: loginOf(owner) }
    if (isApproved) {
      const answer = mayAsk ? await questions.answer() : undefined
      return await approveNow(visit, proposal, questions, answer, onCommitted)
    }
    const shown = host.ask(await questionFor(visit, owner, proposal, questions))
    if (isLater(shown)) await shown
    return answered
  } catch (cause) {
    // There is no URI yet that the server may redirect to, or never one.
    if (settled === undefined) throw cause
    return toClient(server, settled, host, cause)
  }
}

const answered: AuthorizationOutcome = { kind: 'answered' }

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
): Promise<Redirection> {
  if (destination.redirectUri === undefined || (cause instanceof OAuthError && isForOwner(cause))) throw cause
  const { client, redirectUri } = destination
  // An error response must work with faulty parameters: they count as absent.
  const responseType = parameters.peek('response_type') ?? ''
  const asSent = { redirectUri, responseType, requestState: parameters.received('state') }
  const mode = namedMode(server.plugins.responseModes, parameters.peek('response_mode'), redirectUri)
  const frame = frameOf(server, client.client_id, asSent, mode)
  const mayRedirect = mayRedirectUnasked(destination) || (await awaitsError(server, client, parameters, host))
  return { ...redirectWithError(frame, unexpected(cause)), asksOwner: !mayRedirect }
}

function settle(server: Context, received: Parameters, host: Host): Eventual<SettledRequest> {
  requireEchoableState(received)
  return following(
    requireClient(received.require('client_id'), server.settings.findClient, host),
    (client): Eventual<SettledRequest> =>
      server.plugins.resolve.length === 0
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
  const arrival = { isPushed: false, evidence: noEvidence, sender: host.sender }
  const { parameters, handle } = await replaceParameters(server, received, client, arrival)
  const claimed = handle === undefined ? undefined : await findClaimed(server, handle, client)
  requireEchoableState(parameters)
  if (parameters !== received) host.parametersReplaced(parameters)
  return { destination: destinationOf(client, parameters), parameters, received, claimed }
}

/**
 * RFC 9700 4.11.2: a stranger chooses the redirection URIs of such a client, so a link here could lead anywhere. On
 * loopback, only programs of the owner listen.
 */
const mayRedirectUnasked = ({ client, redirectUri }: ResolvedRedirectUri): boolean =>
  isRegisteredByHost(client) || (protocolOf(redirectUri) === 'http:' && !isInsecure(redirectUri))

/**
 * OpenID Connect Core 3.1.2.6: an unchecked client gets the error only if the owner of this very session has let it in:
 * a stranger can approve his own client.
 */
async function awaitsError(
  server: Context,
  client: Client,
  parameters: Parameters,
  host: Host,
): Promise<boolean> {
  if (!server.store.listsOwners || parameters.peek('prompt') !== 'none') return false
  try {
    const owner = await host.findOwner()
    return owner !== undefined && (await hasLetIn(server, owner.subject, client.client_id))
  } catch {
    return false
  }
}

function approveNow(
  visit: Visit,
  proposal: OwnerProposal,
  questions: OwnerQuestions,
  answer: OwnerAnswerTo | undefined,
  onCommitted: OnCommitted | undefined,
): Promise<AuthorizationOutcome> {
  const { approving, scope } = visit.parsed
  if (approving === undefined || !hasRedirectUri(proposal))
    throw new Error('A request without a redirection URI was approved without a page.')
  const approved = settleDecision(proposal, { scope, answer })
  const confirming = questions.restsOnMemory ? withConfirmation(visit, questions) : visit
  return approveAtOnce(confirming, approving, approved, onCommitted)
}

const hasRedirectUri = (proposal: OwnerProposal): proposal is ApprovableProposal =>
  proposal.request !== undefined

async function questionFor(
  visit: Visit,
  resourceOwner: ResourceOwner,
  proposal: OwnerProposal,
  questions: OwnerQuestions,
): Promise<Question> {
  const { server, settled, client, redirectUri, parsed } = visit
  const { scope, facts } = parsed
  const asked = parsed.questions.length === 0 ? undefined : await questions.asked()
  const allowedBefore = server.store.consents === undefined ? [] : await questions.allowedBefore()
  const optional = scope.filter((token) => server.settings.scopes.get(token)?.optional === true)
  // Of the owner or the login.
  const saysNothing = !server.plugins.looksAtOwners && parsed.requestedLogin === undefined
  const extensionData = withOffer(proposal.extensionData, {
    optional,
    question: offeredBy(asked),
    memory: questions.offeredMemory(),
    parameters: saysNothing ? undefined : parametersToKeep(settled.parameters, server),
  })
  const isRepeatable = settled.claimed === undefined && settled.parameters === settled.received
  return {
    client,
    resourceOwner,
    scope,
    facts,
    redirectUri,
    isPosted: modeIn(proposal.extensionData, server.plugins.responseModes)?.carrier === 'form',
    optional,
    allowedBefore,
    asked: asksOnPage(asked) ? asked?.question : undefined,
    switchAccount: isRepeatable ? accountSwitchOf(settled.received) : undefined,
    consentToken: await keepOpen(visit, { ...proposal, extensionData }),
  }
}

/** Looks again once the approval is saved: the owner may take the consent back meanwhile. */
function withConfirmation(visit: Visit, questions: OwnerQuestions): Visit {
  const { store } = visit.server
  const save: typeof store.save = async (authorization, revision, expected) => {
    const isSaved = await store.save(authorization, revision, expected)
    if (!isSaved || (await questions.isStillRemembered())) return isSaved
    await end(store, authorization.id)
    throw refused('authorizations_revoked/consent')
  }
  return { ...visit, server: { ...visit.server, store: { ...store, save } } }
}

// Deviates from RFC 6749 4.1.2.1: a `state` too long for a URI, which only a form can carry, gets a page.
export function requireEchoableState(parameters: Parameters): void {
  if ((parameters.received('state')?.length ?? 0) > longestEchoedState)
    throw refused('parameter_too_long', { parameter: 'state' })
}
