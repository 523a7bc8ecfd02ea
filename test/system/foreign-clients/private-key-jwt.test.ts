import express from 'express'
import { exportJWK, generateKeyPair } from 'jose'
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { serverOfKeyHolders } from '../../../docs/examples/private-key-jwt'
import type { Json } from '../../../lib/index'
import { discovered, Party } from '../../support/clients/oauth4webapi'
import { startServer } from '../../support/start-server'

const scope = 'photos:read'

/** The server of docs/examples/private-key-jwt.ts on a port of its own, and the key of its client. */
async function withKeyHolder(alg: string, visit: (issuer: string, key: oauth.CryptoKey) => Promise<void>) {
  const app = express()
  const { port, stop } = await startServer(app)
  try {
    const issuer = `http://127.0.0.1:${port}`
    const { publicKey, privateKey } = await generateKeyPair(alg)
    const jwk: Json = JSON.parse(JSON.stringify({ ...(await exportJWK(publicKey)), kid: 'a' }))
    const options = { issuer, scopes: { [scope]: 'See your photos' } }
    app.use(serverOfKeyHolders(options, jwk, 'https://broker.example/jwks.json').router())
    await visit(issuer, privateKey)
  } finally {
    await stop()
  }
}

test.each(['ES256', 'PS256', 'EdDSA'])(
  'oauth4webapi discovers private_key_jwt and authenticates by it, and by no other key (%s)',
  async (alg) => {
    await withKeyHolder(alg, async (issuer, key) => {
      const party = new Party(await discovered(issuer), 'bank')
      expect(party.server).toMatchObject({
        token_endpoint_auth_methods_supported: expect.arrayContaining(['private_key_jwt']),
        token_endpoint_auth_signing_alg_values_supported: expect.arrayContaining([alg]),
      })
      for (const own of [{ key, kid: 'a' }, key])
        expect(await party.enter(oauth.PrivateKeyJwt(own))).toMatchObject({ token_type: 'bearer', scope })
      const stolen = { key: (await generateKeyPair(alg)).privateKey, kid: 'a' }
      await expect(party.enter(oauth.PrivateKeyJwt(stolen))).rejects.toMatchObject({
        cause: [{ scheme: 'basic' }],
      })
    })
  },
)

test('openid-client authenticates by private_key_jwt, and revokes by it', async () => {
  await withKeyHolder('ES256', async (issuer, key) => {
    const authentication = client.PrivateKeyJwt({ key, kid: 'a' })
    const config = await client.discovery(new URL(issuer), 'bank', undefined, authentication, {
      algorithm: 'oauth2',
      execute: [client.allowInsecureRequests],
    })
    const tokens = await client.clientCredentialsGrant(config, { scope })
    expect(tokens).toMatchObject({ token_type: 'bearer', scope })
    await expect(client.tokenRevocation(config, tokens.access_token)).resolves.toBeUndefined()
  })
})
