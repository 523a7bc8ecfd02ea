import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { Passport } from 'passport'
import { authenticatedClient } from '../passport/authenticated-client'
import type { ClientStrategy } from '../passport/client-strategy'
import type { ClientVerification } from '../passport/client-verification'
import { invalidClient, OAuthError } from '../protocol/oauth-error'
import { sendClientFailure } from './client-failure'
import { clientPost, type ClientEdge } from './client-post'

/** How clients prove who they are. */
export interface ClientProof {
  readonly verification: ClientVerification
  readonly strategies: readonly ClientStrategy[]
}

/** Authenticates the client by exactly one method and passes the request on; answers it when that fails. */
export function clientAuthentication(edge: ClientEdge, proof: ClientProof): RequestHandler {
  const authenticate = authenticating(proof)
  return clientPost(edge, async (request, response) => {
    await authenticate(request, response)
    return 'next'
  })
}

/** What authenticates the client of a request by exactly one method. @throws OAuthError */
export function authenticating({
  verification,
  strategies,
}: ClientProof): (request: Request, response: Response) => Promise<void> {
  const passport = new Passport()
  for (const strategy of strategies) passport.use(strategy)
  return async (request, response) => {
    const { method } = await verification.present(request)
    await new Promise<void>((resolve, reject) => {
      const done = (error: unknown) => (error ? reject(error) : resolve())
      passport.authenticate(method.name, { session: false }, done)(request, response, done)
    })
    if (authenticatedClient(request) === undefined)
      throw invalidClient('client_not_authenticated', 'Client authentication failed.')
  }
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
