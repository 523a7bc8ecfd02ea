import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer, request as send, type Server } from 'node:https'
import express from 'express'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import {
  createAuthorizationServer,
  dpop,
  openIdConnect,
  pushedAuthorizationRequests,
} from '../../../lib/index'
import { CertificateAuthority } from '../../support/certificate-authority'
import { canonicalOptions, mountAll } from '../../support/flows/application'
import { Flow } from '../../support/flows/flow'
import { identityKeys, relyingParty, withIdentity } from '../../support/flows/identity-stage'
import { codeChallenge, codeVerifier } from '../../support/flows/proof-key'

// A server over TLS with OpenID Connect, pushed requests and DPoP with nonces everywhere, and a guarded route. The
// clients trust the authority of this test alone.

const authority = new CertificateAuthority()
const [redirect_uri = ''] = relyingParty.registration.redirect_uris ?? []
const { client_id } = relyingParty.registration
const client_secret = relyingParty.secret ?? ''

let server: Server
let issuer: string
let owner: Flow

beforeAll(async () => {
  const app = express().set('trust proxy', 'loopback')
  server = createServer(authority.issue(['localhost']), app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const place = server.address()
  issuer = `https://localhost:${place !== null && typeof place === 'object' ? place.port : 0}`
  const keys = identityKeys()
  const nonces = { seconds: 60 }
  const oauthServer = createAuthorizationServer({
    ...canonicalOptions,
    ...withIdentity(),
    issuer,
    plugIns: [
      keys,
      openIdConnect({ keys, claims: async () => ({ name: 'Alice' }) }),
      pushedAuthorizationRequests(),
      dpop({ baseUrl: issuer, nonces, guardNonces: nonces }),
    ],
  })
  mountAll(app, oauthServer)
  owner = new Flow(app).behind({ 'X-Forwarded-Proto': 'https' })
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
})

interface Sent {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Fetches over TLS from servers of the authority of this test. */
async function fetchSecurely(url: string, { method, headers, body }: Sent): Promise<Response> {
  const outgoing = send(url, { method, headers, ca: authority.ca, agent: false })
  outgoing.end(body instanceof URLSearchParams ? body.toString() : undefined)
  const [incoming]: IncomingMessage[] = await once(outgoing, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of incoming ?? []) chunks.push(Buffer.from(chunk))
  const answered = Object.entries(incoming?.headersDistinct ?? {}).flatMap(([name, lines = []]) =>
    lines.map((line): [string, string] => [name, line]),
  )
  return new Response(Buffer.concat(chunks), { status: incoming?.statusCode ?? 500, headers: answered })
}

/** The owner approves the request at this URL: the URL to which the browser goes. */
async function approved(url: URL): Promise<URL> {
  const page = await owner.open(url.pathname + url.search, 'alice')
  const answer = await owner.decide(page, 'approve', 'alice')
  return new URL(answer.get('Location') ?? '')
}

const asked = {
  client_id,
  redirect_uri,
  response_type: 'code',
  scope: 'openid profile photos:read',
  code_challenge: codeChallenge,
  code_challenge_method: 'S256',
  state: 'state',
}

test('oauth4webapi gets bound tokens over TLS by pushed request, code and refresh, and uses them', async () => {
  const options = { [oauth.customFetch]: fetchSecurely }
  const client: oauth.Client = { client_id }
  const authentication = oauth.ClientSecretBasic(client_secret)
  const as = await oauth.processDiscoveryResponse(
    new URL(issuer),
    await oauth.discoveryRequest(new URL(issuer), options),
  )
  expect(as.dpop_signing_alg_values_supported).toContain('ES256')
  const DPoP = oauth.DPoP(client, await oauth.generateKeyPair('ES256'))
  const proving = { ...options, DPoP }
  let retries = 0
  const withNonce = async <Result>(ask: () => Promise<Result>): Promise<Result> => {
    try {
      return await ask()
    } catch (error) {
      if (!oauth.isDPoPNonceError(error)) throw error
      retries += 1
      return ask()
    }
  }
  const pushed = await withNonce(async () =>
    oauth.processPushedAuthorizationResponse(
      as,
      client,
      await oauth.pushedAuthorizationRequest(as, client, authentication, new URLSearchParams(asked), proving),
    ),
  )
  const url = new URL(as.authorization_endpoint ?? '')
  url.search = new URLSearchParams({ client_id, request_uri: pushed.request_uri }).toString()
  const parameters = oauth.validateAuthResponse(as, client, await approved(url), 'state')
  const redeem = (handle: oauth.DPoPHandle) =>
    withNonce(async () =>
      oauth.processAuthorizationCodeResponse(
        as,
        client,
        await oauth.authorizationCodeGrantRequest(
          as,
          client,
          authentication,
          parameters,
          redirect_uri,
          codeVerifier,
          {
            ...options,
            DPoP: handle,
          },
        ),
      ),
    )
  // The pushed request has bound the code to the key of its proof.
  const other = oauth.DPoP(client, await oauth.generateKeyPair('ES256'))
  await expect(redeem(other)).rejects.toMatchObject({ error: 'invalid_grant' })
  const tokens = await redeem(DPoP)
  expect(tokens.token_type).toBe('dpop')
  const refreshed = await withNonce(async () =>
    oauth.processRefreshTokenResponse(
      as,
      client,
      await oauth.refreshTokenGrantRequest(as, client, authentication, tokens.refresh_token ?? '', proving),
    ),
  )
  for (const token of [tokens.access_token, refreshed.access_token]) {
    const photos = await withNonce(() =>
      oauth.protectedResourceRequest(
        token,
        'GET',
        new URL(`${issuer}/photos?page=1`),
        undefined,
        undefined,
        proving,
      ),
    )
    expect(await photos.json()).toMatchObject({ subject: 'alice', tokenType: 'DPoP' })
    const info = await withNonce(async () =>
      oauth.processUserInfoResponse(
        as,
        client,
        'alice',
        await oauth.userInfoRequest(as, client, token, proving),
      ),
    )
    expect(info.name).toBe('Alice')
  }
  // The handle keeps one nonce for each origin. Here, the server and the guard share one, and not their nonces.
  expect(retries).toBeGreaterThanOrEqual(2)
})

test('openid-client 6 gets bound tokens over TLS, and uses them at UserInfo and at the guard', async () => {
  const config = await openid.discovery(
    new URL(issuer),
    client_id,
    undefined,
    openid.ClientSecretPost(client_secret),
    {
      [openid.customFetch]: fetchSecurely,
    },
  )
  const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair('Ed25519'))
  const url = await openid.buildAuthorizationUrlWithPAR(config, asked, { DPoP })
  const checks = { pkceCodeVerifier: codeVerifier, expectedState: 'state' }
  const tokens = await openid.authorizationCodeGrant(config, await approved(url), checks, undefined, { DPoP })
  expect(tokens.token_type).toBe('dpop')
  const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, { DPoP })
  for (const { access_token: token } of [tokens, refreshed]) {
    const photos = await openid.fetchProtectedResource(
      config,
      token,
      new URL(`${issuer}/photos`),
      'GET',
      undefined,
      undefined,
      { DPoP },
    )
    expect(await photos.json()).toMatchObject({ subject: 'alice', tokenType: 'DPoP' })
    expect((await openid.fetchUserInfo(config, token, 'alice', { DPoP })).name).toBe('Alice')
  }
})
