import type { Request, Response } from 'express'
import { challengeOf, type ClientAuthenticationMethod } from '../client-authentication/method'
import { passesNetworkLimit } from '../protocol/client'
import type { EndpointDescription } from '../protocol/endpoint'
import { headersOf, statusOf } from '../protocol/error-response'
import { type OAuthError, OverShare, ProtocolAnswer, Throttled } from '../protocol/oauth-error'
import { unexpected, UnusableClient } from '../protocol/refusals'
import { usualChallenge } from '../resource-server/challenge'
import type { Edge } from './edge'
import { authorizationOf, hasLongBody, leavesBody } from './request'
import { sendJsonError } from './response'
import { ofSchemes, schemeChallenges } from './scheme-challenges'

/** RFC 6749 5.2, RFC 7009 2.2.1, RFC 7662 2.3. */
export async function sendClientFailure(
  server: Edge,
  endpoint: EndpointDescription,
  request: Request,
  response: Response,
  thrown: unknown,
): Promise<void> {
  const failed = unexpected(thrown)
  const error = await limited(failed, request, server)
  server.audit.reportError({ request, response, endpoint: endpoint.name }, error)
  const isLeft = leavesBody(failed) || (error instanceof Throttled && hasLongBody(request))
  sendJsonError(response, statusOf(error, endpoint.errorStatus), error, server.settings.errorUri, {
    ...challengeFor(error, request, server),
    ...headersOf(error),
    ...(isLeft && { Connection: 'close' }),
  })
}

/** A client of the host that a secret or key has proven counts, but gets no refusal by its network's limit. */
async function limited(
  failed: OAuthError,
  request: Request,
  { contexts, networkLimits: { clients: failures, answers } }: Edge,
): Promise<OAuthError> {
  const client = contexts.of(request).client?.client
  const limit = failed instanceof ProtocolAnswer ? answers : failures
  if (limit === undefined || !isOfClient(failed)) return failed
  if (client !== undefined && passesNetworkLimit(client)) {
    await limit.count(request)
    return failed
  }
  return limit.refusalOf(request) ?? (await limit.count(request)) ?? failed
}

// The server's faults and overload count against no network, nor do correct requests beyond a client's share.
function isOfClient(error: OAuthError): boolean {
  if (error instanceof OverShare) return false
  if (error instanceof Throttled || error instanceof UnusableClient) return true
  return error.code !== 'temporarily_unavailable' && statusOf(error) < 500
}

/** RFC 6749 5.2, RFC 6750 3. */
function challengeFor(
  { code, status, challenge, schemes = bearerScheme }: OAuthError,
  request: Request,
  { credentialTerms: { methods }, settings: { tokenTypes } }: Edge,
): Record<string, string | string[]> {
  const authorization = authorizationOf(request)
  if (code === 'invalid_client') return { 'WWW-Authenticate': challengeOf(schemesOf(methods), authorization) }
  if (challenge === undefined && code !== 'invalid_token' && status !== 401) return {}
  // RFC 6750 3.1: without a token, there is no error.
  const error = authorization.length === 0 ? {} : { error: code }
  const types = ofSchemes(tokenTypes, schemes)
  return schemeChallenges(types, usualChallenge, { own: challenge ?? {}, error, authorization })
}

const bearerScheme = ['Bearer']

// Basic first.
const schemesOf = (methods: readonly ClientAuthenticationMethod[]) =>
  methods.flatMap(({ scheme }) => scheme ?? [])
