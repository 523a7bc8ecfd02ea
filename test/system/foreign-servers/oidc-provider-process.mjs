// Starts oidc-provider on a port that it writes to its output. Its argument is the public JWK of the client by-key.
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'

const server = createServer((request, response) => handle(request, response))
let handle
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`
  handle = new Provider(issuer, configuration).callback()
  console.info(`issuer ${issuer}`)
})

const machine = {
  redirect_uris: [],
  response_types: [],
  grant_types: ['client_credentials'],
  scope: 'photos:read',
}
const secret = { ...machine, client_secret: 'a secret: of 32 characters & more' }
const resourceServer = (resource) => ({
  scope: 'photos:read',
  audience: resource,
  accessTokenFormat: resource.endsWith('/jwt') ? 'jwt' : 'opaque',
})
const configuration = {
  clients: [
    { ...secret, client_id: 'job' },
    { ...secret, client_id: 'by-basic', token_endpoint_auth_method: 'client_secret_basic' },
    { ...secret, client_id: 'by-post', token_endpoint_auth_method: 'client_secret_post' },
    {
      ...machine,
      client_id: 'by-key',
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [JSON.parse(process.argv[2])] },
    },
  ],
  scopes: ['photos:read'],
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    dPoP: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      getResourceServerInfo: (_context, resource) => resourceServer(resource),
    },
    revocation: { enabled: true },
  },
}
