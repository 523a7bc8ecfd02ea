import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { generateKeyPairSync } from 'node:crypto'
import express from 'express'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { createAuthorizationServer, openIdConnect, signingKeys } from '../../lib/index'
import { canonicalOptions } from '../support/flows/application'
import { Flow } from '../support/flows/flow'
import { relyingParty, withIdentity } from '../support/flows/identity-stage'

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const { registration } = relyingParty
const redirectUri = String(registration.redirect_uris?.[0])
const secret = relyingParty.secret ?? ''
const clientId = registration.client_id
const scope = 'openid profile email'

let server: Server
let issuer: URL
let flow: Flow

beforeAll(async () => {
  const app = express()
  server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port }: Pick<AddressInfo, 'port'> = Object.assign({ port: 0 }, server.address())
  issuer = new URL(`http://127.0.0.1:${port}`)
  const keys = signingKeys({ keys: [{ privateKey }] })
  const claims = () => ({ name: 'Alice Adams', email: 'alice@example.com' })
  const plugIns = [keys, openIdConnect({ keys, claims })]
  const options = { ...canonicalOptions, ...withIdentity({ plugIns }), issuer: issuer.origin }
  app.use(createAuthorizationServer(options).router())
  flow = new Flow(issuer.origin)
})
afterAll(() => {
  server.close()
})

/** The owner approves in a browser that is logged in. */
async function approve(url: URL): Promise<URL> {
  const page = await flow.open(url.pathname + url.search, 'alice')
  const answer = await flow.decide(page, 'approve', 'alice')
  return new URL(String(answer.get('Location')))
}

const discovered = () =>
  client.discovery(issuer, clientId, secret, undefined, { execute: [client.allowInsecureRequests] })

/** A log-in with openid-client, up to the tokens. */
async function logIn(config: client.Configuration, expectedNonce = client.randomNonce()) {
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope,
    nonce: expectedNonce,
    state: expectedState,
    max_age: '3600000000',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  const checks = { pkceCodeVerifier, expectedState, expectedNonce, maxAge: 3_600_000_000 }
  return client.authorizationCodeGrant(config, await approve(url), checks)
}

test('openid-client discovers, logs in, reads UserInfo and refreshes', async () => {
  const config = await discovered()
  const tokens = await logIn(config)
  expect(tokens.claims()).toMatchObject({ sub: 'alice', acr: 'mfa', auth_time: 1_700_000_000 })
  const info = await client.fetchUserInfo(config, tokens.access_token, 'alice')
  expect(info).toEqual({ sub: 'alice', name: 'Alice Adams', email: 'alice@example.com' })
  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '')
  expect(refreshed.claims()?.auth_time).toBe(1_700_000_000)
  await expect(client.fetchUserInfo(config, tokens.access_token, 'mallory')).rejects.toMatchObject({
    cause: { cause: { attribute: 'sub' } },
  })
})

test('oauth4webapi discovers by OpenID Connect, checks the signature, and reads UserInfo', async () => {
  const insecure = { [oauth.allowInsecureRequests]: true }
  const discovery = await oauth.discoveryRequest(issuer, { algorithm: 'oidc', ...insecure })
  const metadata = await oauth.processDiscoveryResponse(issuer, discovery)
  const known = { client_id: clientId }
  const [codeVerifier, nonce] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomNonce()]
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope,
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
  })
  const answer = await approve(new URL(`${metadata.authorization_endpoint}?${query.toString()}`))
  const parameters = oauth.validateAuthResponse(metadata, known, answer)
  const response = await oauth.authorizationCodeGrantRequest(
    metadata,
    known,
    oauth.ClientSecretBasic(secret),
    parameters,
    redirectUri,
    codeVerifier,
    insecure,
  )
  const tokens = await oauth.processAuthorizationCodeResponse(metadata, known, response, {
    expectedNonce: nonce,
    requireIdToken: true,
  })
  await oauth.validateApplicationLevelSignature(metadata, response, insecure)
  const subject = oauth.getValidatedIdTokenClaims(tokens)?.sub ?? ''
  const info = await oauth.userInfoRequest(metadata, known, tokens.access_token, insecure)
  expect(await oauth.processUserInfoResponse(metadata, known, subject, info)).toMatchObject({
    sub: 'alice',
    email: 'alice@example.com',
  })
})

/** Lets an attacker on the way change the ID token. With the key of the server, so that only the claim is wrong. */
async function bent(idToken: string, bend: object): Promise<string> {
  const { kid = '' } = decodeProtectedHeader(idToken)
  return new SignJWT({ ...decodeJwt(idToken), ...bend })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid })
    .sign(privateKey)
}

/** A client that checks signatures, too, and whose connection changes ID tokens. */
async function intercepted(change: (idToken: string) => Promise<string>): Promise<client.Configuration> {
  const config = await discovered()
  client.enableNonRepudiationChecks(config)
  config[client.customFetch] = async (url, { method, headers, body }) => {
    const form = body instanceof URLSearchParams ? { body } : {}
    const response = await fetch(url, { method, headers, ...form })
    if (!url.endsWith('/token')) return response
    const { id_token, ...members }: { id_token: string } = JSON.parse(await response.text())
    return Response.json({ ...members, id_token: await change(id_token) })
  }
  return config
}

test.each<[string, (idToken: string) => Promise<string>]>([
  ['a wrong nonce', (idToken) => bent(idToken, { nonce: 'another' })],
  ['a wrong issuer', (idToken) => bent(idToken, { iss: 'https://evil.example' })],
  ['a wrong audience', (idToken) => bent(idToken, { aud: 'another' })],
  ['an old end', (idToken) => bent(idToken, { exp: 1_700_000_000 })],
  ['an old login', (idToken) => bent(idToken, { auth_time: -3_600_000_000 })],
  [
    'a wrong signature',
    async (idToken) => {
      const [header, , signature] = idToken.split('.')
      return `${header}.${(await bent(idToken, { sub: 'mallory' })).split('.')[1]}.${signature}`
    },
  ],
])('openid-client notices %s', async (_what, change) => {
  const unchanged = await intercepted(async (idToken) => idToken)
  expect((await logIn(unchanged)).claims()?.sub).toBe('alice')
  await expect(logIn(await intercepted(change))).rejects.toThrow(/JWT|claim|invalid response/i)
})

test('the key of the server is published as openid-client needs it', async () => {
  const { body } = await flow.open('/.well-known/jwks.json')
  expect(body.keys).toEqual([
    { ...publicKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig', kid: expect.any(String) },
  ])
})
