import type { Request, RequestHandler, Response } from 'express'
import type { OnCommitted } from '../authorization/witness'
import type { ProvenClient } from '../client-authentication/authenticate-client'
import { provenClient } from '../passport/authenticated-client'
import type { ClientVerification } from '../passport/client-verification'
import type { Client } from '../protocol/client'
import type { Parameters } from '../protocol/parameters'
import { authenticate } from './client-authentication'
import { clientPost, type Act, type ClientEndpointHttp, type ClientEndpointName } from './client-post'
import { formOf } from './form-body'
import { sendJson } from './json-response'
import type { AuditNotes } from './known-of-request'
import { requestIdHeader } from './request-id'

/**
 * What an endpoint answers to the request of an authenticated client, which came from this network address. The witness
 * hears what became of it.
 *
 * @throws OAuthError to refuse it.
 */
export type AnswerToClient = (
  client: Client,
  parameters: Parameters,
  address: () => string | undefined,
  witness: OnCommitted,
) => Promise<object>

/** An endpoint for clients that were authenticated before: takes a form and answers with JSON. */
export function clientEndpoint(edge: ClientEndpointHttp, answer: AnswerToClient): RequestHandler {
  const respond = responding(edge, answer)
  return clientPost(edge, async (request, response) => {
    const proven = provenClient(request)
    if (proven === undefined)
      throw new Error(
        `oauth.${edge.endpoint}() found no authenticated client: mount oauth.clientAuthentication() before it, or a strategy of oauth.strategies.`,
      )
    return respond(request, response, await formOf(request, edge.bodyDeadline), proven)
  })
}

/** The same with what authenticates its clients, in one: what two parts check each is checked once. */
export function wholeClientEndpoint(
  edge: ClientEndpointHttp,
  verification: ClientVerification,
  answer: AnswerToClient,
): RequestHandler {
  const respond = responding(edge, answer)
  return clientPost(edge, async (request, response) => {
    const { form, proven } = await authenticate(edge, verification, request)
    return respond(request, response, form, proven)
  })
}

type Respond = (
  request: Request,
  response: Response,
  form: Parameters,
  proven: ProvenClient,
) => ReturnType<Act>

function responding({ endpoint, reports }: ClientEndpointHttp, answer: AnswerToClient): Respond {
  return async (request, response, form, { client, byOldSecret }) => {
    const asked = { request, response, endpoint, clientId: client.client_id }
    reports.note(request, shownBy(form, endpoint))
    if (byOldSecret) reports.reportOldSecret(asked)
    const body = await answer(client, form, () => request.ip, reports.witness(request))
    sendJson(response, 200, body, requestIdHeader(reports.reportSuccess(asked)))
    return 'answered'
  }
}

const shownToTokenEndpoint = ['code', 'refresh_token', 'subject_token']

function shownBy(form: Parameters, endpoint: ClientEndpointName): AuditNotes {
  if (endpoint !== 'token') return { shown: form.peek('token') }
  const name = shownToTokenEndpoint.find((parameter) => form.mentions(parameter))
  return { shown: name && form.peek(name), grantType: form.peek('grant_type') }
}
