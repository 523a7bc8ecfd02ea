import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer, request as send } from 'node:https'
import express from 'express'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { createAuthorizationServer } from '../../../lib/index'
import { dpop } from '../../../lib/paths/dpop'
import { openIdConnect } from '../../../lib/paths/openid-connect'
import { pushedAuthorizationRequests } from '../../../lib/paths/pushed-requests'
import { CertificateAuthority } from '../../support/certificate-authority'
import { discovered, Party } from '../../support/clients/oauth4webapi'
import { canonicalOptions, mountAll } from '../../support/flows/application'
import { Flow } from '../../support/flows/flow'
import { identityKeys, relyingParty, withIdentity } from '../../support/flows/identity-stage'
import { codeChallenge, codeVerifier } from '../../support/flows/proof-key'
import { listening } from '../../support/listening'

// A server over TLS with OpenID Connect, pushed requests and DPoP with nonces everywhere, and a guarded route. The
// clients trust the authority of this test alone.

const authority = new CertificateAuthority()
const [redirect_uri = ''] = relyingParty.registration.redirect_uris ?? []
const { client_id } = relyingParty.registration
const client_secret = relyingParty.secret ?? ''

let stop: () => Promise<void>
let issuer: string
let owner: Flow

beforeAll(async () => {
  const app = express().set('trust proxy', 'loopback')
  const { port, close } = await listening(createServer(authority.issue(['localhost']), app))
  stop = close
  issuer = `https://localhost:${port}`
  const keys = identityKeys()
  const nonces = { seconds: 60 }
  const oauthServer = createAuthorizationServer({
    ...canonicalOptions,
    ...withIdentity(),
    issuer,
    plugins: [
      keys,
      openIdConnect({ keys, claims: async () => ({ name: 'Alice' }) }),
      pushedAuthorizationRequests(),
      dpop({ baseUrl: issuer, nonces, guardNonces: nonces }),
    ],
  })
  mountAll(app, oauthServer)
  owner = new Flow(app).behind({ 'X-Forwarded-Proto': 'https' })
})
afterAll(() => stop())

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
  const as = await discovered(issuer, options)
  expect(as.dpop_signing_alg_values_supported).toContain('ES256')
  const party = new Party(as, client_id, oauth.ClientSecretBasic(client_secret), options)
  const DPoP = oauth.DPoP({}, await oauth.generateKeyPair('ES256'))
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
  const { request_uri } = await withNonce(() => party.push(new URLSearchParams(asked), proving))
  const answer = await approved(party.at(new URLSearchParams({ client_id, request_uri })))
  const parameters = oauth.validateAuthResponse(as, party.client, answer, 'state')
  const redeem = (handle: oauth.DPoPHandle) =>
    withNonce(() => party.redeem(parameters, redirect_uri, codeVerifier, { DPoP: handle }))
  // The pushed request has bound the code to the key of its proof.
  const other = oauth.DPoP({}, await oauth.generateKeyPair('ES256'))
  await expect(redeem(other)).rejects.toMatchObject({ error: 'invalid_grant' })
  const tokens = await redeem(DPoP)
  expect(tokens.token_type).toBe('dpop')
  const refreshed = await withNonce(() => party.refresh(tokens.refresh_token, { DPoP }))
  const route = new URL(`${issuer}/photos?page=1`)
  for (const { access_token: token } of [tokens, refreshed]) {
    const photos = await withNonce(() =>
      oauth.protectedResourceRequest(token, 'GET', route, undefined, undefined, proving),
    )
    expect(await photos.json()).toMatchObject({ subject: 'alice', tokenType: 'DPoP' })
    const info = await withNonce(async () => {
      const response = await oauth.userInfoRequest(as, party.client, token, proving)
      return oauth.processUserInfoResponse(as, party.client, 'alice', response)
    })
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
