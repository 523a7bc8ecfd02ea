import { OAuthError } from '../protocol/oauth-error'
import { requireScope } from '../protocol/scope'
import type { ServerContext } from '../server/context'
import { contentOf } from './authorization-request'
import { grantedBy, offerIn, withOffer } from './consent-offer'
import type { PolledRequests } from './polled-requests'
import { settleDecision } from './settle-decision'

/** The requests of clients without a redirection URI at one server. */
export function polledRequests(server: ServerContext): PolledRequests {
  const { settings, deciders } = server
  const { extensions, scopes, tokenType: usualTokenType, manageAt } = settings
  return {
    async parse(client, parameters, grantType) {
      parameters.check([
        'scope',
        ...extensions.flatMap(({ authorizationParameters = [] }) => authorizationParameters),
      ])
      const responseType = { name: grantType, grantTypes: [grantType] }
      const { scope, extensionData, facts } = await contentOf({ client, parameters, responseType }, server)
      const { client_id: clientId, token_type: tokenType = usualTokenType } = client
      return { proposal: { clientId, scope, tokenType, extensionData }, facts }
    },
    offer(polled) {
      const optional = polled.scope.filter((token) => scopes.get(token)?.optional === true)
      const offer = { optional, question: undefined, memory: undefined }
      return { ...polled, extensionData: withOffer(polled.extensionData, offer) }
    },
    optionalIn: ({ extensionData }) => offerIn(extensionData).optional,
    settle(client, polled, selection) {
      const granted = grantedBy(selection, polled.scope, offerIn(polled.extensionData))
      if (granted instanceof OAuthError) return granted
      const settled = settleDecision(deciders, client, polled, granted)
      requireScope(client, settled.scope)
      return settled
    },
    describe: (token) => scopes.get(token),
    manageAt,
  }
}
