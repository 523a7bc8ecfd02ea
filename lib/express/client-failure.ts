import type { Request, Response } from 'express'
import { claimedClientId } from '../passport/client-verification'
import { Throttled, unexpected, type OAuthError } from '../protocol/oauth-error'
import type { Failure, FailureReports } from './failure'
import { sendJsonError } from './json-response'

/** The challenge to a client (RFC 6749 5.2, RFC 7617). */
const challenge = 'Basic realm="oauth", charset="UTF-8"'

/** What a failure needs to know of its endpoint. */
interface FailingEdge {
  readonly endpoint: Failure['endpoint']
  readonly errorUri: string | undefined
  readonly reports: FailureReports
}

/** Answers a request of a client that failed (RFC 6749 5.2, RFC 7009 2.2.1, RFC 7662 2.3). */
export function sendClientFailure(
  request: Request,
  response: Response,
  thrown: unknown,
  { endpoint, reports, errorUri }: FailingEdge,
): void {
  const error = unexpected(thrown)
  reports.reportError(request, response, endpoint, error, claimedClientId(request))
  sendJsonError(response, statusOf(error), error, errorUri, headersOf(error))
}

function statusOf(error: OAuthError): number {
  if (error instanceof Throttled) return 429
  const { code } = error
  if (code === 'invalid_client') return 401
  return code === 'server_error' ? 500 : 400
}

function headersOf(error: OAuthError): Record<string, string> {
  if (error instanceof Throttled) return { 'Retry-After': String(error.retryAfter) }
  const { code, reason } = error
  if (code === 'invalid_client') return { 'WWW-Authenticate': challenge }
  if (code === 'temporarily_unavailable') return { 'Retry-After': '1' }
  // What is left of the body is not worth reading.
  return reason === 'body_too_large' ? { Connection: 'close' } : {}
}
