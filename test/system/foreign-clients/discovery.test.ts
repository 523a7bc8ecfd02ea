import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { application } from '../../support/flows/application'
import { bent, nightlyReport, photoPrint } from '../../support/flows/clients'
import { codeOf } from '../../support/flows/redirection'
import type { Flow } from '../../support/flows/flow'

const report = bent(nightlyReport, { may_introspect: true })
const insecure = { [oauth.allowInsecureRequests]: true }
const { client_id, redirect_uris } = photoPrint.registration
const redirect_uri = redirect_uris[0] ?? ''

let server: Server
let issuer: URL
let flow: Flow

// These clients are told the issuer, and nothing else.
beforeAll(async () => {
  server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port.')
  issuer = new URL(`http://127.0.0.1:${address.port}/oauth`)
  const clients = [photoPrint.registration, report.registration]
  const host = application(
    { issuer: issuer.href, clients },
    {
      mount: (app, suite) => app.use(suite.metadata()).use('/oauth', suite.router()),
      paths: { authorize: '/oauth/authorize' },
    },
  )
  flow = host.flow
  server.on('request', host.app)
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
})

/** Alice allows it: where the client is told the code. */
async function approved(url: URL): Promise<URL> {
  const answer = await flow.decide(await flow.open(url.pathname + url.search, 'alice'), 'approve', 'alice')
  codeOf(answer)
  return new URL(String(answer.headers['location']))
}

test('oauth4webapi discovers, gets tokens, asks about them and revokes them', async () => {
  const discovery = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
  const as = await oauth.processDiscoveryResponse(issuer, discovery)
  const client = { client_id }
  const secret = oauth.ClientSecretBasic(photoPrint.secret)
  const code_verifier = oauth.generateRandomCodeVerifier()
  const url = new URL(as.authorization_endpoint ?? '')
  url.search = new URLSearchParams({
    client_id,
    redirect_uri,
    response_type: 'code',
    scope: 'photos:read',
    code_challenge: await oauth.calculatePKCECodeChallenge(code_verifier),
    code_challenge_method: as.code_challenge_methods_supported?.[0] ?? '',
  }).toString()
  const parameters = oauth.validateAuthResponse(as, client, await approved(url), oauth.expectNoState)
  const response = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    secret,
    parameters,
    redirect_uri,
    code_verifier,
    insecure,
  )
  const { access_token } = await oauth.processAuthorizationCodeResponse(as, client, response)

  const resourceServer = { client_id: report.registration.client_id }
  const introspect = async () => {
    const proof = oauth.ClientSecretBasic(report.secret ?? '')
    const answer = await oauth.introspectionRequest(as, resourceServer, proof, access_token, insecure)
    return oauth.processIntrospectionResponse(as, resourceServer, answer)
  }
  expect(await introspect()).toMatchObject({ active: true, iss: issuer.href, client_id, sub: 'alice' })
  const revocation = await oauth.revocationRequest(as, client, secret, access_token, insecure)
  await oauth.processRevocationResponse(revocation)
  expect(await introspect()).toEqual({ active: false })
})

test('openid-client discovers, gets tokens, asks about them and revokes them', async () => {
  const discover = (id: string, secret: string) =>
    openid.discovery(issuer, id, undefined, openid.ClientSecretPost(secret), {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    })
  const config = await discover(client_id, photoPrint.secret)
  expect(config.serverMetadata().supportsPKCE()).toBe(true)
  const pkceCodeVerifier = openid.randomPKCECodeVerifier()
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri,
    scope: 'photos:read',
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  const tokens = await openid.authorizationCodeGrant(config, await approved(url), { pkceCodeVerifier })
  const resourceServer = await discover(report.registration.client_id, report.secret ?? '')
  const introspect = () => openid.tokenIntrospection(resourceServer, tokens.access_token)
  expect(await introspect()).toMatchObject({ active: true, iss: issuer.href, sub: 'alice' })
  await openid.tokenRevocation(config, tokens.refresh_token ?? '')
  expect(await introspect()).toEqual({ active: false })
})
