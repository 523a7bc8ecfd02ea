import type { RequestHandler } from 'express'
import { authenticatedByOldSecret, authenticatedClient } from '../passport/authenticated-client'
import type { Client } from '../protocol/client'
import type { Parameters } from '../protocol/parameters'
import { clientPost, type ClientEdge } from './client-post'
import { formOf } from './form-body'
import { sendJson } from './json-response'

/**
 * What an endpoint answers to the request of an authenticated client, which came from this network address.
 *
 * @throws OAuthError to refuse it.
 */
export type AnswerToClient = (
  client: Client,
  parameters: Parameters,
  address: string | undefined,
) => Promise<object>

/** An endpoint for clients that were authenticated before: takes a form and answers with JSON. */
export function clientEndpoint(edge: ClientEdge, answer: AnswerToClient): RequestHandler {
  return clientPost(edge, async (request, response) => {
    const client = authenticatedClient(request)
    if (client === undefined)
      throw new Error(
        `oauth.${edge.endpoint}() found no authenticated client: mount oauth.clientAuthentication() before it, or a strategy of oauth.strategies.`,
      )
    if (authenticatedByOldSecret(request)) edge.reports.reportOldSecret(request, response, client.client_id)
    sendJson(response, 200, await answer(client, await formOf(request, edge.bodyDeadline), request.ip))
    return 'answered'
  })
}
