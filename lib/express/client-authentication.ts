import type { ErrorRequestHandler, Request, RequestHandler } from 'express'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import { rememberClient } from '../passport/authenticated-client'
import type { ClientVerification } from '../passport/client-verification'
import { invalidClient, OAuthError } from '../protocol/oauth-error'
import { Parameters } from '../protocol/parameters'
import { sendClientFailure } from './client-failure'
import { clientPost, type ClientEndpointHttp } from './client-post'
import { credentialSourcesOf } from './credential-sources'
import { formOf, hasLongBody } from './form-body'

/**
 * Authenticates the client by exactly one method and passes the request on; answers it when that fails. Passport chooses
 * among strategies, which is settled here before any is asked, and its run costs as much as issuing a token: it is there for
 * hosts that drive it.
 */
export function clientAuthentication(
  edge: ClientEndpointHttp,
  verification: ClientVerification,
): RequestHandler {
  return clientPost(edge, async (request) => {
    await authenticate(edge, verification, request)
    return 'next'
  })
}

/**
 * The form of a request and the client that has sent it. Past the limit of the network a long body is read only for a
 * client that the header has proven.
 *
 * @throws OAuthError when the client does not prove itself.
 */
export async function authenticate(
  { failures, bodyDeadline }: ClientEndpointHttp,
  verification: ClientVerification,
  request: Request,
): Promise<{ readonly form: Parameters; readonly proven: ProvenClient }> {
  const prove = (form: Parameters) =>
    verification.verify(verification.identify(request, credentialSourcesOf(request, form)), request)
  if (failures.refusalOf(request) !== undefined && hasLongBody(request)) await prove(Parameters.none)
  const form = await formOf(request, bodyDeadline)
  const proven = await prove(form)
  rememberClient(request, proven)
  return { form, proven }
}

/** Answers what a host's own Passport made of a request, behind the same route: its strategies end in errors. */
export function clientAuthenticationErrors(edge: ClientEndpointHttp): ErrorRequestHandler {
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
