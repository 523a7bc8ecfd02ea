import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { exportJWK, generateKeyPair } from 'jose'
import * as oauth from 'oauth4webapi'
import { privateKeyJwt } from '../../docs/examples/private-key-jwt'
import { createAuthorizationServer, memoryCounters, type Json } from '../../lib/index'

const insecure = { [oauth.allowInsecureRequests]: true }

test('oauth4webapi discovers private_key_jwt and authenticates by it, and by no other key', async () => {
  const app = express()
  const listening = app.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  try {
    const address: AddressInfo | string | null = listening.address()
    if (address === null || typeof address === 'string') throw new Error('It listens on no port.')
    const issuer = `http://127.0.0.1:${address.port}`
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const jwk: Json = JSON.parse(JSON.stringify({ ...(await exportJWK(publicKey)), kid: 'a' }))
    const server = createAuthorizationServer({
      issuer,
      scopes: { 'photos:read': 'See your photos' },
      clientAuthenticationMethods: [privateKeyJwt([issuer, `${issuer}/token`], memoryCounters())],
      clients: [
        {
          client_id: 'bank',
          client_type: 'confidential',
          credentials: { private_key_jwt: { keys: [jwk] } },
          grant_types: ['client_credentials'],
          scope: 'photos:read',
        },
      ],
    })
    app.use(server.router())

    const discovery = await oauth.discoveryRequest(new URL(issuer), { algorithm: 'oauth2', ...insecure })
    const as = await oauth.processDiscoveryResponse(new URL(issuer), discovery)
    expect(as).toMatchObject({
      token_endpoint_auth_methods_supported: expect.arrayContaining(['private_key_jwt']),
      token_endpoint_auth_signing_alg_values_supported: ['ES256'],
    })
    const client = { client_id: 'bank' }
    const grant = async (key: oauth.CryptoKey, kid?: string) => {
      const authentication = oauth.PrivateKeyJwt(kid === undefined ? key : { key, kid })
      const scope = { scope: 'photos:read' }
      const response = await oauth.clientCredentialsGrantRequest(as, client, authentication, scope, insecure)
      return oauth.processClientCredentialsResponse(as, client, response)
    }
    for (const kid of ['a', undefined])
      expect(await grant(privateKey, kid)).toMatchObject({ token_type: 'bearer', scope: 'photos:read' })
    const stolen = await generateKeyPair('ES256')
    await expect(grant(stolen.privateKey, 'a')).rejects.toMatchObject({
      cause: [{ scheme: 'basic' }],
    })
  } finally {
    listening.close()
  }
})
