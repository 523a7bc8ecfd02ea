import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import type { AuditLog, AuditNotes } from '../audit/audit-log'
import type { OnCommitted } from '../authorization/transition'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import { challengeOf } from '../client-authentication/method'
import { type ClientStrategy, runStrategy } from '../passport/strategies'
import { type Client, hasCredentials } from '../protocol/client'
import { invalidClient, OAuthError, OverShare, Throttled, unexpected } from '../protocol/oauth-error'
import { Parameters } from '../protocol/parameters'
import { handler } from './handler'
import { authorizationOf, formOf, hasLongBody, leavesBody } from './request'
import { type AuthenticationHttp, presentedBy } from './request-context'
import { requestIdHeader } from '../audit/request-id'
import { closing, type RequestsInFlight } from './requests-in-flight'
import { sendJson, sendJsonError } from './response'
import { requireTls } from './transport'

/**
 * A row of the endpoint table: an endpoint that clients call with a form and by their own authentication, and that answers
 * with JSON. TLS, limits, bounds, deadlines, the request id, events, 405, `no-store` and closing are the same for each row.
 */
export interface ClientEndpoint {
  /** Names the endpoint in events and in the metadata: `token` has the member `token_endpoint` there (RFC 8414 2). */
  readonly name: string
  readonly path: string
  /** Whether the metadata lists `none` among its authentication methods. `answer` refuses public clients where it does not. */
  readonly isForPublicClients: boolean
  /** What events tell of the form of a request, such as the credential that it shows. */
  readonly notesOf: (form: Parameters) => Partial<AuditNotes>
  /** The status of `temporarily_unavailable`. */
  readonly unavailableStatus: 400 | 503
  /** Answers the request of an authenticated client. @throws OAuthError to refuse it. */
  answer(request: ClientEndpointRequest): Promise<ClientEndpointAnswer>
}

/** A sound request at an endpoint for clients. */
export interface ClientEndpointRequest {
  readonly client: Client
  readonly parameters: Parameters
  /** Where it came from, by the host's `trust proxy`; undefined when the connection is gone. */
  readonly address: () => string | undefined
  /** Hears of the transition that the request leads to. */
  readonly onCommitted: OnCommitted
}

/** What an endpoint for clients answers. */
export interface ClientEndpointAnswer {
  /** The members of the JSON object. */
  readonly members: object
  /** Default 200. */
  readonly status?: number
  /** Beside those of every answer. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The endpoint behind a client authentication that the host has mounted before it. */
export function clientEndpoint(http: ClientEndpointHttp): RequestHandler {
  const respond = responding(http)
  return clientPost(http, async (request, response) => {
    const proven = http.contexts.of(request).client
    if (proven === undefined)
      throw new Error(
        `oauth.${http.endpoint.name}() found no authenticated client: mount oauth.clientAuthentication() before it, or a strategy of oauth.strategies.`,
      )
    return respond(request, response, await formOf(request, http.bodyDeadline), proven)
  })
}

/** The endpoint and what authenticates its clients, in one: what two parts check each is checked once. */
export function wholeClientEndpoint(http: ClientEndpointHttp): RequestHandler {
  const respond = responding(http)
  return clientPost(http, async (request, response) => {
    const { form, proven } = await authenticate(http, request)
    return respond(request, response, form, proven)
  })
}

type Respond = (
  request: Request,
  response: Response,
  form: Parameters,
  proven: ProvenClient,
) => ReturnType<Act>

function responding({ endpoint, audit }: ClientEndpointHttp): Respond {
  return async (request, response, parameters, { client, byOldSecret }) => {
    const asked = { request, response, endpoint: endpoint.name, clientId: client.client_id }
    audit.note(request, endpoint.notesOf(parameters))
    if (byOldSecret) audit.reportOldSecret(asked)
    const address = () => request.ip
    const onCommitted = audit.onCommitted(request)
    const answer = await endpoint.answer({ client, parameters, address, onCommitted })
    const { members, status = 200, headers } = answer
    sendJson(response, status, members, { ...headers, ...requestIdHeader(audit.reportSuccess(asked)) })
    return 'answered'
  }
}

/** Authenticates the client by exactly one method and passes the request on; answers it when that fails. */
export function clientAuthentication(http: ClientEndpointHttp): RequestHandler {
  return clientPost(http, async (request) => {
    await authenticate(http, request)
    return 'next'
  })
}

/**
 * The form of a request and the client that has sent it. Past the limit of the network a long body is read only for a
 * client that the header has proven.
 *
 * @throws OAuthError when the client does not prove itself.
 */
async function authenticate(
  http: ClientEndpointHttp,
  request: Request,
): Promise<{ readonly form: Parameters; readonly proven: ProvenClient }> {
  const { failures, bodyDeadline } = http
  if (failures.refusalOf(request) !== undefined && hasLongBody(request))
    await authenticateWith(http, request, Parameters.none)
  const form = await formOf(request, bodyDeadline)
  return { form, proven: await authenticateWith(http, request, form) }
}

/** Runs the strategy of the one method by which this form, or the header, presents a client. */
async function authenticateWith(
  { contexts, verification, strategies }: ClientEndpointHttp,
  request: Request,
  form: Parameters,
): Promise<ProvenClient> {
  const context = contexts.of(request)
  context.client = undefined
  const presented = presentedBy(verification, context, request, form)
  context.presented = Promise.resolve(presented)
  const strategy = strategies.get(presented.method.name)
  if (strategy === undefined) throw new Error(`The method ${presented.method.name} has no strategy.`)
  await runStrategy(strategy, request)
  if (context.client === undefined) throw new Error(`The strategy ${strategy.name} proved no client.`)
  return context.client
}

/** Answers what a host's own Passport made of a request, behind the same route: its strategies end in errors. */
export function clientAuthenticationErrors(http: ClientEndpointHttp): ErrorRequestHandler {
  return (thrown: unknown, request, response, next) => {
    const refusal = isPassportFailure(thrown)
      ? invalidClient('client_not_authenticated', 'Client authentication failed.')
      : thrown
    if (refusal instanceof OAuthError) sendClientFailure(request, response, refusal, http).catch(next)
    else next(thrown)
  }
}

// With `failWithError`, when the request uses a method that the host did not list.
function isPassportFailure(error: unknown): boolean {
  return error instanceof Error && error.name === 'AuthenticationError'
}

/** What an endpoint for clients works with at the edge. */
export interface ClientEndpointHttp extends AuthenticationHttp {
  readonly endpoint: ClientEndpoint
  /** By the name of their method. */
  readonly strategies: ReadonlyMap<string, ClientStrategy>
  readonly tlsRequired: boolean
  /** Warns of a request that was sent to another host than the issuer's. */
  readonly watchHost: (request: Request) => void
  /** The HTTP authentication schemes by which clients may authenticate, Basic first. */
  readonly schemes: readonly string[]
  /** The page that explains error codes, if there is one. */
  readonly errorUri: string | undefined
  /** @throws OAuthError `temporarily_unavailable` during maintenance. */
  readonly requireService: () => void | Promise<void>
  readonly audit: AuditLog
  readonly requests: RequestsInFlight
}

/** What a middleware does with a sound request; what it throws is answered as an error. */
export type Act = (request: Request, response: Response) => Promise<'answered' | 'next'>

/** Lets `POST` over TLS through to `act` and answers everything else, and every failure, in the form for clients. */
export function clientPost(http: ClientEndpointHttp, act: Act): RequestHandler {
  const attempt: Act = async (request, response) => {
    if (request.method !== 'POST') return refuseMethod(http, response)
    requireTls(request, http.tlsRequired)
    http.watchHost(request)
    if (!http.requests.enter(request, response)) return turnAway(request, http)
    await http.requireService()
    return act(request, response)
  }
  return handler(async (request, response, next) => {
    let outcome: 'answered' | 'next'
    try {
      outcome = await attempt(request, response)
    } catch (error) {
      return sendClientFailure(request, response, error, http)
    }
    if (outcome === 'next') next()
  })
}

// The connection ends with the answer, and a body that came after it would be answered by a reset instead.
async function turnAway(request: Request, { bodyDeadline }: ClientEndpointHttp): Promise<never> {
  await formOf(request, bodyDeadline).catch(() => undefined)
  throw closing()
}

// Counted by no limit: any web page can have browsers send a GET here, and the answer costs nothing.
function refuseMethod(http: ClientEndpointHttp, response: Response): 'answered' {
  sendJsonError(response, 405, methodNotAllowed(http), http.errorUri, { Allow: 'POST' })
  return 'answered'
}

const methodNotAllowed = ({ endpoint: { name: endpoint } }: ClientEndpointHttp) => ({
  code: 'invalid_request',
  description: `The ${endpoint} endpoint takes POST requests only.`,
})

/** Answers a request of a client that failed (RFC 6749 5.2, RFC 7009 2.2.1, RFC 7662 2.3). */
async function sendClientFailure(
  request: Request,
  response: Response,
  thrown: unknown,
  http: ClientEndpointHttp,
): Promise<void> {
  const { endpoint, audit, errorUri, schemes } = http
  const failed = unexpected(thrown)
  const error = await limited(failed, request, response, http)
  audit.reportError({ request, response, endpoint: endpoint.name }, error)
  const isLeft = leavesBody(failed) || (error instanceof Throttled && hasLongBody(request))
  const headers = { ...headersOf(error, request, schemes), ...(isLeft ? { Connection: 'close' } : {}) }
  sendJsonError(response, statusOf(error, endpoint), error, errorUri, headers)
}

/** What a failure is answered with: the refusal of its network's limit, unless a secret or key has proven the client. */
async function limited(
  failed: OAuthError,
  request: Request,
  response: Response,
  { contexts, failures }: ClientEndpointHttp,
): Promise<OAuthError> {
  if (!isOfClient(failed)) return failed
  const { client: proven } = contexts.of(request)
  if (proven !== undefined && hasCredentials(proven.client)) {
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

function statusOf(error: OAuthError, { unavailableStatus }: ClientEndpoint): number {
  if (error instanceof Throttled) return 429
  const { code } = error
  if (code === 'invalid_client') return 401
  if (code === 'server_error') return 500
  return code === 'temporarily_unavailable' ? unavailableStatus : 400
}

function headersOf(error: OAuthError, request: Request, schemes: readonly string[]): Record<string, string> {
  if (error instanceof Throttled) return { 'Retry-After': String(error.retryAfter) }
  const { code } = error
  if (code === 'invalid_client') return { 'WWW-Authenticate': challengeOf(schemes, authorizationOf(request)) }
  if (code === 'temporarily_unavailable') return { 'Retry-After': '1' }
  return {}
}
