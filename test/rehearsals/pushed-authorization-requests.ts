import {
  authorizationIdOf,
  createUnclaimedAuthorization,
  invalidRequest,
  type PlugIn,
} from 'express-authorization-server'

const name = 'pushed-authorization-requests'
export const urn = 'urn:ietf:params:oauth:request_uri:'

/** Pushed authorization requests (RFC 9126): a client leaves its request at the server, and sends its owner with a reference. */
export const pushedAuthorizationRequests: PlugIn = {
  name,
  open: (server) => ({
    endpoints: [
      {
        name: 'pushed_authorization_request',
        path: '/par',
        async handle({ client, parameters, evidence }) {
          if (parameters.mentions('request_uri'))
            throw invalidRequest('request_uri_pushed', 'A pushed request cannot have a request_uri.')
          const { proposal, parameters: kept } = await server.parseAuthorizationRequest(
            client,
            parameters,
            evidence,
          )
          const { unclaimed, handle } = createUnclaimedAuthorization(
            { ...proposal, extensionData: { ...proposal.extensionData, [name]: kept } },
            server.context(),
          )
          await server.begin(unclaimed)
          const expires_in = unclaimed.expiresAt - server.now()
          return { status: 201, members: { request_uri: urn + handle, expires_in } }
        },
      },
    ],
    extensions: [
      {
        name,
        async resolveRequest(parameters) {
          const uri = parameters.get('request_uri')
          if (uri === undefined) return undefined
          const claims = uri.startsWith(urn) ? uri.slice(urn.length) : ''
          const id = authorizationIdOf(claims)
          const kept = id && (await server.find(id))?.extensionData[name]
          if (typeof kept === 'string') return { parameters: kept, claims }
          throw invalidRequest('request_uri_unknown', 'The request_uri is not known, or was used before.')
        },
      },
    ],
  }),
}
