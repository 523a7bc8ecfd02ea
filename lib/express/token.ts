import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { Passport } from 'passport'
import { invalidClient, OAuthError } from '../protocol/oauth-error'
import { authenticatedClient } from '../passport/authenticated-client'
import type { ClientStrategy } from '../passport/client-strategy'
import type { ClientVerification } from '../passport/client-verification'
import { exchange, type TokenEndpoint } from '../token-endpoint/exchange'
import type { FailureReports } from './failure'
import { formOf } from './form-body'
import { sendJson, sendJsonError } from './json-response'
import { sendTokenFailure } from './token-failure'
import { requireTls } from './transport'

/** What the middlewares of the token endpoint share. */
export interface TokenEdge {
  readonly endpoint: TokenEndpoint
  readonly verification: ClientVerification
  readonly strategies: readonly ClientStrategy[]
  readonly tlsRequired: boolean
  /** The page that explains error codes, if there is one. */
  readonly errorUri: string | undefined
  /** @throws OAuthError `temporarily_unavailable` during maintenance. */
  readonly requireService: () => Promise<void>
  readonly reports: FailureReports
}

/** Authenticates the client by exactly one method and passes the request on; answers it when that fails. */
export function clientAuthentication(edge: TokenEdge): RequestHandler {
  const passport = new Passport()
  for (const strategy of edge.strategies) passport.use(strategy)
  return answering(edge, async (request, response) => {
    const { method } = await edge.verification.present(request)
    await new Promise<void>((resolve, reject) => {
      const done = (error: unknown) => (error ? reject(error) : resolve())
      passport.authenticate(method.name, { session: false }, done)(request, response, done)
    })
    if (authenticatedClient(request) === undefined)
      throw invalidClient('client_not_authenticated', 'Client authentication failed.')
    return 'next'
  })
}

/** Exchanges the grant of a client that was authenticated before, and answers. */
export function token(edge: TokenEdge): RequestHandler {
  return answering(edge, async (request, response) => {
    const client = authenticatedClient(request)
    if (client === undefined)
      throw new Error(
        'oauth.token() found no authenticated client: mount oauth.clientAuthentication() before it, or a strategy of oauth.strategies.',
      )
    sendJson(response, 200, await exchange(edge.endpoint, client, await formOf(request)))
    return 'answered'
  })
}

/** Answers what a host's own Passport made of a request, behind the same route: its strategies end in errors. */
export function clientAuthenticationErrors(edge: TokenEdge): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const refusal = isPassportFailure(error)
      ? invalidClient('client_not_authenticated', 'Client authentication failed.')
      : error
    if (refusal instanceof OAuthError) sendTokenFailure(request, response, refusal, edge)
    else next(error)
  }
}

// With `failWithError`, when the request uses a method that the host did not list.
function isPassportFailure(error: unknown): boolean {
  return error instanceof Error && error.name === 'AuthenticationError'
}

type Act = (request: Request, response: Response) => Promise<'answered' | 'next'>

function answering(edge: TokenEdge, act: Act): RequestHandler {
  const attempt: Act = async (request, response) => {
    if (request.method !== 'POST') {
      sendJsonError(response, 405, methodNotAllowed, edge.errorUri, { Allow: 'POST' })
      return 'answered'
    }
    requireTls(request, edge.tlsRequired)
    await edge.requireService()
    return act(request, response)
  }
  return (request, response, next) => {
    const passOn = (outcome: 'answered' | 'next') => (outcome === 'next' ? next() : undefined)
    const fail = (error: unknown) => sendTokenFailure(request, response, error, edge)
    attempt(request, response).then(passOn, fail).catch(next)
  }
}

const methodNotAllowed = {
  code: 'invalid_request',
  description: 'The token endpoint takes POST requests only.',
}
