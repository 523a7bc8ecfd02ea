import type { Request, Response } from 'express'
import { claimedClientId } from '../passport/client-verification'
import { unexpected, type OAuthError } from '../protocol/oauth-error'
import type { FailureReports } from './failure'
import { sendJsonError } from './json-response'

/** The challenge to a client (RFC 6749 5.2, RFC 7617). */
const challenge = 'Basic realm="oauth", charset="UTF-8"'

/** Answers a token request that failed (RFC 6749 5.2). */
export function sendTokenFailure(
  request: Request,
  response: Response,
  thrown: unknown,
  { reports, errorUri }: { readonly reports: FailureReports; readonly errorUri: string | undefined },
): void {
  const error = unexpected(thrown)
  reports.reportError(request, response, 'token', error, claimedClientId(request))
  sendJsonError(response, statusOf(error), error, errorUri, headersOf(error))
}

function statusOf({ code }: OAuthError): number {
  if (code === 'invalid_client') return 401
  return code === 'server_error' ? 500 : 400
}

function headersOf({ code, reason }: OAuthError): Record<string, string> {
  if (code === 'invalid_client') return { 'WWW-Authenticate': challenge }
  if (code === 'temporarily_unavailable') return { 'Retry-After': '1' }
  // What is left of the body is not worth reading.
  return reason === 'body_too_large' ? { Connection: 'close' } : {}
}
