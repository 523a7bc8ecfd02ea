import type { ErrorRequestHandler, NextFunction, Request, RequestHandler, Response } from 'express'
import type { AuditLog, AuditNotes } from '../audit/audit-log'
import type { OnCommitted } from '../authorization/transition'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import { challengeOf } from '../client-authentication/method'
import { shareShapes } from '../node-http/shared-shape'
import {
  authenticatedClient,
  claimOf,
  type ClientVerification,
  provenClient,
  rememberClient,
} from '../passport/client-verification'
import { type Client, hasCredentials } from '../protocol/client'
import { invalidClient, OAuthError, OverShare, Throttled, unexpected } from '../protocol/oauth-error'
import { Parameters } from '../protocol/parameters'
import type { FailureLimit } from './network-limit'
import { authorizationOf, credentialSourcesOf, formOf, hasLongBody, leavesBody } from './request'
import { requestIdHeader } from '../audit/request-id'
import { closing, type RequestsInFlight } from './requests-in-flight'
import { sendJson, sendJsonError } from './response'
import { requireTls } from './transport'

/**
 * What an endpoint answers to the request of an authenticated client, which came from this network address. `onCommitted`
 * hears of the transition that the request leads to.
 *
 * @throws OAuthError to refuse it.
 */
export type AnswerToClient = (
  client: Client,
  parameters: Parameters,
  address: () => string | undefined,
  onCommitted: OnCommitted,
) => Promise<object>

/** An endpoint for clients that were authenticated before: takes a form and answers with JSON. */
export function clientEndpoint(edge: ClientEndpointHttp, answer: AnswerToClient): RequestHandler {
  const respond = responding(edge, answer)
  return clientPost(edge, async (request, response) => {
    const proven = provenClient(request)
    if (proven === undefined)
      throw new Error(
        `oauth.${edge.endpoint}() found no authenticated client: mount oauth.clientAuthentication() before it, or a strategy of oauth.strategies.`,
      )
    return respond(request, response, await formOf(request, edge.bodyDeadline), proven)
  })
}

/** The same with what authenticates its clients, in one: what two parts check each is checked once. */
export function wholeClientEndpoint(
  edge: ClientEndpointHttp,
  verification: ClientVerification,
  answer: AnswerToClient,
): RequestHandler {
  const respond = responding(edge, answer)
  return clientPost(edge, async (request, response) => {
    const { form, proven } = await authenticate(edge, verification, request)
    return respond(request, response, form, proven)
  })
}

type Respond = (
  request: Request,
  response: Response,
  form: Parameters,
  proven: ProvenClient,
) => ReturnType<Act>

function responding({ endpoint, reports }: ClientEndpointHttp, answer: AnswerToClient): Respond {
  return async (request, response, form, { client, byOldSecret }) => {
    const asked = { request, response, endpoint, clientId: client.client_id }
    reports.note(request, shownBy(form, endpoint))
    if (byOldSecret) reports.reportOldSecret(asked)
    const body = await answer(client, form, () => request.ip, reports.onCommitted(request))
    sendJson(response, 200, body, requestIdHeader(reports.reportSuccess(asked)))
    return 'answered'
  }
}

const shownToTokenEndpoint = ['code', 'refresh_token', 'subject_token']

function shownBy(form: Parameters, endpoint: ClientEndpointName): AuditNotes {
  if (endpoint !== 'token') return { shown: form.peek('token') }
  const name = shownToTokenEndpoint.find((parameter) => form.mentions(parameter))
  return { shown: name && form.peek(name), grantType: form.peek('grant_type') }
}

/**
 * Authenticates the client by exactly one method and passes the request on; answers it when that fails. Passport chooses
 * among strategies, which is settled here before any is asked, and its run costs as much as issuing a token: it is there for
 * hosts that drive it.
 */
export function clientAuthentication(
  edge: ClientEndpointHttp,
  verification: ClientVerification,
): RequestHandler {
  return clientPost(edge, async (request) => {
    await authenticate(edge, verification, request)
    return 'next'
  })
}

/**
 * The form of a request and the client that has sent it. Past the limit of the network a long body is read only for a
 * client that the header has proven.
 *
 * @throws OAuthError when the client does not prove itself.
 */
export async function authenticate(
  { failures, bodyDeadline }: ClientEndpointHttp,
  verification: ClientVerification,
  request: Request,
): Promise<{ readonly form: Parameters; readonly proven: ProvenClient }> {
  const prove = (form: Parameters) =>
    verification.verify(verification.identify(request, credentialSourcesOf(request, form)), request)
  if (failures.refusalOf(request) !== undefined && hasLongBody(request)) await prove(Parameters.none)
  const form = await formOf(request, bodyDeadline)
  const proven = await prove(form)
  rememberClient(request, proven)
  return { form, proven }
}

/** Answers what a host's own Passport made of a request, behind the same route: its strategies end in errors. */
export function clientAuthenticationErrors(edge: ClientEndpointHttp): ErrorRequestHandler {
  return (thrown: unknown, request, response, next) => {
    const refusal = isPassportFailure(thrown)
      ? invalidClient('client_not_authenticated', 'Client authentication failed.')
      : thrown
    if (refusal instanceof OAuthError) sendClientFailure(request, response, refusal, edge).catch(next)
    else next(thrown)
  }
}

// With `failWithError`, when the request uses a method that the host did not list.
function isPassportFailure(error: unknown): boolean {
  return error instanceof Error && error.name === 'AuthenticationError'
}

/** The endpoints that clients call by themselves, each with the name of its part. */
export type ClientEndpointName = 'token' | 'revocation' | 'introspection'

/** What these endpoints share at the edge. */
export interface ClientEndpointHttp {
  readonly endpoint: ClientEndpointName
  readonly tlsRequired: boolean
  /** Warns of a request that was sent to another host than the issuer's. */
  readonly watchHost: (request: Request) => void
  /** Seconds in which a body must have come. */
  readonly bodyDeadline: number
  readonly failures: FailureLimit
  /** The HTTP authentication schemes by which clients may authenticate, Basic first. */
  readonly schemes: readonly string[]
  /** The page that explains error codes, if there is one. */
  readonly errorUri: string | undefined
  /** @throws OAuthError `temporarily_unavailable` during maintenance. */
  readonly requireService: () => void | Promise<void>
  readonly reports: AuditLog
  readonly requests: RequestsInFlight
}

/** What a middleware does with a sound request; what it throws is answered as an error. */
export type Act = (request: Request, response: Response) => Promise<'answered' | 'next'>

/** Lets `POST` over TLS through to `act` and answers everything else, and every failure, in the form for clients. */
export function clientPost(edge: ClientEndpointHttp, act: Act): RequestHandler {
  const attempt: Act = async (request, response) => {
    if (request.method !== 'POST') return refuseMethod(edge, response)
    requireTls(request, edge.tlsRequired)
    edge.watchHost(request)
    if (!edge.requests.enter(request, response)) return turnAway(request, edge)
    await edge.requireService()
    return act(request, response)
  }
  const serve = async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    let outcome: 'answered' | 'next'
    try {
      outcome = await attempt(request, response)
    } catch (error) {
      return sendClientFailure(request, response, error, edge)
    }
    if (outcome === 'next') next()
  }
  return (request, response, next) => {
    shareShapes(request, response)
    void serve(request, response, next).catch(next)
  }
}

// The connection ends with the answer, and a body that came after it would be answered by a reset instead.
async function turnAway(request: Request, { bodyDeadline }: ClientEndpointHttp): Promise<never> {
  await formOf(request, bodyDeadline).catch(() => undefined)
  throw closing()
}

// Counted by no limit: any web page can have browsers send a GET here, and the answer costs nothing.
function refuseMethod(edge: ClientEndpointHttp, response: Response): 'answered' {
  sendJsonError(response, 405, methodNotAllowed(edge), edge.errorUri, { Allow: 'POST' })
  return 'answered'
}

const methodNotAllowed = ({ endpoint }: ClientEndpointHttp) => ({
  code: 'invalid_request',
  description: `The ${endpoint} endpoint takes POST requests only.`,
})

/** Answers a request of a client that failed (RFC 6749 5.2, RFC 7009 2.2.1, RFC 7662 2.3). */
async function sendClientFailure(
  request: Request,
  response: Response,
  thrown: unknown,
  { endpoint, reports, errorUri, schemes, failures }: ClientEndpointHttp,
): Promise<void> {
  const failed = unexpected(thrown)
  const error = await limited(failed, request, response, failures)
  reports.note(request, claimOf(request))
  reports.reportError({ request, response, endpoint }, error)
  const isLeft = leavesBody(failed) || (error instanceof Throttled && hasLongBody(request))
  const headers = { ...headersOf(error, request, schemes), ...(isLeft ? { Connection: 'close' } : {}) }
  sendJsonError(response, statusOf(error, endpoint), error, errorUri, headers)
}

/** What a failure is answered with: the refusal of its network's limit, unless a secret or key has proven the client. */
async function limited(
  failed: OAuthError,
  request: Request,
  response: Response,
  failures: FailureLimit,
): Promise<OAuthError> {
  if (!isOfClient(failed)) return failed
  const client = authenticatedClient(request)
  if (client !== undefined && hasCredentials(client)) {
    await failures.count(request, response)
    return failed
  }
  return failures.refusalOf(request) ?? (await failures.count(request, response)) ?? failed
}

// What the server is at fault for, or has no time for, counts against nobody, and so does more than a share of what is right.
function isOfClient(error: OAuthError): boolean {
  if (error instanceof OverShare) return false
  if (error instanceof Throttled) return true
  return error.code !== 'server_error' && error.code !== 'temporarily_unavailable'
}

function statusOf(error: OAuthError, endpoint: ClientEndpointName): number {
  if (error instanceof Throttled) return 429
  const { code } = error
  if (code === 'invalid_client') return 401
  if (code === 'server_error') return 500
  // RFC 7009 2.2.1: by 503 a client knows that the token still exists. At the token endpoint it is 400, as every error.
  return code === 'temporarily_unavailable' && endpoint !== 'token' ? 503 : 400
}

function headersOf(error: OAuthError, request: Request, schemes: readonly string[]): Record<string, string> {
  if (error instanceof Throttled) return { 'Retry-After': String(error.retryAfter) }
  const { code } = error
  if (code === 'invalid_client') return { 'WWW-Authenticate': challengeOf(schemes, authorizationOf(request)) }
  if (code === 'temporarily_unavailable') return { 'Retry-After': '1' }
  return {}
}
