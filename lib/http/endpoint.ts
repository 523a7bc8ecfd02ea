import type { ErrorRequestHandler } from 'express'
import { requestIdName } from '../audit/audit-log'
import type { OnCommitted } from '../authorization/transition'
import { challengeOf } from '../client-authentication/method'
import { aTable, aWhole, textTable } from '../primitives/fields'
import { optional, requireShape, shape } from '../primitives/schema'
import { passesNetworkLimit } from '../protocol/client'
import {
  type EndpointDescription,
  type EndpointHandling,
  type EndpointResponse,
  listedMethods,
} from '../protocol/endpoint'
import {
  headersOf,
  OAuthError,
  OverShare,
  ProtocolAnswer,
  statusOf,
  Throttled,
} from '../protocol/oauth-error'
import { refused, unexpected, UnusableClient } from '../protocol/refusals'
import { type Asked, askedOf, isOfClient, type Row, type Terms } from './asked'
import type { Edge } from './edge'
import { crossOrigin, explainingCors, exposedHeaders, type Share } from './cors'
import { hasLongBody, leavesBody } from './request'
import { sendJson, sendJsonError } from './response'
import { schemeChallenges, usualChallenge } from '../resource-server/challenge'

export type EndpointOfServer = EndpointDescription &
  EndpointHandling<{ readonly onCommitted: OnCommitted }> & {
    readonly notesOf?: Row<unknown>['notesOf']
    readonly limit?: Row<unknown>['limit']
  }

/** Answers in JSON. */
export function endpointRow(server: Edge, endpoint: EndpointOfServer): Row<EndpointResponse> {
  const { settings } = server
  const { name, path } = endpoint
  const methods = listedMethods(endpoint).flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : method))
  const sharing = { methods: methods.join(', '), isCacheable: false, exposed: exposedHeaders(settings) }
  const share = endpoint.cors === true ? crossOrigin(settings.cors, sharing) : undefined
  // Hosts write endpoints, also in JavaScript.
  const isOfHost = settings.endpoints.some((own) => own === endpoint)
  const subject = `The endpoint "${name}" returned a wrong result:`
  return {
    name,
    path,
    methods,
    body: endpoint.body ?? 'form',
    limit: endpoint.limit,
    share: explainingCors(share, server.audit.diagnosis, name, new URL(settings.issuer).origin),
    service: endpoint.duringMaintenance === true ? 'none' : 'needed',
    clientAuthentication: endpoint.clientAuthentication ?? 'required',
    usesUpLast: endpoint.usesUpLast === true,
    notesOf: endpoint.notesOf,
    handle: (asked) => handled(endpoint, asked),
    write: (asked, answer) =>
      respond(asked, isOfHost ? requireShape(answerShape, answer, subject, undefined) : answer),
    refuse: (asked, thrown) => refuseClient(asked, thrown, endpoint.errorStatus),
  }
}

function handled(endpoint: EndpointOfServer, asked: Asked): Promise<EndpointResponse> {
  if (endpoint.clientAuthentication === 'optional') return endpoint.handle(asked)
  if (endpoint.clientAuthentication !== 'none' && isOfClient(asked)) return endpoint.handle(asked)
  if (endpoint.clientAuthentication === 'none' && isOfNobody(asked)) return endpoint.handle(asked)
  throw new Error(`The endpoint ${endpoint.name} was reached without its client.`)
}

const isOfNobody = (asked: Asked): asked is Asked & { readonly client: undefined } =>
  asked.client === undefined

const answerShape = shape<EndpointResponse>({
  members: aTable,
  status: optional(aWhole(200, 299, 'a status')),
  headers: optional(textTable),
})

function respond(asked: Asked, { members, status = 200, headers }: EndpointResponse): void {
  const { server, response, client } = asked
  asked.clientId = client?.client_id
  const requestId = server.audit.reportSuccess(asked)
  const all = requestId === undefined ? headers : { ...headers, [requestIdName]: requestId }
  sendJson(response, status, members, all)
}

/** A middleware before several endpoints must not answer preflights of those closed to other origins. */
export function corsByPath({ settings }: Edge, rows: readonly Terms[]): Share | undefined {
  const paths = new Map<string, Share>()
  for (const { path, share } of rows)
    // A proxy may remove the path of the issuer.
    if (share !== undefined) paths.set(path, share).set(settings.mount + path, share)
  if (paths.size === 0) return undefined
  return (request, response) => {
    if (request.headers.origin === undefined) return false
    // Below `app.use('/token', …)`, it is only a slash.
    const path = `${request.baseUrl}${request.path}`.replace(/\/$/, '')
    return paths.get(path)?.(request, response) === true
  }
}

/** RFC 6749 5.2, RFC 7009 2.2.1, RFC 7662 2.3. */
async function refuseClient(
  asked: Asked,
  thrown: unknown,
  statuses: EndpointDescription['errorStatus'],
): Promise<void> {
  const { server, request, response } = asked
  const failed = unexpected(thrown)
  const error = await limited(asked, failed)
  server.audit.reportError(asked, error)
  const isLeft = leavesBody(failed) || (error instanceof Throttled && hasLongBody(request))
  sendJsonError(response, statusOf(error, statuses), error, server.settings.errorUri, {
    ...challengeFor(asked, error),
    ...headersOf(error),
    ...(isLeft && { Connection: 'close' }),
  })
}

/** A proven client counts, but its network's limit does not refuse it. */
async function limited({ server, request, proven }: Asked, failed: OAuthError): Promise<OAuthError> {
  const { clients: failures, answers } = server.networkLimits
  const limit = failed instanceof ProtocolAnswer ? answers : failures
  if (limit === undefined || !countsAgainst(failed)) return failed
  if (proven !== undefined && passesNetworkLimit(proven.client)) {
    await limit.count(request)
    return failed
  }
  return limit.refusalOf(request) ?? (await limit.count(request)) ?? failed
}

// Not the server's faults, nor correct requests beyond a client's share, nor what any web page can cause.
function countsAgainst(error: OAuthError): boolean {
  if (error instanceof OverShare || error.reason === 'method_not_allowed') return false
  if (error instanceof Throttled || error instanceof UnusableClient) return true
  return error.code !== 'temporarily_unavailable' && statusOf(error) < 500
}

/** RFC 6749 5.2, RFC 6750 3. */
function challengeFor(
  { server, authorization, schemes: usual }: Asked,
  { code, status, challenge, schemes = usual }: OAuthError,
): Record<string, string | string[]> {
  const { credentialTerms, settings } = server
  // Basic first.
  const methods = credentialTerms.methods.flatMap(({ scheme }) => scheme ?? [])
  if (code === 'invalid_client') return { 'WWW-Authenticate': challengeOf(methods, authorization) }
  if (challenge === undefined && code !== 'invalid_token' && status !== 401) return {}
  // RFC 6750 3.1: without a token, there is no error.
  const error = authorization.length === 0 ? {} : { error: code }
  const challenged = { own: challenge ?? {}, error, authorization, schemes }
  return schemeChallenges(settings.tokenTypes, usualChallenge, challenged)
}

/** Strategies in a host's Passport report failures as errors. */
export function clientAuthenticationErrors(server: Edge, row: Row<EndpointResponse>): ErrorRequestHandler {
  return (thrown: unknown, request, response, next) => {
    const refusal = isPassportFailure(thrown) ? refused('client_not_authenticated') : thrown
    if (row.share?.(request, response) === true) return
    if (!(refusal instanceof OAuthError)) return next(thrown)
    const asked = askedOf(server, row, request, response)
    Promise.resolve(row.refuse(asked, refusal)).catch(next)
  }
}

// From `failWithError`.
const isPassportFailure = (error: unknown): boolean =>
  error instanceof Error && error.name === 'AuthenticationError'
