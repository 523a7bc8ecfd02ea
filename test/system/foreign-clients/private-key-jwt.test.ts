import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { exportJWK, generateKeyPair } from 'jose'
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { serverOfKeyHolders } from '../../../docs/examples/private-key-jwt'
import type { Json } from '../../../lib/index'

const insecure = { [oauth.allowInsecureRequests]: true }
const scope = 'photos:read'

/** The server of docs/examples/private-key-jwt.ts on a port of its own, and the key of its client. */
async function withKeyHolder(
  alg: string,
  visit: (issuer: URL, key: oauth.CryptoKey) => Promise<void>,
): Promise<void> {
  const app = express()
  const listening = app.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  try {
    const address: AddressInfo | string | null = listening.address()
    if (address === null || typeof address === 'string') throw new Error('It listens on no port.')
    const issuer = `http://127.0.0.1:${address.port}`
    const { publicKey, privateKey } = await generateKeyPair(alg)
    const jwk: Json = JSON.parse(JSON.stringify({ ...(await exportJWK(publicKey)), kid: 'a' }))
    const options = { issuer, scopes: { [scope]: 'See your photos' } }
    app.use(serverOfKeyHolders(options, jwk, 'https://broker.example/jwks.json').router())
    await visit(new URL(issuer), privateKey)
  } finally {
    listening.close()
  }
}

test.each(['ES256', 'PS256', 'EdDSA'])(
  'oauth4webapi discovers private_key_jwt and authenticates by it, and by no other key (%s)',
  async (alg) => {
    await withKeyHolder(alg, async (issuer, privateKey) => {
      const discovery = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
      const as = await oauth.processDiscoveryResponse(issuer, discovery)
      expect(as).toMatchObject({
        token_endpoint_auth_methods_supported: expect.arrayContaining(['private_key_jwt']),
        token_endpoint_auth_signing_alg_values_supported: expect.arrayContaining([alg]),
      })
      const bank = { client_id: 'bank' }
      const grant = async (key: oauth.CryptoKey, kid?: string) => {
        const authentication = oauth.PrivateKeyJwt(kid === undefined ? key : { key, kid })
        const response = await oauth.clientCredentialsGrantRequest(
          as,
          bank,
          authentication,
          { scope },
          insecure,
        )
        return oauth.processClientCredentialsResponse(as, bank, response)
      }
      for (const kid of ['a', undefined])
        expect(await grant(privateKey, kid)).toMatchObject({ token_type: 'bearer', scope })
      const stolen = await generateKeyPair(alg)
      await expect(grant(stolen.privateKey, 'a')).rejects.toMatchObject({ cause: [{ scheme: 'basic' }] })
    })
  },
)

test('openid-client authenticates by private_key_jwt, and revokes by it', async () => {
  await withKeyHolder('ES256', async (issuer, key) => {
    const config = await client.discovery(
      issuer,
      'bank',
      undefined,
      client.PrivateKeyJwt({ key, kid: 'a' }),
      {
        algorithm: 'oauth2',
        execute: [client.allowInsecureRequests],
      },
    )
    const tokens = await client.clientCredentialsGrant(config, { scope })
    expect(tokens).toMatchObject({ token_type: 'bearer', scope })
    await expect(client.tokenRevocation(config, tokens.access_token)).resolves.toBeUndefined()
  })
})
