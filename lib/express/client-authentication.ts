import type { ErrorRequestHandler, Request, RequestHandler } from 'express'
import { rememberClient } from '../passport/authenticated-client'
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
  return clientPost(edge, async (request) => {
    await authenticate(request)
    return 'next'
  })
}

/**
 * What authenticates the client of a request by exactly one method: the strategy of that method, asked directly. Passport
 * chooses among strategies, which is settled here before any is asked, and its run costs as much as issuing a token.
 *
 * @throws OAuthError
 */
export function authenticating({
  verification,
  strategies,
}: ClientProof): (request: Request) => Promise<void> {
  const byName = new Map(strategies.map((strategy) => [strategy.name, strategy]))
  return async (request) => {
    const presented = await verification.examine(request)
    const strategy = byName.get(presented.method.name)
    if (strategy === undefined) throw new Error(`The method ${presented.method.name} has no strategy.`)
    rememberClient(request, await strategy.prove(presented, request))
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
