import { findClaimable, authorizationIdOf, release, requestUnknown } from '../authorization/requested'
import { commit } from '../authorization/commit'
import { ignoreTombstone } from '../authorization/one-time-use'
import {
  parseAuthorizationRequest,
  polledParameters,
  proposalOf,
  requireClient,
  type ClientFinder,
} from '../authorization-endpoint/authorization-request'
import { enter } from '../authorization-endpoint/authorize'
import { answerIn } from '../authorization/decision'
import { decide } from '../authorization-endpoint/decide'
import type { Question, SettledRequest } from '../authorization-endpoint/visit'
import type { OwnPageRequest } from '../doors/page-endpoint'
import type { PolledRequests } from '../doors/polled-requests'
import type { Context } from '../doors/context'
import { loginOf, type LoginRequest } from '../protocol/resource-owner'
import { OAuthError } from '../protocol/oauth-error'
import { Parameters } from '../protocol/parameters'
import { refused } from '../protocol/refusals'
import { consentTokenField, decisionIn } from '../protocol/owner-question'
import { consentPageOf } from './consent'
import type { Edge } from './edge'

export function polledRequests(server: Edge): PolledRequests {
  const { settings, store, now } = server
  return {
    async parse(client, received, grantType) {
      const destination = { client, redirectUri: undefined, grantType }
      const parsed = await parseAuthorizationRequest(destination, received, server)
      if (parsed.requestedLogin?.prompts.has('none') === true) throw refused('prompt_none_without_page')
      return {
        // Parsed again for its owner, by the registration of then.
        proposal: { ...proposalOf(destination, received, parsed, settings.tokenType), extensionData: {} },
        parameters: received.only(parametersOf(server)).format(),
      }
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
      const { clientId } = found.authorization
      const client = await clientOf(server, request, clientId)
      const { authorization: record } = found
      if (record.state !== 'requested') return undefined
      const parameters = Parameters.parse(record.parameters ?? '')
      const settled: SettledRequest = {
        destination: { client, redirectUri: undefined, grantType },
        parameters,
        received: parameters,
        claimed: { presented: { handle: undefined, clientId }, secret, record, found, hasWaited: false },
      }
      const answer = await answerFor(server, request, settled)
      if (answer instanceof OAuthError) {
        if (lostReasons.has(answer.reason)) return undefined
        throw answer
      }
      if ('login' in answer) return answer
      const shown = { locale: request.locale, uiLocales: request.parameters.peek('ui_locales') }
      return { page: consentPageOf(server, shown, answer.question, { device, fields }) }
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
      if (outcome.kind === 'done') return outcome
      if (outcome.kind === 'redirect') throw ledToRedirect()
      if (outcome.login === undefined) throw outcome.error
      return { login: outcome.login }
    },
    async release({ parameters, resourceOwner: { subject } }) {
      const consentToken = parameters.require(consentTokenField)
      const id = authorizationIdOf(consentToken)
      if (id === undefined) throw requestUnknown()
      await commit(store, id, (current) => release(current, { consentToken, subject }), server.random)
    },
  }
}

const parametersOf = ({ plugIns }: Context) => [...polledParameters, ...plugIns.authorizationParameters]

const ledToRedirect = () => new Error('A request without a redirection URI led to a redirect.')

/** Another owner, or another tab, has claimed, released or decided the request meanwhile. */
const lostReasons: ReadonlySet<string> = new Set([
  'authorization_request_not_open',
  'authorization_request_of_another_owner',
  'authorization_request_expired',
])

async function answerFor(
  server: Edge,
  request: OwnPageRequest,
  settled: SettledRequest,
): Promise<OAuthError | { readonly login: LoginRequest } | { readonly question: Question }> {
  let answer: { readonly login: LoginRequest } | { readonly question: Question } | undefined
  const outcome = await enter(server, settled, {
    ...finderAt(request),
    parametersReplaced: () => {},
    findOwner: () => request.resourceOwner,
    skipConsent: () => false,
    choices: (question) => request.choices(question),
    async logIn({ request: login }) {
      answer = { login }
      return undefined
    },
    ask: (question) => {
      answer = { question }
    },
  })
  if (outcome.kind === 'refused') return outcome.error
  if (answer === undefined) throw ledToRedirect()
  return answer
}

const finderAt = ({ address }: OwnPageRequest): ClientFinder => ({
  sender: { address, networkRefusal: undefined },
  clientFound: () => {},
})

const clientOf = async ({ settings }: Edge, request: OwnPageRequest, clientId: string) =>
  requireClient(clientId, settings.findClient, finderAt(request))
