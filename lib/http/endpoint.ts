import { handler } from './router'
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { type AuditLog, type AuditNotes, requestIdHeader } from '../audit/audit-log'
import type { OnCommitted } from '../authorization/transition'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import { bearerChallenge, challengeOf, type PresentedClient } from '../client-authentication/method'
import { type ClientStrategy, runStrategy } from '../passport/strategies'
import { type Client, hasCredentials } from '../protocol/client'
import { isRecord } from '../protocol/configuration'
import {
  type EndpointAnswer,
  type EndpointAnswering,
  type EndpointDescription,
  type EndpointRequest,
  hasBody,
  listedMethods,
} from '../protocol/endpoint'
import {
  invalidClient,
  OAuthError,
  OverShare,
  Throttled,
  UnusableClient,
  unauthorizedClient,
  unexpected,
} from '../protocol/oauth-error'
import { Parameters } from '../protocol/parameters'
import { authorizationOf, formOf, hasLongBody, HttpRequest, jsonOf, leavesBody, queryOf } from './request'
import { type AuthenticationHttp, presentedBy } from './request-context'
import { closing, type RequestsInFlight } from './requests-in-flight'
import type { Admit } from './network-limit'
import { sendJson, sendJsonError, sendNoContent } from './response'
import { requireTls } from './transport'

/** A row of the endpoint table: an endpoint of the suite or of a host. */
export type EndpointRow = EndpointDescription &
  EndpointAnswering<Committing> & {
    /** Returns the notes that events take from a form, such as the credential in it. */
    readonly notesOf?: (form: Parameters) => Partial<AuditNotes>
    /** Limits the requests from one network, successes included. Default: only failures count. */
    readonly admit?: Admit
  }

/** A request with a function that runs after the transition that the request causes. */
interface Committing {
  readonly onCommitted: OnCommitted
}

/** An endpoint without client authentication. The host must mount client authentication before it. */
export function mountedEndpoint(http: EndpointHttp): RequestHandler {
  return served(http, async (request, response) => {
    const proven = http.contexts.of(request).client
    if (proven === undefined)
      throw new Error(
        `oauth.${http.endpoint.name}() found no authenticated client: mount oauth.clientAuthentication() before it, or a strategy of oauth.strategies.`,
      )
    return respond(http, request, response, await parametersOf(http, request), proven)
  })
}

/** An endpoint with client authentication. The checks that both parts share run once. */
export function wholeEndpoint(http: EndpointHttp): RequestHandler {
  return served(http, async (request, response) => {
    const { parameters, proven } = await authenticate(http, request)
    return respond(http, request, response, parameters, proven)
  })
}

/**
 * An endpoint with client authentication, unless a strategy that the host has mounted before it has proven the client.
 */
export function singleEndpoint(http: EndpointHttp): RequestHandler {
  return served(http, async (request, response) => {
    const { client } = http.contexts.of(request)
    const known = client && { parameters: await parametersOf(http, request), proven: client }
    const { parameters, proven } = known ?? (await authenticate(http, request))
    return respond(http, request, response, parameters, proven)
  })
}

async function respond(
  http: EndpointHttp,
  request: Request,
  response: Response,
  parameters: Parameters,
  proven: ProvenClient | undefined,
): ReturnType<Act> {
  const { endpoint, audit, bodyDeadline } = http
  const audited = { request, response, endpoint: endpoint.name, clientId: proven?.client.client_id }
  if (endpoint.notesOf !== undefined) audit.note(request, endpoint.notesOf(parameters))
  if (proven?.byOldSecret === true) audit.reportOldSecret(audited)
  if (endpoint.admit !== undefined) await endpoint.admit(request, response)
  const json = hasJson(http, request) ? await jsonOf(request, bodyDeadline) : undefined
  const answer: unknown = await answerOf(http, request, { parameters, json }, proven?.client)
  requireAnswer(answer, endpoint.name)
  const { members, status = 200, headers } = answer
  const all = { ...headers, ...requestIdHeader(audit.reportSuccess(audited)) }
  if (status === 204) sendNoContent(response, all)
  else sendJson(response, status, members, all)
  return 'answered'
}

function answerOf(
  { endpoint, audit }: EndpointHttp,
  request: Request,
  content: Content,
  client: Client | undefined,
): Promise<EndpointAnswer> {
  const onCommitted = audit.onCommitted(request)
  const requestBy = <Caller extends Client | undefined>(caller: Caller) =>
    new RequestAtEndpoint(request, caller, content, onCommitted)
  if (endpoint.clientAuthentication === 'none') return endpoint.answer(requestBy(undefined))
  if (endpoint.clientAuthentication === 'optional') return endpoint.answer(requestBy(client))
  if (client === undefined) throw new Error(`The endpoint ${endpoint.name} was reached without a client.`)
  if (endpoint.clientAuthentication === 'confidential' && !hasCredentials(client))
    throw unauthorizedClient('client_not_confidential', 'Only a confidential client may use this endpoint.')
  return endpoint.answer(requestBy(client))
}

class RequestAtEndpoint<Caller extends Client | undefined>
  extends HttpRequest
  implements EndpointRequest<Caller>, Committing
{
  readonly parameters: Parameters
  readonly json: unknown

  constructor(
    request: Request,
    readonly client: Caller,
    { parameters, json }: Content,
    readonly onCommitted: OnCommitted,
  ) {
    super(request)
    this.parameters = parameters
    this.json = json
  }

  get address(): string | undefined {
    return this.request.ip
  }
}

// Hosts write endpoints, also in JavaScript.
function requireAnswer(answer: unknown, name: string): asserts answer is EndpointAnswer {
  const { members, status = 200, headers } = isRecord(answer) ? answer : {}
  const isStatus = Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 299
  const areHeaders =
    headers === undefined ||
    (isRecord(headers) && Object.values(headers).every((value) => typeof value === 'string'))
  if (isRecord(members) && isStatus && areHeaders) return
  throw new TypeError(
    `The endpoint "${name}" must answer { members, status, headers }: members must be an object, status 200 to 299 or undefined, headers an object of texts or undefined.`,
  )
}

/** Authenticates the client by exactly one method, and passes the request on. Responds to a request that fails. */
export function clientAuthentication(http: EndpointHttp): RequestHandler {
  return served(http, async (request) => {
    await authenticate(http, request)
    return 'next'
  })
}

/**
 * Reads the parameters of a request and authenticates the client. If the network is over its limit, the function reads a
 * long body only after the `Authorization` header has proven the client.
 *
 * @throws OAuthError if the client does not authenticate.
 */
async function authenticate(
  http: EndpointHttp,
  request: Request,
): Promise<{ readonly parameters: Parameters; readonly proven: ProvenClient | undefined }> {
  const { failures, endpoint } = http
  const { clientAuthentication: need = 'required' } = endpoint
  if (need !== 'none' && hasLongBody(request) && failures.refusalOf(request) !== undefined)
    await prove(http, request, present(http, request, Parameters.none))
  const parameters = await parametersOf(http, request)
  if (need === 'none') return { parameters, proven: undefined }
  // Credentials may stand only in a form or a header.
  const form = hasForm(http.endpoint, request.method) ? parameters : Parameters.none
  const presented = (need === 'optional' ? presentIfAny : present)(http, request, form)
  return { parameters, proven: presented && (await prove(http, request, presented)) }
}

/** The content of a request: parameters, or a JSON value. */
interface Content {
  readonly parameters: Parameters
  readonly json: unknown
}

function parametersOf(http: EndpointHttp, request: Request): Parameters | Promise<Parameters> {
  return hasForm(http.endpoint, request.method) ? formOf(request, http.bodyDeadline) : queryOf(request)
}

/** Whether the requests of an endpoint with this method have a form. */
export const hasForm = ({ body }: EndpointDescription, method: string): boolean =>
  body !== 'json' && hasBody(method)
const hasJson = ({ endpoint }: EndpointHttp, { method }: Request) =>
  endpoint.body === 'json' && hasBody(method)

/** Finds the client that a request presents, in place of any client that the request has proven before. */
function present(
  { contexts, verification }: EndpointHttp,
  request: Request,
  form: Parameters,
): PresentedClient {
  const context = contexts.of(request)
  context.client = undefined
  const presented = presentedBy(verification, context, request, form)
  context.presented = presented
  return presented
}

/** Finds the client that a request presents; undefined if the request presents no client at all. */
function presentIfAny(http: EndpointHttp, request: Request, form: Parameters): PresentedClient | undefined {
  try {
    return present(http, request, form)
  } catch (error) {
    const isAbsent = error instanceof OAuthError && error.reason === 'no_client_authentication'
    if (isAbsent && authorizationOf(request).length === 0) return undefined
    throw error
  }
}

/** Proves a client with the strategy of the method by which the request presents the client. */
function prove(
  { contexts, strategies }: EndpointHttp,
  request: Request,
  { method }: PresentedClient,
): Promise<ProvenClient> {
  const strategy = strategies.get(method.name)
  if (strategy === undefined) throw new Error(`The method ${method.name} has no strategy.`)
  const context = contexts.of(request)
  return runStrategy(strategy, request, () => {
    if (context.client === undefined) throw new Error(`The strategy ${strategy.name} proved no client.`)
    return context.client
  })
}

/**
 * Handles the errors of a Passport instance of the host on the same route: the strategies in it report failures as
 * errors.
 */
export function clientAuthenticationErrors(http: EndpointHttp): ErrorRequestHandler {
  return (thrown: unknown, request, response, next) => {
    const refusal = isPassportFailure(thrown)
      ? invalidClient('client_not_authenticated', 'Client authentication failed.')
      : thrown
    if (http.cors?.(request, response) === true) return
    if (refusal instanceof OAuthError) sendClientFailure(request, response, refusal, http).catch(next)
    else next(thrown)
  }
}

// Passport throws this error with `failWithError`, if the request uses a method that the host has not listed.
function isPassportFailure(error: unknown): boolean {
  return error instanceof Error && error.name === 'AuthenticationError'
}

/** The parts of the server that the middleware of an endpoint uses. */
export interface EndpointHttp extends AuthenticationHttp {
  readonly endpoint: EndpointRow
  /** The strategies by the names of their methods. */
  readonly strategies: ReadonlyMap<string, ClientStrategy>
  readonly tlsRequired: boolean
  /** Warns if a request names another host than the issuer. */
  readonly watchHost: (request: Request) => void
  /** The HTTP authentication schemes by which clients may authenticate, Basic first. */
  readonly schemes: readonly string[]
  /** The URL of the page that explains error codes; undefined if the host has none. */
  readonly errorUri: string | undefined
  /** @throws OAuthError `temporarily_unavailable` during maintenance. */
  readonly requireService: () => void | Promise<void>
  readonly audit: AuditLog
  readonly requests: RequestsInFlight
  /** Undefined if scripts of other origins have no access. */
  readonly cors: ((request: Request, response: Response) => boolean) | undefined
}

/** Handles a request that has passed the common checks. An error becomes an error response to the client. */
type Act = (request: Request, response: Response) => Promise<'answered' | 'next'>

/**
 * Passes requests with the right method over TLS to `act`. Responds to all other requests, and to every failure, with a
 * JSON error.
 */
function served(http: EndpointHttp, act: Act): RequestHandler {
  const { cors } = http
  const methods = methodsOf(http.endpoint)
  const attempt: Act = async (request, response) => {
    if (!methods.includes(request.method)) return refuseMethod(http, methods, response)
    requireTls(request, http.tlsRequired)
    http.watchHost(request)
    if (!http.requests.enter(request, response)) return turnAway(request, http)
    await http.requireService()
    return act(request, response)
  }
  return handler(async (request, response, next) => {
    if (cors?.(request, response) === true) return
    let outcome: 'answered' | 'next'
    try {
      outcome = await attempt(request, response)
    } catch (error) {
      return sendClientFailure(request, response, error, http)
    }
    if (outcome === 'next') next()
  })
}

/** The HTTP methods that an endpoint serves. */
export const methodsOf = (endpoint: EndpointDescription): readonly string[] =>
  listedMethods(endpoint).flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : method))

// The function reads the body first, because the connection closes with the response. A body that arrives after the
// response would cause a reset, and the client would not get the response.
async function turnAway(request: Request, http: EndpointHttp): Promise<never> {
  try {
    await (hasJson(http, request) ? jsonOf(request, http.bodyDeadline) : parametersOf(http, request))
  } catch {
    // The answer is the same.
  }
  throw closing()
}

// No limit counts these requests: any web page can make browsers send them here, and the response costs nothing.
function refuseMethod(http: EndpointHttp, allowed: readonly string[], response: Response): 'answered' {
  sendJsonError(response, 405, methodNotAllowed(http), http.errorUri, { Allow: allowed.join(', ') })
  return 'answered'
}

const methodNotAllowed = ({ endpoint: row }: EndpointHttp) => {
  const [endpoint, method] = [row.name, listedMethods(row).join(' or ')]
  return { code: 'invalid_request', description: `The ${endpoint} endpoint takes ${method} requests only.` }
}

/** Sends the error response for a failed request of a client (RFC 6749 5.2, RFC 7009 2.2.1, RFC 7662 2.3). */
async function sendClientFailure(
  request: Request,
  response: Response,
  thrown: unknown,
  http: EndpointHttp,
): Promise<void> {
  const { endpoint, audit, errorUri, schemes } = http
  const failed = unexpected(thrown)
  const error = await limited(failed, request, response, http)
  audit.reportError({ request, response, endpoint: endpoint.name }, error)
  const isLeft = leavesBody(failed) || (error instanceof Throttled && hasLongBody(request))
  const headers = { ...headersOf(error, request, schemes), ...(isLeft ? { Connection: 'close' } : {}) }
  sendJsonError(response, statusOf(error, endpoint), error, errorUri, headers)
}

/**
 * The error that the client gets: the refusal of the limit of its network, unless a secret or key has proven the
 * client. Otherwise, the failure itself.
 */
async function limited(
  failed: OAuthError,
  request: Request,
  response: Response,
  { contexts, failures }: EndpointHttp,
): Promise<OAuthError> {
  if (!isOfClient(failed)) return failed
  const { client: proven } = contexts.of(request)
  if (proven !== undefined && hasCredentials(proven.client)) {
    await failures.count(request, response)
    return failed
  }
  return failures.refusalOf(request) ?? (await failures.count(request, response)) ?? failed
}

// Faults and overload of the server do not count as failures of the network. Correct requests of a client beyond its
// share do not count, either.
function isOfClient(error: OAuthError): boolean {
  if (error instanceof OverShare) return false
  if (error instanceof Throttled || error instanceof UnusableClient) return true
  return error.code !== 'server_error' && error.code !== 'temporarily_unavailable'
}

function statusOf(error: OAuthError, { errorStatus = {} }: EndpointRow): number {
  if (error instanceof Throttled) return 429
  const own = Object.hasOwn(errorStatus, error.code) ? errorStatus[error.code] : undefined
  return own ?? usualStatus.get(error.code) ?? 400
}

const usualStatus: ReadonlyMap<string, number> = new Map([
  ['invalid_client', 401],
  ['invalid_token', 401],
  ['server_error', 500],
  ['temporarily_unavailable', 503],
])

function headersOf(error: OAuthError, request: Request, schemes: readonly string[]): Record<string, string> {
  if (error instanceof Throttled) return { 'Retry-After': String(error.retryAfter) }
  const { code } = error
  if (code === 'invalid_client') return { 'WWW-Authenticate': challengeOf(schemes, authorizationOf(request)) }
  if (code === 'invalid_token') return { 'WWW-Authenticate': bearerChallenge(authorizationOf(request)) }
  if (code === 'temporarily_unavailable') return { 'Retry-After': '1' }
  return {}
}
