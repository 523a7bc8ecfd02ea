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
export function clientAuthentication(
  edge: ClientEdge,
  { verification, strategies }: ClientProof,
): RequestHandler {
  const passport = new Passport()
  for (const strategy of strategies) passport.use(strategy)
  return clientPost(edge, async (request, response) => {
    const { method } = await verification.present(request)
    await new Promise<void>((resolve, reject) => {
      const done = (error: unknown) => (error ? reject(error) : resolve())
      passport.authenticate(method.name, { session: false }, done)(request, response, done)
    })
    if (authenticatedClient(request) === undefined)
      throw invalidClient('client_not_authenticated', 'Client authentication failed.')
    return 'next'
  })
}

/** Answers what a host's own Passport made of a request, behind the same route: its strategies end in errors. */
export function clientAuthenticationErrors(edge: ClientEdge): ErrorRequestHandler {
  return (thrown: unknown, request, response, next) => {
    const refusal = isPassportFailure(thrown)
      ? invalidClient('client_not_authenticated', 'Client authentication failed.')
      : thrown
    if (refusal instanceof OAuthError) answerRefusal(edge, request, response, refusal).catch(next)
    else next(thrown)
  }
}

// A host's own Passport is asked before any part of the suite has counted the request.
async function answerRefusal(
  edge: ClientEdge,
  request: Request,
  response: Response,
  refusal: OAuthError,
): Promise<void> {
  const shown = await edge.admit(request, response).then(
    () => refusal,
    (error: unknown) => error,
  )
  sendClientFailure(request, response, shown, edge)
}

// With `failWithError`, when the request uses a method that the host did not list.
function isPassportFailure(error: unknown): boolean {
  return error instanceof Error && error.name === 'AuthenticationError'
}
