import express from 'express'
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { createAuthorizationServer, stepUp } from '../../../lib/index'
import { canonicalOptions } from '../../support/flows/application'
import { photoPrint } from '../../support/flows/clients'
import { authorizationRequest, Flow } from '../../support/flows/flow'
import { loginOf } from '../../support/flows/login-stage'
import { codeVerifier } from '../../support/flows/proof-key'
import { startServer, type StartedServer } from '../../support/rooms/start-server'

const [gold, silver] = ['urn:example:gold', 'urn:example:silver']
const insecure = { [oauth.allowInsecureRequests]: true }
const { client_id, redirect_uris } = photoPrint.registration
const [redirectUri = ''] = redirect_uris
const now = () => Math.floor(Date.now() / 1000)

let started: StartedServer
let issuer: string
let flow: Flow
const login = { current: { authTime: now(), acr: silver } }

beforeAll(async () => {
  const app = express()
  started = await startServer(app)
  issuer = `http://127.0.0.1:${started.port}`
  const server = createAuthorizationServer({
    ...canonicalOptions,
    issuer,
    resourceOwner: () => ({ subject: 'alice', ...login.current }),
    plugIns: [stepUp({ acrValues: [gold, silver] })],
    refreshTokenRotation: false,
  })
  app.use(server.router())
  app.get('/photos', server.bearerGuard('photos:read', { acr: gold, maxAge: 600 }), (req, res) => {
    res.json({ of: req.oauth?.subject })
  })
  flow = new Flow(issuer)
})
afterAll(() => started.stop())

const photos = (token: string) =>
  oauth.protectedResourceRequest(token, 'GET', new URL(`${issuer}/photos`), undefined, null, insecure)

/** What oauth4webapi reads of the challenge that it gets. */
async function challengeOf(token: string): Promise<Partial<oauth.WWWAuthenticateChallengeParameters>> {
  try {
    await photos(token)
  } catch (error) {
    if (error instanceof oauth.WWWAuthenticateChallengeError) return error.cause[0]?.parameters ?? {}
    throw error
  }
  return {}
}

test('oauth4webapi reads the challenge, asks again with it, and refreshes twice with one refresh token', async () => {
  const server = await oauth.processDiscoveryResponse(
    new URL(issuer),
    await oauth.discoveryRequest(new URL(issuer), { ...insecure, algorithm: 'oauth2' }),
  )
  expect(server.acr_values_supported).toEqual([gold, silver])
  const weak = await flow.tokens(photoPrint)
  const { error, acr_values, max_age, scope } = await challengeOf(weak.accessToken)
  expect([error, acr_values, max_age]).toEqual(['insufficient_user_authentication', gold, '600'])

  const asked = { ...authorizationRequest(photoPrint), acr_values, max_age, scope }
  const { back } = loginOf(await flow.ask(asked))
  login.current = { authTime: now(), acr: gold }
  const decided = await flow.decide(await flow.open(back), 'approve')
  const parameters = oauth.validateAuthResponse(
    server,
    { client_id },
    new URL(String(decided.get('Location'))),
    asked.state,
  )
  const authentication = oauth.ClientSecretBasic(photoPrint.secret)
  const redemption = await oauth.authorizationCodeGrantRequest(
    server,
    { client_id },
    authentication,
    parameters,
    redirectUri,
    codeVerifier,
    insecure,
  )
  const tokens = await oauth.processAuthorizationCodeResponse(server, { client_id }, redemption)
  expect((await photos(tokens.access_token)).status).toBe(200)

  const refreshToken = String(tokens.refresh_token)
  for (let round = 0; round < 2; round++) {
    const response = await oauth.refreshTokenGrantRequest(
      server,
      { client_id },
      authentication,
      refreshToken,
      insecure,
    )
    const refreshed = await oauth.processRefreshTokenResponse(server, { client_id }, response)
    expect(refreshed.refresh_token).toBe(refreshToken)
    expect((await photos(refreshed.access_token)).status).toBe(200)
  }
})

test('openid-client refreshes twice with one refresh token, which each response names', async () => {
  const configuration = await client.discovery(
    new URL(issuer),
    client_id,
    undefined,
    client.ClientSecretBasic(photoPrint.secret),
    { algorithm: 'oauth2', execute: [client.allowInsecureRequests] },
  )
  const { refreshToken } = await flow.tokens(photoPrint)
  const seen = new Set<string>()
  for (let round = 0; round < 2; round++) {
    const tokens = await client.refreshTokenGrant(configuration, refreshToken)
    expect(tokens.refresh_token).toBe(refreshToken)
    seen.add(tokens.access_token)
  }
  expect(seen.size).toBe(2)
})
