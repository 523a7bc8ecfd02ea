import type { Request, RequestHandler, Response } from 'express'
import {
  authorize as ask,
  type AuthorizationEndpoint,
  type Question,
} from '../authorization-endpoint/authorize'
import { decide } from '../authorization-endpoint/decide'
import { invalidRequest, unexpected, type OAuthError } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import { parseResourceOwner, type ResourceOwner } from '../protocol/resource-owner'
import type { Failure, FailureReports } from './failure'
import { formOf } from './form-body'
import { redirectTo } from './page-response'
import { queryOf } from './query'
import { requireTls } from './transport'

/** What the middleware of the authorization endpoint works with. */
export interface AuthorizationEdge {
  readonly endpoint: AuthorizationEndpoint
  readonly resourceOwner: (request: Request) => unknown
  /** Sends the user agent to the host's login, which comes back to `returnTo`. */
  readonly login: (request: Request, response: Response, returnTo: string) => unknown
  /** Path of the endpoint as the user agent sees it. */
  readonly path: string
  readonly showConsent: (request: Request, response: Response, question: Question) => unknown
  readonly showError: (request: Request, response: Response, error: OAuthError, requestId: string) => unknown
  readonly tlsRequired: boolean
  readonly reports: FailureReports
}

/**
 * The authorization endpoint (RFC 6749 3.1), whole: the client's request by `GET` or `POST`, and the decision that the
 * consent form sends to the same path.
 */
export function authorize(edge: AuthorizationEdge): RequestHandler {
  return (request, response, next) => {
    serve(edge, request, response)
      .catch((error: unknown) => refuse(edge, request, response, unexpected(error)))
      .catch(next)
  }
}

async function serve(edge: AuthorizationEdge, request: Request, response: Response): Promise<void> {
  // HEAD must not act, so it is not offered either: a link checker would leave a record behind.
  if (request.method !== 'GET' && request.method !== 'POST') {
    response.writeHead(405, { Allow: 'GET, POST', 'Content-Length': 0 }).end()
    return
  }
  requireTls(request, edge.tlsRequired)
  const parameters = request.method === 'POST' ? await formOf(request) : queryOf(request)
  const isDecision = request.method === 'POST' && parameters.mentions('decision')
  await (isDecision ? takeDecision : takeRequest)(edge, request, response, parameters)
}

async function takeRequest(
  edge: AuthorizationEdge,
  request: Request,
  response: Response,
  parameters: Parameters,
): Promise<void> {
  const outcome = await ask(edge.endpoint, parameters, () => ownerOf(edge, request))
  switch (outcome.kind) {
    case 'refused':
      throw outcome.error
    case 'redirect':
      return answer(edge, request, response, outcome)
    case 'login':
      await edge.login(request, response, `${edge.path}?${parameters.format()}`)
      return undefined
    case 'pending':
      await edge.showConsent(request, response, outcome.question)
      return undefined
  }
}

async function takeDecision(
  edge: AuthorizationEdge,
  request: Request,
  response: Response,
  parameters: Parameters,
): Promise<void> {
  requireSameOrigin(request)
  const handle = parameters.require('authorization_request')
  const approved = parameters.require('decision') === 'approve'
  const owner = await ownerOf(edge, request)
  if (owner === undefined) throw invalidRequest('owner_not_logged_in', 'Nobody is logged in any more.')
  const outcome = await decide(edge.endpoint, { handle, approved, subject: owner.subject })
  if (outcome.kind === 'refused') throw outcome.error
  answer(edge, request, response, outcome)
}

// Besides the handle, which another site cannot know: browsers say where a form was sent from. `Origin` would not do,
// because a page with `no-referrer`, helmet's default, sends `null` even to itself.
function requireSameOrigin(request: Request): void {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw invalidRequest('decision_cross_site', 'The decision was not sent from the consent page.')
}

async function ownerOf(edge: AuthorizationEdge, request: Request): Promise<ResourceOwner | undefined> {
  return parseResourceOwner(await edge.resourceOwner(request))
}

// Without a destination: the resource owner is told of a refusal, and what broke goes to the host's own error handling.
function refuse(edge: AuthorizationEdge, request: Request, response: Response, error: OAuthError): unknown {
  const requestId = edge.reports.report(request, response, failureOf(error, undefined))
  if (error.code === 'server_error') throw error.cause ?? error
  return edge.showError(request, response, error, requestId)
}

interface Answer {
  readonly location: string
  readonly error: OAuthError | undefined
  readonly clientId: string
}

function answer(
  edge: AuthorizationEdge,
  request: Request,
  response: Response,
  { location, error, clientId }: Answer,
): void {
  if (error !== undefined) edge.reports.report(request, response, failureOf(error, clientId))
  redirectTo(response, location)
}

function failureOf(
  { code, reason, cause }: OAuthError,
  clientId: string | undefined,
): Omit<Failure, 'requestId'> {
  return { endpoint: 'authorization', code, reason, clientId, cause }
}
