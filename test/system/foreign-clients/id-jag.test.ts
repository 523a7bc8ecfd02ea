import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import * as oauth from 'oauth4webapi'
import { createAuthorizationServer, jwtBearer, privateKeyJwt, type Json } from '../../../lib/index'

const insecure = { [oauth.allowInsecureRequests]: true }
const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

test('oauth4webapi brings an identity assertion of an enterprise, authenticates by a key, and reaches the resource', async () => {
  const app = express()
  const listening = app.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  try {
    const address: AddressInfo | string | null = listening.address()
    if (address === null || typeof address === 'string') throw new Error('It listens on no port.')
    const issuer = `http://127.0.0.1:${address.port}`
    const resource = `${issuer}/mcp`
    const [agentKeys, enterprise] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('RS256')])
    const jwkOf = async (key: oauth.CryptoKey): Promise<Json> =>
      JSON.parse(JSON.stringify({ ...(await exportJWK(key)), kid: '1' }))
    const providerKey = JSON.parse(JSON.stringify({ ...(await exportJWK(enterprise.publicKey)), kid: '1' }))
    const server = createAuthorizationServer({
      issuer,
      scopes: { 'notes:read': 'Read your notes', 'notes:write': 'Write notes' },
      resources: { [resource]: { scopes: ['notes:read', 'notes:write'] } },
      clientAuthenticationMethods: [privateKeyJwt()],
      grantTypes: [
        jwtBearer({
          profile: 'id-jag',
          issuers: [{ issuer: 'https://login.enterprise.example', jwks: { keys: [providerKey] } }],
          resourceOwner: ({ subject }) => (subject === 'e-17' ? 'alice' : undefined),
        }),
      ],
      clients: [
        {
          client_id: 'agent',
          client_type: 'confidential',
          credentials: { private_key_jwt: { keys: [await jwkOf(agentKeys.publicKey)] } },
          grant_types: [grantType],
          scope: 'notes:read notes:write',
        },
      ],
    })
    app.use(server.router())
    app.get(
      '/mcp',
      server.bearerGuard('notes:read'),
      (request, response) => void response.json(request.oauth),
    )

    const discovery = await oauth.discoveryRequest(new URL(issuer), { algorithm: 'oauth2', ...insecure })
    const as = await oauth.processDiscoveryResponse(new URL(issuer), discovery)
    expect(as).toMatchObject({
      grant_types_supported: expect.arrayContaining([grantType]),
      authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
    })
    const assertion = await new SignJWT({ client_id: 'agent', resource, scope: 'notes:read' })
      .setProtectedHeader({ alg: 'RS256', kid: '1', typ: 'oauth-id-jag+jwt' })
      .setIssuer('https://login.enterprise.example')
      .setSubject('e-17')
      .setAudience(as.issuer)
      .setJti('1')
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(enterprise.privateKey)
    const agent = { client_id: 'agent' }
    const bring = async () => {
      const authentication = oauth.PrivateKeyJwt({ key: agentKeys.privateKey, kid: '1' })
      const parameters = { assertion, resource }
      const response = await oauth.genericTokenEndpointRequest(
        as,
        agent,
        authentication,
        grantType,
        parameters,
        insecure,
      )
      return oauth.processGenericTokenEndpointResponse(as, agent, response)
    }
    const tokens = await bring()
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'notes:read' })
    expect(tokens).not.toHaveProperty('refresh_token')
    const answer = await oauth.protectedResourceRequest(
      tokens.access_token,
      'GET',
      new URL(resource),
      undefined,
      undefined,
      insecure,
    )
    expect(await answer.json()).toMatchObject({ subject: 'alice', clientId: 'agent', audience: [resource] })
    await expect(bring()).rejects.toMatchObject({ error: 'invalid_grant', status: 400 })
  } finally {
    listening.close()
  }
})
