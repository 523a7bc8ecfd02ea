import {
  findClaimable,
  authorizationIdOf,
  release,
  requestUnknown,
  answerIn,
} from '../authorization/requested'
import { commit } from '../authorization/commit'
import { ignoreTombstone } from '../authorization/authorization'
import {
  destinationOf,
  parseAuthorizationRequest,
  parametersToKeep,
  requireClient,
  type ClientFinder,
} from '../authorization-endpoint/authorization-request'
import { enter, requireEchoableState } from '../authorization-endpoint/authorize'
import { decide } from '../authorization-endpoint/decide'
import { replaceParameters } from '../authorization-endpoint/resolve-request'
import type { Host, SettledRequest } from '../authorization-endpoint/visit'
import { credentialNames } from '../client-authentication/read-credential'
import type { OwnPageRequest } from '../doors/page-endpoint'
import type { Entered, ParsedRequest, PolledRequests } from '../doors/plug-in'
import type { Client } from '../protocol/client'
import { type Evidence, noEvidence } from '../protocol/extension-data'
import { loginOf } from '../protocol/resource-owner'
import { ForOwner, OAuthError } from '../protocol/oauth-error'
import { Parameters } from '../protocol/parameters'
import { refused } from '../protocol/refusals'
import { consentTokenField, decisionIn } from '../protocol/owner-question'
import type { Sender } from '../protocol/sender'
import { consentPageOf } from './consent'
import type { Edge } from './edge'

export function polledRequests(server: Edge): PolledRequests {
  const { settings, store, now } = server
  return {
    async parse(client, received, grantType) {
      const destination = { client, redirectUri: undefined, grantType }
      const parsed = await parseAuthorizationRequest(destination, received, server)
      if (parsed.requestedLogin?.prompts.has('none') === true) throw refused('prompt_none_without_page')
      const { proposal, facts } = parsed
      return { proposal, facts, parameters: parametersToKeep(received, server) }
    },
    async find(id, { subject }) {
      const found = await store.find(id)
      const current = ignoreTombstone(found?.authorization)
      if (found === undefined || current === undefined) return undefined
      const answer = current.subject === subject ? answerIn(current) : undefined
      if (answer !== undefined) return { found, answer }
      const presented = { handle: undefined, clientId: current.clientId }
      const record = findClaimable(current, presented, now(), subject)
      return record instanceof OAuthError ? undefined : { found, answer }
    },
    async enter(request, { found }, { grantType, secret, device, fields }) {
      const { authorization: record } = found
      if (record.state !== 'requested') return undefined
      const { clientId } = record
      const finder = finderAt(request)
      const client = await requireClient(clientId, settings.findClient, finder)
      const parameters = Parameters.parse(record.parameters ?? '')
      const shown = { locale: request.locale, uiLocales: request.parameters.peek('ui_locales') }
      let entered: Entered | undefined
      const settled: SettledRequest = {
        destination: { client, redirectUri: undefined, grantType },
        parameters,
        received: parameters,
        claimed: { presented: { handle: undefined, clientId }, secret, record, found, hasWaited: false },
      }
      const host: Host = {
        ...finder,
        parametersReplaced: () => {},
        findOwner: () => request.resourceOwner,
        skipConsent: () => false,
        choices: (question) => request.choices(question),
        logIn: async ({ request: login }) => void (entered = { login }),
        ask: (question) =>
          void (entered = { page: consentPageOf(server, shown, question, { device, fields }) }),
      }
      try {
        await enter(server, settled, host)
      } catch (error) {
        // Another owner, or another tab, was faster.
        if (error instanceof ForOwner) return undefined
        throw error
      }
      return entered ?? ledToRedirect()
    },
    async decide(request, grantType) {
      const { parameters, resourceOwner, ownerReadAt } = request
      const outcome = await decide(server, {
        ...decisionIn(parameters, true),
        subject: resourceOwner.subject,
        login: loginOf(resourceOwner),
        ownerReadAt,
        finder: finderAt(request),
        grantType,
      })
      return outcome.kind === 'redirect' ? ledToRedirect() : outcome
    },
    async release({ parameters, resourceOwner: { subject } }) {
      const consentToken = parameters.require(consentTokenField)
      const id = authorizationIdOf(consentToken)
      if (id === undefined) throw requestUnknown()
      await commit(store, id, (current) => release(current, { consentToken, subject }), server.random)
    },
  }
}

function ledToRedirect(): never {
  throw new Error('A request without a redirection URI led to a redirect.')
}

const finderAt = ({ address }: OwnPageRequest): ClientFinder => ({
  sender: { address, networkRefusal: undefined },
  clientFound: () => {},
})

export async function parsePushedRequest(
  server: Edge,
  client: Client,
  received: Parameters,
  evidence: Evidence = noEvidence,
  sender: Sender,
): Promise<ParsedRequest> {
  const named = received.get('client_id')
  if (named !== undefined && named !== client.client_id) throw refused('client_id_mismatch')
  const { parameters: replaced, handle } = await replaceParameters(server, received, client, {
    isPushed: true,
    evidence,
    sender,
  })
  if (handle !== undefined) throw new TypeError('An extension claims a record for a pushed request.')
  const parameters = replaced.without(credentialNames(server.credentialTerms))
  parameters.require('client_id')
  requireEchoableState(parameters)
  const destination = destinationOf(client, parameters)
  const { proposal, facts } = await parseAuthorizationRequest(destination, parameters, server)
  return { proposal, facts, parameters: parameters.format() }
}
