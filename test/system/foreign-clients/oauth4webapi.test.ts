import * as oauth from 'oauth4webapi'
import { startDemo, type Demo } from '../../../demo/demo'
import { ResourceOwner } from '../../support/clients/resource-owner'
import { metadataOf } from '../../support/clients/metadata'
import { freePorts } from '../../support/clients/free-ports'

let demo: Demo
let server: oauth.AuthorizationServer
const insecure = { [oauth.allowInsecureRequests]: true }

beforeAll(async () => {
  demo = await startDemo({ ports: freePorts })
  server = metadataOf(demo)
})
afterAll(() => demo.stop())

test.each([
  ['Basic', 'photoBook', (secret: string) => oauth.ClientSecretBasic(secret)],
  ['body parameters', 'photoBook', (secret: string) => oauth.ClientSecretPost(secret)],
  ['no authentication, as a public client', 'commandLine', () => oauth.None()],
] as const)(
  'oauth4webapi completes code, guarded call and refresh with %s',
  async (_name, which, authentication) => {
    const { redirect_uri, ...registered } = demo.clients[which]
    const client: oauth.Client = { client_id: registered.client_id }
    const secret = 'client_secret' in registered ? registered.client_secret : ''
    const clientAuth = authentication(secret)
    const code_verifier = oauth.generateRandomCodeVerifier()
    const state = oauth.generateRandomState()

    const url = new URL(server.authorization_endpoint ?? '')
    url.searchParams.set('client_id', client.client_id)
    url.searchParams.set('redirect_uri', redirect_uri)
    url.searchParams.set('response_type', 'code')
    url.searchParams.set('scope', 'photos:read')
    url.searchParams.set('code_challenge', await oauth.calculatePKCECodeChallenge(code_verifier))
    url.searchParams.set('code_challenge_method', 'S256')
    url.searchParams.set('state', state)
    const answer = await new ResourceOwner(demo).decide(url)

    const parameters = oauth.validateAuthResponse(server, client, answer, state)
    const redemption = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      clientAuth,
      parameters,
      redirect_uri,
      code_verifier,
      insecure,
    )
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, redemption)
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'photos:read', expires_in: 3600 })
    expect(await statusOfPhotos(tokens.access_token)).toBe(200)

    const refresh = await oauth.refreshTokenGrantRequest(
      server,
      client,
      clientAuth,
      tokens.refresh_token ?? '',
      insecure,
    )
    const refreshed = await oauth.processRefreshTokenResponse(server, client, refresh)
    expect(await statusOfPhotos(refreshed.access_token)).toBe(200)
  },
)

test('oauth4webapi completes client credentials', async () => {
  const { client_id, client_secret } = demo.clients.nightlyReport
  const request = await oauth.clientCredentialsGrantRequest(
    server,
    { client_id },
    oauth.ClientSecretBasic(client_secret),
    { scope: 'photos:read' },
    insecure,
  )
  const tokens = await oauth.processClientCredentialsResponse(server, { client_id }, request)
  expect(tokens.refresh_token).toBeUndefined()
  expect(await statusOfPhotos(tokens.access_token)).toBe(200)
})

test('oauth4webapi reads a denial and the challenge of a guard', async () => {
  const { client_id, redirect_uri } = demo.clients.photoBook
  const query = new URLSearchParams({
    client_id,
    redirect_uri,
    response_type: 'code',
    scope: 'photos:read',
    state: 's',
  })
  const answer = await new ResourceOwner(demo).decide(
    `${server.authorization_endpoint}?${query.toString()}`,
    'deny',
  )
  expect(() => oauth.validateAuthResponse(server, { client_id }, answer, 's')).toThrow(
    expect.objectContaining({ error: 'access_denied' }),
  )
  const url = new URL(`${demo.resourceServer}/photos`)
  const refused = oauth.protectedResourceRequest('at_wrong', 'GET', url, undefined, undefined, insecure)
  await expect(refused).rejects.toMatchObject({
    cause: [{ scheme: 'bearer', parameters: { error: 'invalid_token', scope: 'photos:read' } }],
  })
})

async function statusOfPhotos(accessToken: string): Promise<number> {
  const url = new URL(`${demo.resourceServer}/photos`)
  return (await oauth.protectedResourceRequest(accessToken, 'GET', url, undefined, undefined, insecure))
    .status
}
