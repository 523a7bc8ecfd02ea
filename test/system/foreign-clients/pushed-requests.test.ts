import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { photoBook, photoPrint } from '../../support/flows/clients'
import { pushingStage } from '../../support/flows/pushing'
import { setStage } from '../../support/flows/stage'

/** A server on a port of its own, which takes pushed requests only. */
let server: Server
let set: ReturnType<typeof pushingStage>
let origin: string
let metadata: client.ServerMetadata

beforeAll(async () => {
  server = createServer((request, response) => void set.app(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server listens on no port.')
  origin = `http://127.0.0.1:${address.port}`
  set = pushingStage(setStage, { issuer: origin }, { required: true })
  metadata = (await set.flow.open('/.well-known/oauth-authorization-server')).body
})
afterAll(() => server.close())

const { client_id, redirect_uris } = photoPrint.registration
const [redirect_uri = ''] = redirect_uris

/** The answer to the client, once alice has approved the request at this URL. */
async function approve(url: URL): Promise<URL> {
  const page = await set.flow.open(url.pathname + url.search, 'alice')
  const response = await set.flow.decide(page, 'approve', 'alice')
  return new URL(String(response.get('Location')))
}

test('openid-client pushes its request, and completes the code flow', async () => {
  const authentication = client.ClientSecretBasic(photoPrint.secret)
  const config = new client.Configuration(metadata, client_id, undefined, authentication)
  client.allowInsecureRequests(config)
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const url = await client.buildAuthorizationUrlWithPAR(config, {
    redirect_uri,
    scope: 'photos:read',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
  })
  expect([...url.searchParams.keys()].toSorted()).toEqual(['client_id', 'request_uri'])
  const tokens = await client.authorizationCodeGrant(config, await approve(url), {
    pkceCodeVerifier,
    expectedState,
  })
  expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'photos:read' })
})

test.each([
  ['with a secret', photoPrint, oauth.ClientSecretPost(photoPrint.secret)],
  ['as a public client', photoBook, oauth.None()],
])(
  'oauth4webapi pushes its request %s, and reads a refusal',
  async (_how, { registration }, authentication) => {
    const insecure = { [oauth.allowInsecureRequests]: true }
    const own = { client_id: registration.client_id }
    const code_verifier = oauth.generateRandomCodeVerifier()
    const [callback = ''] = registration.redirect_uris
    const asked = {
      response_type: 'code',
      redirect_uri: callback,
      scope: 'photos:read',
      code_challenge: await oauth.calculatePKCECodeChallenge(code_verifier),
      code_challenge_method: 'S256',
    }
    const push = async (bend = {}) => {
      const parameters = new URLSearchParams({ ...asked, ...bend })
      const response = await oauth.pushedAuthorizationRequest(
        metadata,
        own,
        authentication,
        parameters,
        insecure,
      )
      return oauth.processPushedAuthorizationResponse(metadata, own, response)
    }
    await expect(push({ scope: 'reports:write' })).rejects.toMatchObject({
      error: 'invalid_scope',
      status: 400,
    })
    const { request_uri, expires_in } = await push()
    expect(expires_in).toBe(60)
    const url = new URL(String(metadata.authorization_endpoint))
    url.search = new URLSearchParams({ ...own, request_uri }).toString()
    const answer = oauth.validateAuthResponse(metadata, own, await approve(url), oauth.expectNoState)
    const response = await oauth.authorizationCodeGrantRequest(
      metadata,
      own,
      authentication,
      answer,
      callback,
      code_verifier,
      insecure,
    )
    const tokens = await oauth.processAuthorizationCodeResponse(metadata, own, response)
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'photos:read' })
  },
)
