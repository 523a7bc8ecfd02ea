import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Approved, Authorization, Pending, RequestedAuthorization } from '../authorization/authorization'
import { commit } from '../authorization/commit'
import { completes } from '../authorization/complete-issue'
import {
  type ConsentDecision,
  deny,
  findAsked,
  findDecidable,
  repeatable,
  requestNotOpen,
  requestOf,
  withForm,
} from '../authorization/decision'
import { namesOf } from '../authorization/owner-entries'
import type { StoredAuthorization } from '../authorization/store'
import {
  approvalEvent,
  type IssueContext,
  type OnCommitted,
  type SuccessfulResult,
  type TransitionResult,
} from '../authorization/transition'
import { type Eventual, following, isLater } from '../primitives/eventual'
import type { Client } from '../protocol/client'
import { credentialId } from '../protocol/credential'
import { OAuthError, OverShare, Throttled } from '../protocol/oauth-error'
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
} from './approve-request'
import {
  type ClientFinder,
  requireClient,
  requireRedirectUri,
  requireResponseType,
} from './authorization-request'
import { type Redirection, redirectWithError } from './authorization-response'
import { type Granted, grantedBy, type OfferedMemory, offerIn } from './consent-offer'
import { lookAgain } from './look-at-owner'
import { choiceKey, type RememberedDecision } from '../authorization/remembered-consent'
import { nothingSelected, type Selection, selectionText } from '../protocol/selection'
import { settleDecision } from './settle-decision'

interface Decision extends ConsentDecision {
  /** Undefined if the form has only the buttons. */
  readonly selection: Selection | undefined
  readonly finder: ClientFinder
}

export type DecisionOutcome =
  | { readonly kind: 'refused'; readonly error: OAuthError }
  /** The server cannot send a response twice. The owner sees a page. */
  | { readonly kind: 'done'; readonly client: Client }
  | Redirection

type DecisionStep =
  | DecisionOutcome
  | {
      readonly kind: 'approved'
      readonly redirection: Redirection
      readonly approved: ApprovedRequest
      readonly remembered: RememberedDecision | undefined
    }
  /** The code of an earlier approval may be on its way to the client. */
  | { readonly kind: 'early' }

// Milliseconds. Clients usually redeem a code sooner; an owner who presses a button twice accepts it.
const timeToArrive = 1000

// Seconds after the approval.
const onItsWay = 2

/** RFC 6749 4.1.2. A repeated decision gets the same response while that is valid. */
export async function decide(
  server: Context,
  decision: Decision,
  onCommitted?: OnCommitted,
  hasWaited = false,
): Promise<DecisionOutcome> {
  let deciding: Deciding
  try {
    deciding = await findDeciding(server, decision, hasWaited)
  } catch (error) {
    return { kind: 'refused', error: unexpected(error) }
  }
  const { id, found, context } = deciding
  let step: DecisionStep
  try {
    const meetsDemands = requireLogin(deciding)
    if (isLater(meetsDemands)) await meetsDemands
    step = await commit(server.store, id, (current) => stepOf(current, deciding), context.random, {
      cached: found,
      onCommitted,
      complete: completes(server) ? (result) => completed(result, deciding) : undefined,
    })
  } catch (cause) {
    return failureOf(deciding, unexpected(cause))
  }
  if (step.kind === 'early') {
    await setTimeout(timeToArrive)
    return decide(server, decision, onCommitted, true)
  }
  if (step.kind !== 'approved') return step
  // A denied request counts as open until it expires.
  server.limits.openRequests.ended(decision.subject)
  if (step.remembered !== undefined) await remember(deciding, step.remembered)
  return step.redirection
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

/** Undefined if the form is unknown. */
export async function findAskingClient(
  { store, settings }: Context,
  consentToken: string,
  sender: Sender,
): Promise<Client | undefined> {
  const id = credentialId('authorizationRequest', consentToken)
  if (id === undefined) return undefined
  const asked = findAsked((await store.find(id))?.authorization, consentToken)
  if (asked instanceof OAuthError) return undefined
  try {
    return await settings.findClient(asked.clientId, sender)
  } catch (error) {
    // A page leads back to no client whose document cannot be used.
    if (error instanceof UnusableClient) return undefined
    throw error
  }
}

interface Deciding {
  readonly server: Context
  readonly decision: Decision
  readonly hasWaited: boolean
  readonly id: string
  readonly found: StoredAuthorization
  readonly client: Client
  readonly context: IssueContext
}

async function findDeciding(server: Context, decision: Decision, hasWaited: boolean): Promise<Deciding> {
  const id = credentialId('authorizationRequest', decision.consentToken)
  if (id === undefined) throw refused('authorization_request_unknown')
  if (server.requireService !== undefined) await server.requireService()
  const found = server.store.takeCached(id) ?? (await server.store.find(id))
  if (found === undefined) throw requestNotOpen()
  // The host may have disabled the client meanwhile: an implicit grant would still give a token.
  const asking = requireClient(found.authorization.clientId, server.settings.findClient, decision.finder)
  const client = isLater(asking) ? await asking : asking
  const context = contextOf(server, client, decision.ownerReadAt)
  return { server, decision, hasWaited, id, found, client, context }
}

/** The tokens tell the login that decides, which may not be that of the page. */
function requireLogin({ server, decision, found, client }: Deciding): Eventual<void> {
  const { approved, subject, login } = decision
  const now = server.now()
  const pending = findDecidable(found.authorization, decision, now)
  if (!approved || pending instanceof OAuthError || pending.state !== 'pending') return
  if (isDeepStrictEqual(pending.login, login)) return
  const { scope, extensionData, request, named } = pending
  const { redirectUri } = request
  const responseType = requireResponseType(client, request.responseType, server.plugIns.responseTypes)
  const loginDemandedAt = named?.demandedLogin?.at
  const asked = { client, responseType, redirectUri, scope, extensionData, loginDemandedAt }
  return following(
    () => lookAgain(server, asked, { subject, ...login }, now),
    (demanded) => {
      if (demanded !== undefined) throw refused('login_changed')
    },
  )
}

async function completed(
  result: SuccessfulResult<DecisionStep>,
  { server, client, context }: Deciding,
): Promise<SuccessfulResult<DecisionStep>> {
  const { outcome } = result
  if (outcome.kind !== 'approved') return result
  const { redirection, event } = await completeApproval(
    server,
    client,
    outcome.approved,
    result.event,
    context.now,
  )
  return { ...result, outcome: { ...outcome, redirection }, event }
}

function stepOf(current: Authorization | undefined, deciding: Deciding): TransitionResult<DecisionStep> {
  const { server, decision, hasWaited, client, context } = deciding
  const decidable = findDecidable(current, decision, context.now)
  // An outcome: the owner sees it. `failureOf` may send a thrown error to the client.
  if (decidable instanceof OAuthError)
    return { action: 'none', outcome: { kind: 'refused', error: decidable } }
  const requested = requestOf(decidable)
  if (requested === undefined || decidable.state === 'active')
    return { action: 'none', outcome: { kind: 'done', client } }
  // The client may have lost the redirection URI meanwhile.
  requireRedirectUri(client, requested.request.redirectUri)
  if (decidable.state === 'denied') return { action: 'touch', outcome: denial(server, requested) }
  if (decidable.state === 'pending' && !decision.approved)
    return { action: 'save', authorization: deny(decidable), outcome: denial(server, requested) }
  if (!hasWaited && isOnItsWay(decidable, context)) return { action: 'none', outcome: { kind: 'early' } }
  return approvalStep(decidable, requested, deciding)
}

// A browser that sends the form again drops the first redirect, but the client may have it. A second redemption of the
// code would revoke the tokens (RFC 6749 4.1.2).
function isOnItsWay(decidable: Pending | Approved, { now, lifetimes }: IssueContext): boolean {
  return (
    decidable.state === 'approved' && now < decidable.code.expiresAt - lifetimes.authorizationCode + onItsWay
  )
}

function denial(server: Context, requested: RequestedAuthorization): Redirection {
  const error = refused('owner_denied')
  return redirectWithError(frameOfRecord(server, requested), error)
}

function approvalStep(
  decidable: Pending | Approved,
  requested: RequestedAuthorization,
  { server, decision, client, context }: Deciding,
): TransitionResult<DecisionStep> {
  const offer = offerIn(requested.extensionData)
  const granted =
    decidable.state === 'pending'
      ? grantedBy(decision.selection ?? nothingSelected, requested.scope, offer)
      : undefined
  // An outcome and no refusal: the request stays open.
  if (granted instanceof OAuthError) return { action: 'none', outcome: { kind: 'refused', error: granted } }
  const settled =
    granted === undefined
      ? requested
      : settleDecision(server.plugIns.atDecision, client, { ...requested, login: decision.login }, granted)
  const responseType = requireResponseType(client, settled.request.responseType, server.plugIns.responseTypes)
  requireScope(client, settled.scope)
  const salt = decidable.state === 'approved' ? decidable.code.repetition?.salt : undefined
  const repetition = repeatable(
    decision.consentToken,
    context,
    salt,
    selectionText(decision.selection ?? nothingSelected),
  )
  const approved = approveRequest(server, responseType, settled, repetition.context)
  const { authorization, redirection } = approved
  const { name } = responseType
  if (decidable.state === 'pending')
    return {
      action: 'save',
      authorization: withForm(authorization, decidable, repetition.salt),
      outcome: {
        kind: 'approved',
        redirection,
        approved,
        remembered: granted && rememberedOf(offer.memory, requested.scope, granted, context.now),
      },
      event: approvalEvent(authorization, name),
    }
  // Another selection derives another code: the first approval counts, and the owner sees it. A host's response type
  // may make a code that the server cannot repeat.
  const isSame = authorization.state === 'approved' && authorization.code.digest === decidable.code.digest
  return isSame
    ? { action: 'touch', outcome: redirection, event: approvalEvent(decidable, name, 'repeated') }
    : { action: 'none', outcome: { kind: 'done', client } }
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

/** The client gets the error if the decision is good for its request, and otherwise the owner. */
function failureOf(
  { server, decision, found, client, context }: Deciding,
  error: OAuthError,
): DecisionOutcome {
  // On a page: the client would only send the owner back here.
  if (error instanceof Throttled && !(error instanceof OverShare)) return { kind: 'refused', error }
  const decidable = findDecidable(found.authorization, decision, context.now)
  const requested = decidable instanceof OAuthError ? undefined : requestOf(decidable)
  if (requested === undefined || !isRegisteredRedirectUri(client, requested.request.redirectUri))
    return { kind: 'refused', error }
  return redirectWithError(frameOfRecord(server, requested), error)
}
