import type { Request, Response } from 'express'
import type { Redirection } from '../authorization-endpoint/authorization-response'
import type { AuthorizationEndpoint, Question } from '../authorization-endpoint/authorize'
import { parsePriorConsent, type PriorConsentQuestion } from '../authorization-endpoint/known-approval'
import type { OAuthError } from '../protocol/oauth-error'
import { isInsecure } from '../protocol/redirect-uri'
import { parseResourceOwner, type ResourceOwner } from '../protocol/resource-owner'
import { leavesBody } from './form-body'
import type { Admit } from './request-limit'
import { redirectTo, sendPage } from './page-response'
import { continuePage } from './pages/continue-page'
import { insecureRedirectPage } from './pages/insecure-redirect-page'
import type { AuditLog } from './reports'
import { carryRequestId } from './request-id'
import { closing, type RequestsInFlight } from './requests-in-flight'

/** What the middleware of the authorization endpoint works with. */
export interface AuthorizationHttp {
  readonly endpoint: AuthorizationEndpoint
  readonly resourceOwner: (request: Request) => unknown
  readonly skipConsent: ((request: Request, question: PriorConsentQuestion) => unknown) | undefined
  /** Sends the user agent to the host's login, which comes back to `returnTo`. */
  readonly login: (request: Request, response: Response, returnTo: string) => unknown
  /** Path of the endpoint as the user agent sees it. */
  readonly path: string
  readonly showConsent: (request: Request, response: Response, question: Question) => unknown
  readonly showError: (request: Request, response: Response, error: OAuthError, requestId: string) => unknown
  readonly tlsRequired: boolean
  /** Warns of a request that was sent to another host than the issuer's. */
  readonly watchHost: (request: Request) => void
  /** Seconds in which a body must have come. */
  readonly bodyDeadline: number
  /** @throws Throttled when there are too many requests from the network. */
  readonly admit: Admit
  readonly reports: AuditLog
  readonly requests: RequestsInFlight
}

/** The edge as this request finds it: one that comes too late gets as far as it does during maintenance. */
export function edgeFor(edge: AuthorizationHttp, request: Request, response: Response): AuthorizationHttp {
  if (edge.requests.enter(request, response)) return edge
  return { ...edge, endpoint: { ...edge.endpoint, requireService: () => Promise.reject(closing()) } }
}

/** Who is logged in at the host; undefined for nobody. */
export async function ownerOf(edge: AuthorizationHttp, request: Request): Promise<ResourceOwner | undefined> {
  return parseResourceOwner(await edge.resourceOwner(request))
}

/** Whether the host knows of the owner's approval. */
export async function isApproved(
  { skipConsent }: AuthorizationHttp,
  request: Request,
  question: PriorConsentQuestion,
): Promise<boolean> {
  return skipConsent !== undefined && parsePriorConsent(await skipConsent(request, question))
}

/** Sends the user agent back to the client; over plain HTTP, its owner is warned and goes on by a link. */
export function answerClient(
  { reports }: AuthorizationHttp,
  request: Request,
  response: Response,
  { location, redirectBy, error, clientId }: Redirection,
): void {
  // A page of the host's that broke after it was sent: only the host's own error handling is left.
  if (error !== undefined && response.headersSent) throw error
  const asked = { request, response, endpoint: 'authorization', clientId } as const
  if (error !== undefined) reports.reportError(asked, error)
  else carryRequestId(response, reports.reportSuccess(asked))
  // RFC 6749 3.1.2.1: told by the URI itself, so that no way past a registration is a way past the warning.
  if (isInsecure(location))
    return sendPage(response, 200, insecureRedirectPage({ location, granted: error === undefined }))
  if (redirectBy === 'location') return redirectTo(response, location)
  sendPage(response, 200, continuePage({ location, approved: error === undefined }))
}

/**
 * Ends a request that has no destination: the resource owner is told of a refusal, and what broke on this side is
 * thrown, for the host's own error handling.
 */
export function tellOwner(
  { reports, showError }: AuthorizationHttp,
  request: Request,
  response: Response,
  error: OAuthError,
): unknown {
  const requestId = reports.reportError({ request, response, endpoint: 'authorization' }, error)
  if (error.code === 'server_error') throw error.cause ?? error
  if (leavesBody(error) && !response.headersSent) response.setHeader('Connection', 'close')
  return showError(request, response, error, requestId)
}
