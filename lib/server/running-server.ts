import {
  destinationOf,
  parseAuthorizationRequest,
  proposalOf,
} from '../authorization-endpoint/authorization-request'
import { requireEchoableState } from '../authorization-endpoint/authorize'
import { polledRequests } from '../authorization-endpoint/polled-request'
import { indexOwner } from '../authorization/authorization-index'
import { begin, commit } from '../authorization/commit'
import { ignoreTombstone } from '../authorization/one-time-use'
import type { RunningServer } from '../config/open-plug-ins'
import type { ParsedRequest } from '../config/plug-in'
import type { Client } from '../protocol/client'
import { secureRandom } from '../protocol/credential'
import { invalidRequest } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import { keysWithDeadline } from '../stores/deadline'
import { issuerDigest } from '../authorization/issuer'
import type { ServerContext } from './context'

/** What plug-ins use of a server in requests. */
export function runningServer(server: ServerContext): RunningServer {
  const { settings, store, counters, audit, index } = server
  const { keys } = settings.store
  return {
    counters,
    keys: keys && keysWithDeadline(keys, settings.storeDeadline),
    findClient: async (clientId) => settings.findClient(clientId),
    parseAuthorizationRequest: (client, parameters) => parsedRequest(server, client, parameters),
    polledRequests: polledRequests(server),
    findAccess: (accessToken) => server.findAccess(accessToken, server.now()),
    find: async (id) => ignoreTombstone((await store.find(id))?.authorization),
    authorizationsOf: async (subject) => {
      if (index === undefined) throw new Error('No plug-in of this server has indexSeconds.')
      return index.list(indexOwner(issuerDigest(settings.issuer), subject))
    },
    reportFailure: ({ reason, cause, ...named }) => audit.reportLateFailure(named, reason, cause),
    begin: (authorization) => begin(store, authorization, secureRandom),
    commit: (id, transition) => commit(store, id, transition, secureRandom),
  }
}

/** The checks of the authorization endpoint, for a client that another endpoint has authenticated. */
async function parsedRequest(
  server: ServerContext,
  client: Client,
  parameters: Parameters,
): Promise<ParsedRequest> {
  if (parameters.require('client_id') !== client.client_id)
    throw invalidRequest('client_id_mismatch', 'The client_id names another client.')
  requireEchoableState(parameters)
  const destination = destinationOf(client, parameters.get('redirect_uri'))
  const parsed = await parseAuthorizationRequest(destination, parameters, server)
  return {
    proposal: proposalOf(destination, parameters, parsed, server.settings.tokenType),
    facts: parsed.facts,
  }
}
