import type { Request, RequestHandler, Response } from 'express'
import { authorize as authorizeRequest, type Host } from '../authorization-endpoint/authorize'
import { unexpected } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import {
  answerClient,
  edgeFor,
  isApproved,
  ownerOf,
  tellOwner,
  type AuthorizationHttp,
} from './authorization-edge'
import { isDecision, takeDecision } from './decision'
import { formOf } from './form-body'
import { queryOf } from './query'
import { requireTls } from './transport'
import { shareShapes } from './shared-shape'

/**
 * The authorization endpoint (RFC 6749 3.1), whole: the client's request by `GET` or `POST`, and the decision that the
 * consent form sends to the same path.
 */
export function authorizationEndpoint(edge: AuthorizationHttp): RequestHandler {
  return (request, response, next) => {
    shareShapes(request, response)
    serve(edgeFor(edge, request, response), request, response)
      .catch((error: unknown) => tellOwner(edge, request, response, unexpected(error)))
      .catch(next)
  }
}

async function serve(edge: AuthorizationHttp, request: Request, response: Response): Promise<void> {
  // HEAD must not act, so it is not offered either: a link checker would leave a record behind.
  if (request.method !== 'GET' && request.method !== 'POST') {
    response.writeHead(405, { Allow: 'GET, POST', 'Content-Length': 0 }).end()
    return
  }
  await edge.admit(request, response)
  requireTls(request, edge.tlsRequired)
  edge.watchHost(request)
  if (request.method === 'GET') return takeRequest(edge, request, response, queryOf(request))
  const form = await formOf(request, edge.bodyDeadline)
  return (isDecision(form) ? takeDecision : takeRequest)(edge, request, response, form)
}

async function takeRequest(
  edge: AuthorizationHttp,
  request: Request,
  response: Response,
  parameters: Parameters,
): Promise<void> {
  const responseType = parameters.peek('response_type')
  edge.reports.note(request, { claimedClientId: parameters.peek('client_id'), responseType })
  const host: Host = {
    clientFound: () => edge.reports.note(request, { isRegistered: true }),
    resourceOwner: () => ownerOf(edge, request),
    skipConsent: (question) => isApproved(edge, request, question),
    logIn: async () => {
      await edge.login(request, response, `${edge.path}?${parameters.format()}`)
    },
    ask: async (question) => {
      await edge.showConsent(request, response, question)
    },
  }
  const outcome = await authorizeRequest(edge.endpoint, parameters, host, edge.reports.witness(request))
  if (outcome.kind === 'refused') throw outcome.error
  if (outcome.kind === 'redirect') answerClient(edge, request, response, outcome)
}
