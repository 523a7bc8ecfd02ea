import { handler } from './router'
import type { Request, RequestHandler, Response } from 'express'
import { type AuditLog, carryRequestId } from '../audit/audit-log'
import type { Redirection } from '../authorization-endpoint/authorization-response'
import {
  type AuthorizationEndpoint,
  authorize as authorizeRequest,
  type Host,
  parsePriorConsent,
  type PriorConsentQuestion,
  type Question,
} from '../authorization-endpoint/authorize'
import { decide } from '../authorization-endpoint/decide'
import { invalidRequest, type OAuthError, unexpected } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import { appendToQuery, isInsecure } from '../protocol/redirect-uri'
import { parseResourceOwner, type ResourceOwner } from '../protocol/resource-owner'
import type { Admit } from './network-limit'
import { answeredPage, answeredViewOf, continuePage, insecureRedirectPage, strangerPage } from './pages/pages'
import { formOf, leavesBody, queryOf } from './request'
import { closing, type RequestsInFlight } from './requests-in-flight'
import { redirectTo, sendPage } from './response'
import { requireTls } from './transport'

/**
 * The authorization endpoint (RFC 6749 3.1). The client sends its request by `GET` or `POST`, and the consent form
 * posts the decision to the same path.
 */
export function authorizationEndpoint(http: AuthorizationHttp): RequestHandler {
  return handler((request, response) =>
    serve(httpFor(http, request, response), request, response).catch((error: unknown) =>
      tellOwner(http, request, response, unexpected(error)),
    ),
  )
}

async function serve(http: AuthorizationHttp, request: Request, response: Response): Promise<void> {
  // The endpoint refuses HEAD. Otherwise, a link checker would leave a record in the store.
  if (request.method !== 'GET' && request.method !== 'POST') {
    response.writeHead(405, { Allow: 'GET, POST', 'Content-Length': 0 }).end()
    return
  }
  await http.admit(request, response)
  requireTls(request, http.tlsRequired)
  http.watchHost(request)
  if (request.method === 'GET') return takeRequest(http, request, response, queryOf(request))
  const form = await formOf(request, http.bodyDeadline)
  return (isDecision(form) ? takeDecision : takeRequest)(http, request, response, form)
}

async function takeRequest(
  http: AuthorizationHttp,
  request: Request,
  response: Response,
  parameters: Parameters,
): Promise<void> {
  http.audit.note(request, { claimedClientId: parameters.peek('client_id') })
  const host: Host = {
    clientFound: () => http.audit.note(request, { isRegistered: true }),
    resourceOwner: () => ownerOf(http, request),
    skipConsent: (question) => isApproved(http, request, question),
    logIn: async () => {
      await http.login(request, response, `${http.path}?${parameters.format()}`)
    },
    ask: async (question) => {
      await http.showConsent(request, response, question)
    },
  }
  const outcome = await authorizeRequest(http.endpoint, parameters, host, http.audit.onCommitted(request))
  if (outcome.kind === 'refused') throw outcome.error
  if (outcome.kind === 'redirect') answerClient(http, request, response, outcome)
}

/** The name of the form field with the handle. A consent form sends the fields of its view, and `decision`. */
export const handleField = 'authorization_request'

/** Whether a form is the decision of a resource owner. Otherwise, it is the request of a client. */
export function isDecision(form: Parameters): boolean {
  return form.mentions(handleField)
}

/** Carries out a decision of the resource owner who is logged in. @throws OAuthError for the page of the owner. */
export async function takeDecision(
  http: AuthorizationHttp,
  request: Request,
  response: Response,
  form: Parameters,
): Promise<void> {
  requireSameOrigin(request, http.endpoint.issuer)
  const handle = form.require(handleField)
  http.audit.note(request, { shown: handle })
  const approved = isApproval(form.require('decision'))
  const owner = await ownerOf(http, request)
  if (owner === undefined) throw invalidRequest('owner_not_logged_in', 'Nobody is logged in any more.')
  const decision = { handle, approved, subject: owner.subject }
  const outcome = await decide(http.endpoint, decision, http.audit.onCommitted(request))
  if (outcome.kind === 'refused') throw outcome.error
  if (outcome.kind === 'done') return sendPage(response, 200, answeredPage(answeredViewOf(outcome.client)))
  answerClient(http, request, response, outcome)
}

function isApproval(decision: string): boolean {
  if (decision === 'approve') return true
  if (decision === 'deny') return false
  throw invalidRequest('decision_unknown', 'The decision must be approve or deny.')
}

// A second protection besides the handle, which another site cannot know: browsers report where a form comes from.
// `Origin` serves only browsers without `Sec-Fetch-Site`. `Origin` alone is not enough, because a page with the policy
// `no-referrer`, the default of helmet, sends `null` even to its own site.
function requireSameOrigin({ headers }: Request, issuer: string): void {
  const { 'sec-fetch-site': site, origin } = headers
  const isOwn =
    site === undefined
      ? origin === undefined || origin === 'null' || origin === new URL(issuer).origin
      : site === 'same-origin' || site === 'none'
  if (!isOwn) throw invalidRequest('decision_cross_site', 'The decision was not sent from the consent page.')
}

/** The parts of the server that the middleware of the authorization endpoint uses. */
export interface AuthorizationHttp {
  readonly endpoint: AuthorizationEndpoint
  readonly resourceOwner: (request: Request) => unknown
  readonly skipConsent: ((request: Request, question: PriorConsentQuestion) => unknown) | undefined
  /** Sends the user agent to the login of the host, which returns to `returnTo`. */
  readonly login: (request: Request, response: Response, returnTo: string) => unknown
  /** The path of the endpoint as the user agent sees it. */
  readonly path: string
  readonly showConsent: (request: Request, response: Response, question: Question) => unknown
  readonly showError: (request: Request, response: Response, error: OAuthError, requestId: string) => unknown
  readonly tlsRequired: boolean
  /** Warns if a request names another host than the issuer. */
  readonly watchHost: (request: Request) => void
  /** Seconds within which a body must arrive. */
  readonly bodyDeadline: number
  /** Counts a request of the network. @throws Throttled if the network has sent too many requests. */
  readonly admit: Admit
  readonly audit: AuditLog
  readonly requests: RequestsInFlight
}

/** Adapts the endpoint to a request: after `close()`, a new request gets the same responses as during maintenance. */
export function httpFor(http: AuthorizationHttp, request: Request, response: Response): AuthorizationHttp {
  if (http.requests.enter(request, response)) return http
  return { ...http, endpoint: { ...http.endpoint, requireService: () => Promise.reject(closing()) } }
}

/** The resource owner who is logged in at the host; undefined if no owner is. */
export async function ownerOf(http: AuthorizationHttp, request: Request): Promise<ResourceOwner | undefined> {
  return parseResourceOwner(await http.resourceOwner(request))
}

/** Whether the host says that the owner has approved the request before. */
export async function isApproved(
  { skipConsent }: AuthorizationHttp,
  request: Request,
  question: PriorConsentQuestion,
): Promise<boolean> {
  return skipConsent !== undefined && parsePriorConsent(await skipConsent(request, question))
}

/**
 * Sends the user agent back to the client. If the redirection URI is plain HTTP, or belongs to a stranger to whom the
 * owner has not agreed to go, sends a page with a warning and a link instead.
 */
export function answerClient(
  { audit }: AuthorizationHttp,
  request: Request,
  response: Response,
  { location, redirectBy, error, clientId, asksOwner }: Redirection,
): void {
  // The page of the host failed after it had sent the headers. Only the error handling of the host can act now.
  if (error !== undefined && response.headersSent) throw error
  const audited = { request, response, endpoint: 'authorization', clientId } as const
  if (error !== undefined) audit.reportError(audited, error)
  else carryRequestId(response, audit.reportSuccess(audited))
  // RFC 6749 3.1.2.1. The check looks at the URI itself: a URI that gets past the rules of registration then still
  // causes the warning.
  if (isInsecure(location))
    return sendPage(response, 200, insecureRedirectPage({ location, granted: error === undefined }))
  if (asksOwner === true) return sendPage(response, 200, strangerPage(location))
  if (redirectBy === 'location') return redirectTo(response, location)
  sendPage(response, 200, continuePage({ location, approved: error === undefined }))
}

/**
 * Ends a request without a redirection URI. The resource owner sees a refusal on a page. A failure of the server goes
 * to the error handling of the host.
 */
export function tellOwner(
  { audit, showError }: AuthorizationHttp,
  request: Request,
  response: Response,
  error: OAuthError,
): unknown {
  const requestId = audit.reportError({ request, response, endpoint: 'authorization' }, error)
  if (error.code === 'server_error') throw error.cause ?? error
  if (leavesBody(error) && !response.headersSent) response.setHeader('Connection', 'close')
  return showError(request, response, error, requestId)
}

type Login = (request: Request, response: Response, returnTo: string) => unknown

/**
 * Makes the function that sends the user agent to the login. A login at a path finds the way back in the parameter
 * `return_to`.
 */
export function loginOf(login: string | Login): Login {
  if (typeof login === 'function') return login
  return (_request, response, returnTo) => redirectTo(response, appendToQuery(login, { return_to: returnTo }))
}
