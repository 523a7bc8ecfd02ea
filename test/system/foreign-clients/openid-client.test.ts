import * as client from 'openid-client'
import { startDemo, type Demo } from '../../../demo/demo'
import { metadataOf } from '../../support/clients/metadata'
import { freePorts } from '../../support/clients/free-ports'
import { ResourceOwner } from '../../support/clients/resource-owner'

let demo: Demo
let metadata: client.ServerMetadata

beforeAll(async () => {
  demo = await startDemo({ ports: freePorts })
  metadata = metadataOf(demo)
})
afterAll(() => demo.stop())

test.each([
  ['Basic', 'photoBook', (secret: string) => client.ClientSecretBasic(secret)],
  ['body parameters', 'photoBook', (secret: string) => client.ClientSecretPost(secret)],
  ['no authentication, as a public client', 'commandLine', () => client.None()],
] as const)(
  'openid-client completes code, guarded call and refresh with %s',
  async (_name, which, authentication) => {
    const { redirect_uri, ...registered } = demo.clients[which]
    const secret = 'client_secret' in registered ? registered.client_secret : ''
    const config = configurationOf(registered.client_id, authentication(secret))
    const pkceCodeVerifier = client.randomPKCECodeVerifier()
    const expectedState = client.randomState()

    const url = client.buildAuthorizationUrl(config, {
      redirect_uri,
      scope: 'photos:read',
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
    })
    const answer = await new ResourceOwner(demo).decide(url)
    const tokens = await client.authorizationCodeGrant(config, answer, { pkceCodeVerifier, expectedState })
    expect(tokens.scope).toBe('photos:read')
    expect(await statusOfPhotos(config, tokens.access_token)).toBe(200)

    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(await statusOfPhotos(config, refreshed.access_token)).toBe(200)
  },
)

test('openid-client completes client credentials', async () => {
  const { client_id, client_secret } = demo.clients.nightlyReport
  const config = configurationOf(client_id, client.ClientSecretBasic(client_secret))
  const tokens = await client.clientCredentialsGrant(config, { scope: 'photos:read' })
  expect(await statusOfPhotos(config, tokens.access_token)).toBe(200)
})

test('openid-client reads why a code was refused', async () => {
  const { client_id, client_secret, redirect_uri } = demo.clients.photoBook
  const config = configurationOf(client_id, client.ClientSecretBasic(client_secret))
  const answer = new URL(`${redirect_uri}?code=ac_wrong&iss=${encodeURIComponent(metadata.issuer)}`)
  await expect(client.authorizationCodeGrant(config, answer)).rejects.toMatchObject({
    error: 'invalid_grant',
    status: 400,
  })
})

function configurationOf(clientId: string, authentication: client.ClientAuth): client.Configuration {
  const config = new client.Configuration(metadata, clientId, undefined, authentication)
  client.allowInsecureRequests(config)
  return config
}

async function statusOfPhotos(config: client.Configuration, accessToken: string): Promise<number> {
  const url = new URL(`${demo.resourceServer}/photos`)
  return (await client.fetchProtectedResource(config, accessToken, url, 'GET')).status
}
