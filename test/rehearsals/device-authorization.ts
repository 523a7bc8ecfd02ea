import { createHash } from 'node:crypto'
import {
  authorizationIdOf,
  claimPolled,
  createPolledAuthorization,
  decidePolled,
  type GrantType,
  grantableScope,
  html,
  type Html,
  invalidGrant,
  invalidRequest,
  mayRefresh,
  OAuthError,
  pageDocument,
  type PageEndpoint,
  type PlugIn,
  type PlugInServer,
  pollAuthorization,
} from 'express-authorization-server'

export const deviceCode = 'urn:ietf:params:oauth:grant-type:device_code'
const interval = 5
// RFC 8628 6.1: no vowels, and 20^8 codes.
const letters = 'BCDFGHJKLMNPQRSTVWXZ'

/** Device authorization (RFC 8628): a device shows a code, its owner enters it on a page, and the device polls. */
export const deviceAuthorization: PlugIn = {
  name: 'device-authorization',
  open: (server) => ({
    endpoints: [
      {
        name: 'device_authorization',
        path: '/device_authorization',
        async handle({ client, parameters }) {
          const scope = grantableScope(parameters.get('scope'), client, client.scope)
          const { client_id: clientId, token_type: tokenType = 'bearer' } = client
          const user_code = Array.from(server.random(8), (byte) => letters[byte % 20]).join('')
          const { polled, handle } = createPolledAuthorization(
            { clientId, scope, tokenType, extensionData: {} },
            server.context(),
            { id: idOf(user_code, server.issuer) },
          )
          await server.begin(polled)
          const expires_in = polled.expiresAt - server.now()
          const verification_uri = server.urlOf('/device')
          return { members: { device_code: handle, user_code, verification_uri, expires_in, interval } }
        },
      },
      devicePage(server),
    ],
    grantTypes: [deviceGrant(server)],
  }),
}

// Who knows the code can claim the request, so the id of the record may come from it.
const idOf = (userCode: string, issuer: string) =>
  digestOf(JSON.stringify([issuer, userCode]))
    .subarray(0, 16)
    .toString('base64url')
const digestOf = (text: string) => createHash('sha256').update(text).digest()

/** The page on which an owner enters a code, and then decides. */
function devicePage(server: PlugInServer): PageEndpoint {
  return {
    kind: 'page',
    name: 'device',
    path: '/device',
    login: 'required',
    async handle({ method, parameters, resourceOwner: { subject } }) {
      if (method === 'GET') return page('Enter the code', codeForm(parameters.get('user_code') ?? ''))
      const consentToken = parameters.get('consent_token')
      if (consentToken !== undefined) {
        const decision = { consentToken, subject, approved: parameters.require('decision') === 'approve' }
        const id = authorizationIdOf(consentToken) ?? ''
        const outcome = await server.commit(id, (current) =>
          decidePolled(current, decision, server.context()),
        )
        return page(outcome === 'approved' ? 'Go back to your device' : 'The device got no access', html``)
      }
      // A person has few guesses: the code is short.
      const { count } = await server.counters.add(`device code ${subject}`, 1, 600)
      if (count > 10) throw invalidRequest('user_code_limited', 'Too many codes. Please try again later.')
      const userCode = parameters
        .require('user_code')
        .toUpperCase()
        .replaceAll(/[^A-Z]/g, '')
      const claimed = await server.commit(idOf(userCode, server.issuer), (current) =>
        claimPolled(current, { subject }, server.context()),
      )
      const client = await server.findClient(claimed.polled.clientId)
      const name = client?.client_name ?? claimed.polled.clientId
      return page(`Let ${name} in?`, decisionForm(claimed.consentToken, claimed.polled.scope.join(' ')))
    },
  }
}

const page = (title: string, content: Html) => ({
  html: pageDocument({
    title,
    content: html`<h1>${title}</h1>
      ${content}`,
  }),
})

const codeForm = (userCode: string) =>
  html`<form method="post" action="?">
    <input name="user_code" value="${userCode}" /><button>Go on</button>
  </form>`

const decisionForm = (consentToken: string, scope: string) =>
  html`<p>${scope}</p>
    <form method="post" action="?">
      <input type="hidden" name="consent_token" value="${consentToken}" />
      <button name="decision" value="approve">Allow</button><button name="decision" value="deny">Deny</button>
    </form>`

/** The polls of the device (RFC 8628 3.4 and 3.5). */
function deviceGrant(server: PlugInServer): GrantType {
  return {
    name: deviceCode,
    parameters: ['device_code'],
    credentialParameters: ['device_code'],
    async handle({ client, parameters, context }) {
      const handle = parameters.require('device_code')
      const authorizationId = authorizationIdOf(handle)
      if (authorizationId === undefined) throw invalidGrant('device_code_malformed', 'The code is not known.')
      if (
        !(await server.counters.useOnce(
          `device poll ${digestOf(handle + client.client_id).toString('hex')}`,
          interval,
          client.client_id,
        ))
      )
        throw new OAuthError('slow_down', 'device_poll_early', 'Wait longer between two polls.')
      const request = { handle, clientId: client.client_id, refreshToken: mayRefresh(client) }
      return {
        authorizationId,
        transition: (current) => pollAuthorization(current, request, context),
      }
    },
  }
}
