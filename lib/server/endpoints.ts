import {
  clientConfigurationEndpoint,
  registrationEndpoint,
} from '../clients/dynamic-registration/registration-endpoints'
import type { EndpointOfServer } from '../http/endpoint'
import type { RequestLimit } from '../http/network-limits'
import { introspect } from '../endpoints/introspection'
import { begin } from '../authorization/commit'
import { complete, completes } from '../authorization/complete-issue'
import { isText } from '../primitives/values'
import { noEvidence } from '../protocol/extension-data'
import { Parameters } from '../protocol/parameters'
import { grantableScope } from '../protocol/scope'
import { resourceIndicatorsName } from '../extensions/resource-indicators/resource-indicators'
import { revoke } from '../endpoints/revocation'
import type { Mint, MintRequest } from '../protocol/test-door'
import { beginningOf, exchange } from '../token-endpoint/exchange'
import { restrictToken } from '../authorization/restrict'
import { tokenResponse } from '../extensions/token-types/bearer'
import { removedClientRevocation } from '../connected-applications/owner-authorizations'
import { issueContext } from '../doors/context'
import { type ServerContext, sortPlugins } from './create-context'

export function endpointsOf(server: ServerContext): readonly EndpointOfServer[] {
  const { paths, clientRegistry, endpoints } = server.settings
  return [
    // RFC 6749 3.2.
    {
      name: 'token',
      path: paths.token,
      usesUpLast: true,
      cors: true,
      notesOf: (form) => ({
        shown: form.peek('code') ?? form.peek('refresh_token') ?? form.peek('subject_token'),
        grantType: form.peek('grant_type'),
      }),
      // RFC 6749 5.2.
      errorStatus: { temporarily_unavailable: 400 },
      handle: (request) => exchange(server, request),
    },
    // RFC 7009 2.2.1: status 503 tells the client that the token still exists.
    {
      name: 'revocation',
      path: paths.revocation,
      usesUpLast: true,
      cors: true,
      notesOf: (form) => ({ shown: form.peek('token') }),
      handle: async (request) => ({ members: await revoke(server, request) }),
    },
    // RFC 7662 2.1: only confidential clients. No CORS: a page in a browser cannot keep their credentials.
    {
      name: 'introspection',
      path: paths.introspection,
      usesUpLast: true,
      clientAuthentication: 'confidential',
      notesOf: (form) => ({ shown: form.peek('token') }),
      async handle(request) {
        const members = await introspect(server, request)
        // A resource server gets no tokens: its introspections are its uses.
        const noted = clientRegistry?.noteUse(request.client.client_id, server.now())
        if (noted !== undefined) await noted.catch(() => undefined)
        return { members }
      },
    },
    ...registrationEndpoints(server),
    ...endpoints,
  ]
}

/** RFC 7591, RFC 7592. */
function registrationEndpoints(server: ServerContext): readonly EndpointOfServer[] {
  const limit = server.networkLimits.registration
  const { dynamicRegistration } = server.settings
  if (dynamicRegistration === undefined) return []
  const registration = registrationEndpoint(dynamicRegistration)
  const configuration = clientConfigurationEndpoint(dynamicRegistration, removedClientRevocation(server))
  if (dynamicRegistration.verifyInitialAccessToken !== undefined) return [registration, configuration]
  return [
    { ...registration, limit },
    // An update costs as much as a registration.
    { ...configuration, limit: limit && ofMethod('PUT', limit) },
  ]
}

const ofMethod =
  (method: string, limit: RequestLimit): RequestLimit =>
  async (request, response) => {
    if (request.method === method) await limit(request, response)
  }

const isOwn = ({ name }: { readonly name: string }) => name === resourceIndicatorsName

/** For the test kit, through the last step of a token request. */
export function minting(wiring: ServerContext): Mint {
  const { settings } = wiring
  // Extensions of the host may demand what no test request has.
  const own = { ...settings, extensions: settings.extensions.filter(isOwn) }
  const server = { ...wiring, settings: own, plugins: sortPlugins(own) }
  const { restrictors } = server.plugins
  return async (request) => {
    const { clientId, scope: requested, resource = [] } = request
    const client = await server.settings.findClient(clientId)
    if (client === undefined || client.disabled)
      throw new Error(`No client "${clientId}" is registered, or it is disabled.`)
    const scope = grantableScope(requested, client, client.scope)
    const named = [resource].flat().map((uri): [string, string] => ['resource', uri])
    const parameters = Parameters.parse(new URLSearchParams(named).toString())
    const requestedScope = requested === undefined ? undefined : scope
    const asked = { client, parameters, grantType: 'test', requestedScope, evidence: noEvidence }
    const context = issueContext(server, client, (granted) => restrictToken(restrictors, asked, granted))
    const grant = { ...ownerOf(request), scope, refreshToken: false, extensionData: {} }
    const begun = beginningOf(server, client, asked.grantType, grant, context)
    const { issued } = completes(server) ? await complete(server, begun, asked) : begun
    await begin(server.store, begun.authorization, context.random)
    return tokenResponse(issued, context.now)
  }
}

// A subject that is present and undefined comes from a failed look-up: never a token of the client itself.
function ownerOf(request: MintRequest): { readonly subject?: string } {
  if (!('subject' in request)) return {}
  if (isText(request.subject)) return { subject: request.subject }
  throw new TypeError('The subject must be a text that is not empty; leave it out for a token of the client.')
}
