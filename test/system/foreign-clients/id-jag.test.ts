import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import * as oauth from 'oauth4webapi'
import type { Json } from '../../../lib/index'
import { jwtBearer } from '../../../lib/paths/grants'
import { privateKeyJwt } from '../../../lib/paths/jwt'
import { foreignStage } from '../../support/clients/foreign-stage'
import { discovered, insecure, Party } from '../../support/clients/oauth4webapi'

const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const enterprise = 'https://login.enterprise.example'
const keys = Promise.all([generateKeyPair('ES256'), generateKeyPair('RS256')])
const jwkOf = async (key: oauth.CryptoKey): Promise<Readonly<Record<string, Json>>> =>
  JSON.parse(JSON.stringify({ ...(await exportJWK(key)), kid: '1' }))

const stage = foreignStage(
  async (issuer) => {
    const [agent, provider] = await keys
    return {
      scopes: { 'notes:read': 'Read your notes', 'notes:write': 'Write notes' },
      resources: { [`${issuer}/mcp`]: { scopes: ['notes:read', 'notes:write'] } },
      plugins: [
        privateKeyJwt(),
        jwtBearer({
          identityProviders: [
            { issuer: enterprise, jwks: { keys: [Object(await jwkOf(provider.publicKey))] } },
          ],
          resourceOwner: ({ subject }) => (subject === 'e-17' ? 'alice' : undefined),
        }),
      ],
      clients: [
        {
          client_id: 'agent',
          client_type: 'confidential',
          credentials: { private_key_jwt: { keys: [await jwkOf(agent.publicKey)] } },
          grant_types: [grantType],
          scope: 'notes:read notes:write',
        },
      ],
    }
  },
  (app, server) => {
    app.use(server.router())
    app.get(
      '/mcp',
      server.bearerGuard('notes:read'),
      (request, response) => void response.json(request.oauth),
    )
  },
)

test('oauth4webapi brings an identity assertion of an enterprise, authenticates by a key, and reaches the resource', async () => {
  const { issuer } = stage()
  const resource = `${issuer}/mcp`
  const [agent, provider] = await keys
  const authentication = oauth.PrivateKeyJwt({ key: agent.privateKey, kid: '1' })
  const party = new Party(await discovered(issuer), 'agent', authentication)
  expect(party.server).toMatchObject({
    grant_types_supported: expect.arrayContaining([grantType]),
    authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
  })
  const assertion = await new SignJWT({ client_id: 'agent', resource, scope: 'notes:read' })
    .setProtectedHeader({ alg: 'RS256', kid: '1', typ: 'oauth-id-jag+jwt' })
    .setIssuer(enterprise)
    .setSubject('e-17')
    .setAudience(issuer)
    .setJti('1')
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(provider.privateKey)
  const bring = () => party.grant(grantType, new URLSearchParams({ assertion, resource }))
  const tokens = await bring()
  expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'notes:read' })
  expect(tokens).not.toHaveProperty('refresh_token')
  const { access_token } = tokens
  const answer = await oauth.protectedResourceRequest(
    access_token,
    'GET',
    new URL(resource),
    undefined,
    null,
    insecure,
  )
  expect(await answer.json()).toMatchObject({ subject: 'alice', clientId: 'agent', audience: [resource] })
  await expect(bring()).rejects.toMatchObject({ error: 'invalid_grant', status: 400 })
})
