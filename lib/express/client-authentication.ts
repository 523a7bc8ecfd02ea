import type { ErrorRequestHandler, Request, RequestHandler } from 'express'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import { rememberClient } from '../passport/authenticated-client'
import type { ClientVerification } from '../passport/client-verification'
import { invalidClient, OAuthError } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import { sendClientFailure } from './client-failure'
import { clientPost, type ClientEdge } from './client-post'
import { credentialSourcesOf } from './credential-sources'
import { formOf } from './form-body'

/**
 * Authenticates the client by exactly one method and passes the request on; answers it when that fails. Passport chooses
 * among strategies, which is settled here before any is asked, and its run costs as much as issuing a token: it is there for
 * hosts that drive it.
 */
export function clientAuthentication(edge: ClientEdge, verification: ClientVerification): RequestHandler {
  return clientPost(edge, async (request) => {
    const form = await formOf(request, edge.bodyDeadline)
    rememberClient(request, await authenticate(verification, request, form))
    return 'next'
  })
}

/** The client that has sent this form. @throws OAuthError when it does not prove itself. */
export function authenticate(
  verification: ClientVerification,
  request: Request,
  form: Parameters,
): Promise<ProvenClient> {
  const presented = verification.identify(request, credentialSourcesOf(request, form))
  return verification.verify(presented, request)
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
