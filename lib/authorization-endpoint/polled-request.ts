import { OAuthError } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import { requireScope } from '../protocol/scope'
import type { Context } from '../doors/context'
import { contentOf } from './authorization-request'
import { grantedBy, nothingOffered, offerIn, withOffer } from './consent-offer'
import { aboutOwner, lookAgain } from './look-at-owner'
import type { PolledRequests } from '../doors/polled-requests'
import { clockTolerance, loginDefaultsFor, loginParameters, parseRequestedLogin } from './requested-login'
import { settleDecision } from './settle-decision'

export function polledRequests(server: Context): PolledRequests {
  const { settings, plugIns, now } = server
  const { extensions, scopes, tokenType: usualTokenType, manageAt } = settings
  return {
    async parse(client, parameters, grantType) {
      parameters.check([
        'scope',
        ...loginParameters,
        ...extensions.flatMap(({ authorizationParameters = [] }) => authorizationParameters),
      ])
      const requestedLogin = parseRequestedLogin(parameters, loginDefaultsFor(client, plugIns.loginDefaults))
      if (requestedLogin?.prompts.has('none') === true) throw refused('prompt_none_without_page')
      const request = { client, parameters, responseType: typeOf(grantType), redirectUri: undefined }
      const { scope, extensionData: data, facts } = await contentOf(request, server)
      const { client_id: clientId, token_type: tokenType = usualTokenType } = client
      const extensionData = withOffer(data, { ...nothingOffered, aboutOwner: aboutOwner(server, parameters) })
      return { proposal: { clientId, scope, tokenType, extensionData }, facts }
    },
    async lookAt(owner, { client, polled: { scope, extensionData }, grantType, loginDemandedAt: at }) {
      // Who did not log in may go to the login again: no client could get the refusal.
      const isMissed =
        at !== undefined && owner.authTime !== undefined && owner.authTime < at - clockTolerance
      const loginDemandedAt = isMissed ? undefined : at
      const asked = { client, responseType: typeOf(grantType), redirectUri: undefined }
      const login = await lookAgain(server, { ...asked, scope, extensionData, loginDemandedAt }, owner, now())
      // Who comes back from the choice of an account has chosen.
      return isMissed && login?.again === false ? undefined : login
    },
    offer(polled) {
      const optional = polled.scope.filter((token) => scopes.get(token)?.optional === true)
      const offer = { ...offerIn(polled.extensionData), optional }
      return { ...polled, extensionData: withOffer(polled.extensionData, offer) }
    },
    optionalIn: ({ extensionData }) => offerIn(extensionData).optional,
    settle(client, polled, selection) {
      const granted = grantedBy(selection, polled.scope, offerIn(polled.extensionData))
      if (granted instanceof OAuthError) return granted
      const settled = settleDecision(plugIns.atDecision, client, polled, granted)
      requireScope(client, settled.scope)
      return settled
    },
    describe: (token) => scopes.get(token),
    manageAt,
  }
}

const typeOf = (grantType: string) => ({ name: grantType, grantTypes: [grantType] })
