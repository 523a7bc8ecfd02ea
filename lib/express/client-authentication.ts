import type { ErrorRequestHandler, Request, RequestHandler } from 'express'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import { rememberClient } from '../passport/authenticated-client'
import type { ClientVerification } from '../passport/client-verification'
import { invalidClient, OAuthError } from '../protocol/oauth-error'
import { sendClientFailure } from './client-failure'
import { clientPost, type ClientEdge } from './client-post'

/** Authenticates the client by exactly one method and passes the request on; answers it when that fails. */
export function clientAuthentication(edge: ClientEdge, verification: ClientVerification): RequestHandler {
  const authenticate = authenticating(verification)
  return clientPost(edge, async (request) => {
    rememberClient(request, await authenticate(request))
    return 'next'
  })
}

/**
 * What authenticates the client of a request by exactly one method. Passport chooses among strategies, which is settled
 * here before any is asked, and its run costs as much as issuing a token: it is there for hosts that drive it.
 *
 * @throws OAuthError
 */
export function authenticating(
  verification: ClientVerification,
): (request: Request) => Promise<ProvenClient> {
  return async (request) => verification.verify(await verification.examine(request), request)
}

/** Answers what a host's own Passport made of a request, behind the same route: its strategies end in errors. */
export function clientAuthenticationErrors(edge: ClientEdge): ErrorRequestHandler {
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
