import type {
  Approved,
  Authorization,
  Code,
  Pending,
  RequestedAuthorization,
} from '../authorization/authorization'
import { commit } from '../authorization/commit'
import {
  type ConsentDecision,
  deny,
  repeatable,
  requestNotOpen,
  requestOfApproval,
  requireAnswerable,
  withForm,
} from '../authorization/decision'
import {
  approvalEvent,
  type IssueContext,
  type OnCommitted,
  save,
  touch,
  type Transition,
  type TransitionResult,
  unchanged,
} from '../authorization/transition'
import type { Client } from '../protocol/client'
import { isRecord } from '../protocol/configuration'
import { credentialId } from '../protocol/credential'
import { accessDenied, invalidRequest, OAuthError, unexpected } from '../protocol/oauth-error'
import { requireScope } from '../protocol/scope'
import { tokenResponse } from '../token-types/bearer'
import { requireClient, requireRedirectUri, requireResponseType } from './authorization-request'
import {
  type Redirection,
  redirectWith,
  redirectWithError,
  type ResponseFrame,
} from './authorization-response'
import type { AuthorizationEndpoint } from './authorize'
import type { Approval, ResponseType, ResponseTypes } from './response-types'

/** The resource owner's decision. */
export type Decision = ConsentDecision

/** What becomes of a decision. */
export type DecisionOutcome =
  /** The resource owner is told; nothing is redirected. */
  | { readonly kind: 'refused'; readonly error: OAuthError }
  /** The client got its answer, which cannot be given twice; the resource owner is told. */
  | { readonly kind: 'done'; readonly client: Client }
  /** The client is told, of a denial or of trouble by an error. */
  | Redirection

// Seconds after its approval in which a code may be on its way to the client, to be redeemed there.
const onItsWay = 2

/** Carries out a decision and answers the client (RFC 6749 4.1.2). Sent again, it gets the same answer while that is good. */
export async function decide(
  endpoint: AuthorizationEndpoint,
  decision: Decision,
  onCommitted?: OnCommitted,
): Promise<DecisionOutcome> {
  // The request as the last round of the commit found it: with it, trouble can still be told to the client.
  const open: Deciding['open'] = { proposed: undefined }
  const told: OnCommitted = (committed) => {
    // What was denied stays in the store as long as it would have waited, and so stays counted.
    if (decision.approved && committed.authorization?.state === 'pending')
      endpoint.openRequests.ended(decision.subject)
    onCommitted?.(committed)
  }
  try {
    return await settle({ endpoint, decision, open, hasWaited: false }, told)
  } catch (cause) {
    const error = unexpected(cause)
    if (open.proposed === undefined) return { kind: 'refused', error }
    return redirectWithError(frameOf(endpoint, open.proposed), open.proposed.clientId, error)
  }
}

interface Deciding {
  readonly endpoint: AuthorizationEndpoint
  readonly decision: Decision
  readonly open: { proposed: RequestedAuthorization | undefined }
  /** Whether a code that was given before had its time to arrive. */
  readonly hasWaited: boolean
}

async function settle(deciding: Deciding, onCommitted: OnCommitted): Promise<DecisionOutcome> {
  const { endpoint, decision, open } = deciding
  open.proposed = undefined
  const id = credentialId('authorizationRequest', decision.handle)
  if (id === undefined)
    throw invalidRequest('authorization_request_unknown', 'The authorization request is not known.')
  await endpoint.requireService()
  const cached = endpoint.takeCached(id) ?? (await endpoint.store.find(id))
  if (cached === undefined) throw requestNotOpen()
  // It may have been disabled while the owner looked at the page: an implicit grant would still give it a token.
  const client = await requireClient(cached.authorization.clientId, endpoint.findClient)
  const context = endpoint.issueContext()
  const transition: Transition<DecisionOutcome | 'early'> = (current) =>
    stepOf(current, { ...deciding, client, context })
  const outcome = await commit(endpoint.store, id, transition, context.random, cached, onCommitted)
  if (outcome !== 'early') return outcome
  await endpoint.letArrive()
  return settle({ ...deciding, hasWaited: true }, onCommitted)
}

interface Settling extends Deciding {
  readonly client: Client
  readonly context: IssueContext
}

function stepOf(
  current: Authorization | undefined,
  settling: Settling,
): TransitionResult<DecisionOutcome | 'early'> {
  const { endpoint, decision, client, context, open, hasWaited } = settling
  open.proposed = undefined
  const found = requireAnswerable(current, decision, context.now)
  if (found instanceof OAuthError) return unchanged(found)
  if (found.state === 'active') return unchanged({ kind: 'done', client })
  const proposed = found.state === 'approved' ? requestOfApproval(found) : found
  if (proposed === undefined) return unchanged({ kind: 'done', client })
  // What the request was held against may have been withdrawn while the owner looked at the page.
  requireRedirectUri(client, proposed.request.redirectUri)
  open.proposed = proposed
  if (found.state === 'denied') return touch(denial(endpoint, found))
  if (found.state === 'pending' && !decision.approved) return save(deny(found), denial(endpoint, found))
  const isEarly = !hasWaited && found.state === 'approved' && isOnItsWay(found.code, context)
  return isEarly ? unchanged('early') : approveRequest(found, proposed, settling)
}

// The browser drops a redirect for the form that it sends once more, but perhaps the client was asked already: the code
// would come to it twice, and redeeming it twice revokes (RFC 6749 4.1.2).
function isOnItsWay({ expiresAt }: Code, { now, lifetimes }: IssueContext): boolean {
  return now < expiresAt - lifetimes.authorizationCode + onItsWay
}

function denial(endpoint: AuthorizationEndpoint, proposed: RequestedAuthorization): Redirection {
  const error = accessDenied('owner_denied', 'The resource owner denied the request.')
  return redirectWithError(frameOf(endpoint, proposed), proposed.clientId, error)
}

function approveRequest(
  found: Pending | Approved,
  proposed: RequestedAuthorization,
  { endpoint, decision, client, context }: Settling,
): TransitionResult<DecisionOutcome> {
  const responseType = requireResponseType(client, proposed.request.responseType, endpoint.responseTypes)
  requireScope(client, proposed.scope)
  const salt = found.state === 'approved' ? found.code.repetition?.salt : undefined
  const repetition = repeatable(decision.handle, context, salt)
  const { authorization, redirection } = approve(endpoint, responseType, proposed, repetition.context)
  const { name } = responseType
  if (found.state === 'pending') {
    const approved = withForm(authorization, found, repetition.salt)
    return save(approved, redirection, approvalEvent(approved, name))
  }
  // A response type of the host may make its code in a way of its own, which cannot be repeated.
  const isSame = authorization.state === 'approved' && authorization.code.digest === found.code.digest
  return isSame
    ? touch(redirection, approvalEvent(found, name, 'repeated'))
    : unchanged({ kind: 'done', client })
}

/** What an answer to the client takes from the endpoint. */
export interface AnsweringEndpoint {
  readonly issuer: string
  /** The page that explains error codes, if there is one. */
  readonly errorUri: string | undefined
  readonly responseTypes: ResponseTypes
}

/** What an approval comes to: the record from now on, and the answer to the client (RFC 6749 4.1.2). */
export function approve(
  endpoint: AnsweringEndpoint,
  responseType: ResponseType,
  proposed: RequestedAuthorization,
  context: IssueContext,
): { readonly authorization: Authorization; readonly redirection: Redirection } {
  const approval = responseType.approve(proposed, context)
  requireApproval(approval, responseType.name, proposed)
  const parameters = answerOf(responseType, approval, context.now)
  return {
    authorization: approval.authorization,
    redirection: redirectWith(frameOf(endpoint, proposed), proposed.clientId, parameters),
  }
}

// A response type is often a host's: what it returns is saved in the request's place and sent to the client.
function requireApproval(
  approval: unknown,
  name: string,
  { id, clientId, subject }: RequestedAuthorization,
): void {
  const { authorization, parameters } = isRecord(approval) ? approval : {}
  const isAnswer =
    isRecord(parameters) && Object.values(parameters).every((value) => typeof value === 'string')
  const isSameOne =
    isRecord(authorization) &&
    authorization['id'] === id &&
    authorization['clientId'] === clientId &&
    authorization['subject'] === subject
  if (isAnswer && isSameOne) return
  throw new TypeError(
    `The response type "${name}" must return { authorization, parameters }: the authorization that it was given, approved, and an object of texts.`,
  )
}

function answerOf(
  { name, mode }: ResponseType,
  { parameters, issued }: Approval,
  now: number,
): Readonly<Record<string, string>> {
  if (issued === undefined) return parameters
  // RFC 6749 4.2.2: a query is sent to servers, kept in their logs and handed on; a token must not be in one.
  if (mode !== 'fragment') throw new Error(`The response type "${name}" puts an access token into a query.`)
  // RFC 6749 4.2.2: never a refresh token, whatever a response type may have issued.
  const members = tokenResponse({ ...issued, refreshToken: undefined }, now)
  return {
    ...parameters,
    ...Object.fromEntries(Object.entries(members).map(([key, value]) => [key, `${value}`])),
  }
}

/** The frame of an answer to a request that is on record. */
export function frameOf(
  { issuer, errorUri, responseTypes }: AnsweringEndpoint,
  { request }: RequestedAuthorization,
): ResponseFrame {
  const { redirectUri, requestState } = request
  const responseType = responseTypes.get(request.responseType)
  return { redirectUri, requestState, issuer, errorUri, responseType }
}
