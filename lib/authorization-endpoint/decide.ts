import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type {
  Approved,
  Authorization,
  Requested,
  RequestedAuthorization,
} from '../authorization/authorization'
import { commit } from '../authorization/commit'
import { completes } from '../authorization/complete-issue'
import {
  approveForPolls,
  type Answer,
  answerIn,
  deny,
  findAsked,
  findDecidable,
  isRedirectable,
  type OwnersDecision,
  type OwnersRequest,
  type RepeatableApproval,
  requestExpired,
  requestNotOpen,
} from '../authorization/requested'
import { isSameCode, repeatable, withForm } from '../authorization/repetition'
import { namesOf } from '../authorization/owner-entries'
import {
  approvalEvent,
  type IssueContext,
  type OnCommitted,
  type SuccessfulResult,
  type TransitionResult,
  unchanged,
} from '../authorization/transition'
import { type Eventual, following, isLater } from '../primitives/concurrency'
import type { Client } from '../protocol/client'
import type { LoginRequest, Login } from '../protocol/resource-owner'
import { createSalt, credentialId } from '../protocol/credential'
import { isForOwner, OAuthError } from '../protocol/oauth-error'
import { Parameters } from '../protocol/parameters'
import { refused, unexpected, UnusableClient, type Reason } from '../protocol/refusals'
import { isRegisteredRedirectUri } from '../protocol/redirect-uri'
import { requireScope, type Scope } from '../protocol/scope'
import type { Sender } from '../protocol/sender'
import type { Context } from '../doors/context'
import {
  type ApprovedRequest,
  approveRequest,
  completeApproval,
  contextOf,
  frameOfRecord,
  type Redirection,
  redirectWithError,
} from './authorization-response'
import {
  authorizeRequest,
  checkRequest,
  type ClientFinder,
  requireClient,
  requireRedirectUri,
  requireResponseType,
} from './authorization-request'
import { type Granted, grantedBy, type OfferedMemory, offerIn, settleDecision } from './consent-offer'
import { choiceKey, type RememberedDecision } from '../authorization/remembered-consent'
import { type Selection, selectionText } from '../protocol/owner-question'

interface Decision extends OwnersDecision {
  /** For the tokens; undefined if the host does not say when. */
  readonly login: Login | undefined
  /**
   * Seconds since the epoch, before the owner was read: the time of the approval, so what the owner takes back
   * meanwhile includes it.
   */
  readonly ownerReadAt: number
  readonly selection: Selection
  readonly finder: ClientFinder
  /** Of a client that polls. Default: the client gets a redirect. */
  readonly grantType?: string
}

export type DecisionOutcome =
  /** Where no redirect leads to the client. */
  | { readonly kind: 'login'; readonly login: LoginRequest }
  /** The client polls, or the server cannot send a response twice. */
  | { readonly kind: 'done'; readonly client: Client; readonly answer: Answer }
  | Redirection

type DecisionStep =
  | DecisionOutcome
  | {
      readonly kind: 'settled'
      readonly answer: Answer
      readonly remembered: RememberedDecision | undefined
      /** Undefined if the client polls. */
      readonly approved: ApprovedRequest | undefined
    }
  /** The code of an earlier approval may be on its way to the client. */
  | { readonly kind: 'early' }

// Milliseconds: clients usually redeem a code sooner.
const timeToArrive = 1000

// Seconds after the approval.
const onItsWay = 2

/**
 * RFC 6749 4.1.2. A repeated decision gets the same response while that is valid.
 *
 * @throws what the owner sees on a page.
 */
export async function decide(
  server: Context,
  decision: Decision,
  onCommitted?: OnCommitted,
  hasWaited = false,
): Promise<DecisionOutcome> {
  const deciding = await findDeciding(server, decision, hasWaited)
  const { id, found, client, context } = deciding
  let step: DecisionStep
  try {
    const looking = lookAnew(deciding)
    const login = isLater(looking) ? await looking : looking
    if (login !== undefined && decision.grantType === undefined) throw refused('login_changed')
    if (login !== undefined) return { kind: 'login', login }
    step = await commit(server.store, id, (current) => stepOf(current, deciding), context.random, {
      cached: found,
      onCommitted,
      complete: completes(server) ? (result) => completed(result, deciding) : undefined,
    })
  } catch (cause) {
    return toClient(deciding, unexpected(cause))
  }
  if (step.kind === 'early') {
    await setTimeout(timeToArrive)
    return decide(server, decision, onCommitted, true)
  }
  if (step.kind !== 'settled') return step
  // A denied request counts as open until it expires.
  server.limits.openRequests.ended(decision.subject)
  if (step.remembered !== undefined) await remember(deciding, step.remembered)
  return step.approved?.redirection ?? { kind: 'done', client, answer: step.answer }
}

/** The client has its code: after a failure, the owner is only asked again. */
async function remember(
  { server, decision: { subject }, found, client }: Deciding,
  decided: RememberedDecision,
): Promise<void> {
  const { audit, store } = server
  const clientId = client.client_id
  const names = namesOf(found.authorization)
  if (store.consents === undefined || names === undefined) return
  try {
    await store.consents.remember(subject, clientId, decided, names)
  } catch (cause) {
    const reason: Reason = 'consent_not_remembered'
    audit.reportLateFailure({ endpoint: 'authorization', clientId, subject }, reason, cause)
  }
}

export async function findAskingClient(
  { store, settings }: Context,
  consentToken: string,
  sender: Sender,
): Promise<Client | undefined> {
  const id = credentialId('authorizationRequest', consentToken)
  if (id === undefined) return undefined
  const asked = findAsked((await store.find(id))?.authorization, { consentToken })
  if (asked instanceof OAuthError) return undefined
  try {
    return await settings.findClient(asked.clientId, sender)
  } catch (error) {
    // A page leads back to no client whose document cannot be used.
    if (error instanceof UnusableClient) return undefined
    throw error
  }
}

type Deciding = Awaited<ReturnType<typeof findDeciding>>

async function findDeciding(server: Context, decision: Decision, hasWaited: boolean) {
  const id = credentialId('authorizationRequest', decision.consentToken)
  if (id === undefined) throw refused('authorization_request_unknown')
  if (server.requireService !== undefined) await server.requireService()
  const own = server.store.takeCached(id)
  // Another process may have given the form to another owner since.
  const isOfForm = own !== undefined && !(findAsked(own.authorization, decision) instanceof OAuthError)
  const found = isOfForm ? own : await server.store.find(id)
  if (found === undefined || isOfOtherPage(found.authorization, decision)) throw requestNotOpen()
  // The host may have disabled the client: an implicit grant would still give a token.
  const asking = requireClient(found.authorization.clientId, server.settings.findClient, decision.finder)
  const client = isLater(asking) ? await asking : asking
  const context = contextOf(server, client, decision.ownerReadAt)
  return { server, decision, hasWaited, id, found, client, context }
}

function isOfOtherPage(found: Authorization, { grantType }: Decision): boolean {
  if (found.state === 'active') return false
  const isPolled = found.state === 'requested' && found.request === undefined
  return isPolled !== (grantType !== undefined)
}

/** The tokens tell the login that decides, not that of the page. */
function lookAnew({ server, decision, found, client }: Deciding): Eventual<LoginRequest | undefined> {
  const { approved, subject, login } = decision
  const now = server.now()
  const asked = findDecidable(found.authorization, decision, now)
  if (!approved || asked instanceof OAuthError || asked.state !== 'requested') return undefined
  if (asked.decision !== undefined || isDeepStrictEqual(asked.login, login)) return undefined
  const { extensionData, request, demandedLogin } = asked
  const { parameters } = offerIn(extensionData)
  if (parameters === undefined) return undefined
  const destination =
    request === undefined
      ? { client, redirectUri: undefined, grantType: decision.grantType ?? '' }
      : { client, ...request }
  const checked = checkRequest(destination, Parameters.parse(parameters), server)
  return following(
    authorizeRequest(server, checked, { subject, ...login }, demandedLogin, now),
    ({ missingLogin }) => missingLogin,
  )
}

async function completed(
  result: SuccessfulResult<DecisionStep>,
  { server, client, context }: Deciding,
): Promise<SuccessfulResult<DecisionStep>> {
  const { outcome } = result
  if (outcome.kind !== 'settled' || outcome.approved === undefined) return result
  const approved = await completeApproval(server, client, outcome.approved, context.now)
  return { ...result, outcome: { ...outcome, approved }, event: approved.event }
}

function stepOf(current: Authorization | undefined, deciding: Deciding): TransitionResult<DecisionStep> {
  const { server, decision, hasWaited, client, context } = deciding
  if (decision.grantType !== undefined) return polledStep(current, deciding)
  const decidable = findDecidable(current, decision, context.now)
  if (decidable instanceof OAuthError) return unchanged(decidable)
  if (!isRedirectable(decidable)) return doneBefore(client)
  // The client may have lost the redirection URI meanwhile.
  requireRedirectUri(client, decidable.request.redirectUri)
  if (decidable.state === 'approved') {
    if (!hasWaited && isOnItsWay(decidable, context)) return { action: 'none', outcome: { kind: 'early' } }
    return repeatApproval(decidable, deciding)
  }
  if (decidable.decision === 'denied') return { action: 'touch', outcome: denial(server, decidable) }
  return decision.approved
    ? approvalStep(decidable, deciding)
    : { action: 'save', authorization: deny(decidable), outcome: denial(server, decidable) }
}

const doneBefore = (client: Client): TransitionResult<DecisionStep> => ({
  action: 'none',
  outcome: { kind: 'done', client, answer: 'approved' },
})

/** Only the first decision counts; later ones get its answer. */
function polledStep(current: Authorization | undefined, deciding: Deciding): TransitionResult<DecisionStep> {
  const { decision, client, context } = deciding
  const { subject, login } = decision
  const asked = findAsked(current, decision)
  if (asked instanceof OAuthError) return unchanged(asked)
  const answer = answerIn(asked)
  if (answer !== undefined) return { action: 'touch', outcome: { kind: 'done', client, answer } }
  if (asked.state !== 'requested') return unchanged(requestNotOpen())
  if (asked.expiresAt <= context.now) return unchanged(requestExpired())
  if (!decision.approved) return { action: 'save', authorization: deny(asked), outcome: settledAs('denied') }
  const { settled, remembered } = settledBy({ ...asked, subject, login }, deciding)
  return {
    action: 'save',
    authorization: approveForPolls(settled, context),
    outcome: settledAs('approved', remembered),
  }
}

const settledAs = (
  answer: Answer,
  remembered?: RememberedDecision,
  approved?: ApprovedRequest,
): DecisionStep => ({ kind: 'settled', answer, remembered, approved })

// RFC 6749 4.1.2: the client may have the redirect that the browser dropped, and a second redemption of the code would
// revoke the tokens.
const isOnItsWay = ({ code }: Approved, { now, lifetimes }: IssueContext): boolean =>
  now < code.expiresAt - lifetimes.authorizationCode + onItsWay

const denial = (server: Context, requested: RequestedAuthorization): Redirection =>
  redirectWithError(frameOfRecord(server, requested), refused('owner_denied'))

/** @throws OAuthError for what the page did not offer. */
function settledBy<Asked extends Omit<Requested, 'subject'> & { readonly subject: string }>(
  requested: Asked,
  { decision, client, context }: Deciding,
) {
  const offer = offerIn(requested.extensionData)
  const granted = grantedBy(decision.selection, requested.scope, offer)
  const settled = settleDecision(requested, granted)
  requireScope(client, settled.scope)
  return { settled, remembered: rememberedOf(offer.memory, requested.scope, granted, context.now) }
}

function approvalStep(requested: OwnersRequest, deciding: Deciding): TransitionResult<DecisionStep> {
  const { decision, context } = deciding
  const { settled, remembered } = settledBy({ ...requested, login: decision.login }, deciding)
  const salt = createSalt(context.random)
  const approved = approvedBy(settled, salt, deciding)
  return {
    action: 'save',
    authorization: withForm(approved.authorization, requested, salt),
    outcome: settledAs('approved', remembered, approved),
    event: approved.event,
  }
}

function approvedBy(
  requested: RequestedAuthorization,
  salt: string,
  { server, decision, client, context }: Deciding,
): ApprovedRequest {
  const { responseTypes } = server.plugins
  const responseType = requireResponseType(client, requested.request.responseType, responseTypes)
  const again = repeatable(context, decision.consentToken, salt, selectionText(decision.selection))
  return approveRequest(server, responseType, requested, again)
}

function repeatApproval(before: RepeatableApproval, deciding: Deciding): TransitionResult<DecisionStep> {
  const { client } = deciding
  requireScope(client, before.scope)
  const { authorization, redirection, responseType } = approvedBy(before, before.code.salt, deciding)
  if (!isSameCode(authorization, before)) return doneBefore(client)
  return {
    action: 'touch',
    outcome: redirection,
    event: approvalEvent(before, responseType.name, 'repeated'),
  }
}

function rememberedOf(
  memory: OfferedMemory | undefined,
  shown: Scope,
  { scope: allowed, answer }: Granted,
  at: number,
): RememberedDecision | undefined {
  if (memory === undefined) return undefined
  const { fingerprint, facts, claims } = memory
  const withClaims = (scope: Scope) => [...scope, ...claims]
  const decided = { shown: withClaims(shown), allowed: withClaims(allowed) }
  return { fingerprint, facts, at, choice: choiceKey(answer), ...decided }
}

/** The owner gets the error if the decision is not good for the client's request. */
function toClient({ server, decision, found, client, context }: Deciding, error: OAuthError): Redirection {
  const decidable = findDecidable(found.authorization, decision, context.now)
  const isAnswerable =
    !isForOwner(error) &&
    !(decidable instanceof OAuthError) &&
    isRedirectable(decidable) &&
    isRegisteredRedirectUri(client, decidable.request.redirectUri)
  if (!isAnswerable) throw error
  return redirectWithError(frameOfRecord(server, decidable), error)
}
