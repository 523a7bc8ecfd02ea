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

/** The decision of the resource owner, with the handle of its form. */
export type Decision = ConsentDecision

/** The outcome of a decision. */
export type DecisionOutcome =
  /** The resource owner sees the error on a page. The server does not redirect. */
  | { readonly kind: 'refused'; readonly error: OAuthError }
  /** The client already has its response, which the server cannot send twice. The resource owner sees a page. */
  | { readonly kind: 'done'; readonly client: Client }
  /** The client gets a success, a denial or another error by redirect. */
  | Redirection

// For this many seconds after the approval, a code may still be on its way to the client.
const onItsWay = 2

/**
 * Applies a decision and responds to the client (RFC 6749 4.1.2). A decision that arrives again gets the same response
 * while that response is valid.
 */
export async function decide(
  endpoint: AuthorizationEndpoint,
  decision: Decision,
  onCommitted?: OnCommitted,
): Promise<DecisionOutcome> {
  // The request as the last round of `commit` found it. With this request, the server can still send an error to the
  // client.
  const open: Deciding['open'] = { proposed: undefined }
  const onDecided: OnCommitted = (committed) => {
    // A denied request stays in the store, and stays counted, until the request expires.
    if (decision.approved && committed.authorization?.state === 'pending')
      endpoint.openRequests.ended(decision.subject)
    onCommitted?.(committed)
  }
  try {
    return await settle({ endpoint, decision, open, hasWaited: false }, onDecided)
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
  /** Whether the server has already waited for an earlier code to reach the client. */
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
  // The host may have disabled the client while the owner looked at the page. Without this check, an implicit grant
  // would still give the client a token.
  const client = await requireClient(cached.authorization.clientId, endpoint.findClient)
  const context = endpoint.issueContext(client)
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
  // The client may have lost the redirection URI while the owner looked at the page.
  requireRedirectUri(client, proposed.request.redirectUri)
  open.proposed = proposed
  if (found.state === 'denied') return touch(denial(endpoint, found))
  if (found.state === 'pending' && !decision.approved) return save(deny(found), denial(endpoint, found))
  const isEarly = !hasWaited && found.state === 'approved' && isOnItsWay(found.code, context)
  return isEarly ? unchanged('early') : approveRequest(found, proposed, settling)
}

// A browser that sends the form again drops the first redirect, but may already have passed it to the client. The code
// would then reach the client twice, and the second redemption would revoke the tokens (RFC 6749 4.1.2).
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
  // A host's response type may make its code in another way. The server cannot repeat such a code.
  const isSame = authorization.state === 'approved' && authorization.code.digest === found.code.digest
  return isSame
    ? touch(redirection, approvalEvent(found, name, 'repeated'))
    : unchanged({ kind: 'done', client })
}

/** The parts of the endpoint that a response to the client needs. */
export interface AnsweringEndpoint {
  readonly issuer: string
  /** The URL of the page that explains error codes; undefined if the host has none. */
  readonly errorUri: string | undefined
  readonly responseTypes: ResponseTypes
}

/** Approves a request. Returns the new record, and the response to the client (RFC 6749 4.1.2). */
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

// A host may have written the response type. The server stores the returned record in place of the request, and sends
// the parameters to the client.
function requireApproval(
  approval: unknown,
  name: string,
  { id, clientId, subject }: RequestedAuthorization,
): void {
  const { authorization, parameters } = isRecord(approval) ? approval : {}
  const areTexts =
    isRecord(parameters) && Object.values(parameters).every((value) => typeof value === 'string')
  const isSameRecord =
    isRecord(authorization) &&
    authorization['id'] === id &&
    authorization['clientId'] === clientId &&
    authorization['subject'] === subject
  if (areTexts && isSameRecord) return
  throw new TypeError(
    `The response type "${name}" must return { authorization, parameters }: the approved record, with the id, clientId and subject of the request, and an object of texts.`,
  )
}

function answerOf(
  { name, mode }: ResponseType,
  { parameters, issued }: Approval,
  now: number,
): Readonly<Record<string, string>> {
  if (issued === undefined) return parameters
  // RFC 6749 4.2.2: browsers send a query to servers, which log it and pass it on. A query must never contain a token.
  if (mode !== 'fragment')
    throw new Error(
      `The response type "${name}" puts an access token into a query: its mode must be fragment.`,
    )
  // RFC 6749 4.2.2: the response never contains a refresh token, even if the response type has issued one.
  const members = tokenResponse({ ...issued, refreshToken: undefined }, now)
  return {
    ...parameters,
    ...Object.fromEntries(Object.entries(members).map(([key, value]) => [key, `${value}`])),
  }
}

/** The frame of a response to a stored request. */
export function frameOf(
  { issuer, errorUri, responseTypes }: AnsweringEndpoint,
  { request }: RequestedAuthorization,
): ResponseFrame {
  const { redirectUri, requestState } = request
  const responseType = responseTypes.get(request.responseType)
  return { redirectUri, requestState, issuer, errorUri, responseType }
}
