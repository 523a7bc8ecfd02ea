import type { Request, Response } from 'express'
import { challengeOf } from '../client-authentication/scheme'
import { authenticatedClient, claimOf } from '../passport/authenticated-client'
import { hasCredentials } from '../protocol/client'
import { OverShare, Throttled, unexpected, type OAuthError } from '../protocol/oauth-error'
import { authorizationOf } from './credential-sources'
import type { EventOrigin } from './events'
import type { FailureLimit } from './failure-limit'
import { hasLongBody, leavesBody } from './form-body'
import { sendJsonError } from './json-response'
import type { AuditLog } from './reports'

/** What a failure needs to know of its endpoint. */
interface FailingEdge {
  readonly endpoint: EventOrigin
  readonly errorUri: string | undefined
  /** The HTTP authentication schemes by which clients may authenticate, Basic first. */
  readonly schemes: readonly string[]
  readonly failures: FailureLimit
  readonly reports: AuditLog
}

/** Answers a request of a client that failed (RFC 6749 5.2, RFC 7009 2.2.1, RFC 7662 2.3). */
export async function sendClientFailure(
  request: Request,
  response: Response,
  thrown: unknown,
  { endpoint, reports, errorUri, schemes, failures }: FailingEdge,
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

function statusOf(error: OAuthError, endpoint: EventOrigin): number {
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
