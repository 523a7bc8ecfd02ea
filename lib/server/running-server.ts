import { polledRequests } from '../authorization-endpoint/polled-request'
import { indexOwner } from '../authorization/authorization-index'
import { begin, commit } from '../authorization/commit'
import { ignoreTombstone } from '../authorization/one-time-use'
import type { RunningServer } from '../config/open-plug-ins'
import { keysWithDeadline } from '../stores/deadline'
import { admitAtEndpoint } from './admit-at-endpoint'
import type { ServerContext } from './context'
import { parsePushedRequest } from './parse-pushed-request'

export function runningServer(server: ServerContext): RunningServer {
  const { settings, store, counters, audit, random } = server
  const { keys } = settings.store
  return {
    counters,
    keys: keys && keysWithDeadline(keys, settings.storeDeadline),
    documents: settings.clientDocuments,
    findClient: async (clientId) => settings.findClient(clientId),
    parseAuthorizationRequest: (...request) => parsePushedRequest(server, ...request),
    polledRequests: polledRequests(server),
    findAccess: (accessToken) => store.findAccess(accessToken, server.now()),
    admit: (request, scope) => admitAtEndpoint(server, request, scope),
    find: async (id) => ignoreTombstone((await store.find(id))?.authorization),
    authorizationsOf: async (subject) => {
      const { index } = store
      if (index === undefined) throw new Error('No plug-in of this server has indexSeconds.')
      return index.list(indexOwner(server.issuerDigest, subject))
    },
    reportFailure: ({ reason, cause, ...named }) => audit.reportLateFailure(named, reason, cause),
    begin: (authorization) => begin(store, authorization, random),
    commit: (id, transition) => commit(store, id, transition, random),
  }
}
