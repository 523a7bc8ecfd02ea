import type { Redis } from 'ioredis'
import { createAuthorizationServer, redisStore } from '../../lib/index'
import { application, canonicalOptions } from '../support/flows/application'
import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { errorPageOf } from '../support/flows/error-page'
import { outcomeOf } from '../support/flows/outcome'
import { redirectionOf } from '../support/flows/redirection'
import { inMemory, notesApp, registeringOn } from '../support/flows/registering'
import { setStage } from '../support/flows/stage'
import { dumpOf, spellingsOf } from '../support/flows/stolen-dump'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { withRedis } from '../support/with-redis'

const asked = authorizationRequest(photoBook)
const json = { 'Content-Type': 'application/json' }
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

describe.each([
  ['public', photoBook],
  ['confidential', photoPrint],
])('a %s client', (_type, client) => {
  const request = authorizationRequest(client)

  test('[MCP-1] every client has a challenge with S256', async () => {
    const { flow } = setStage({ pkce: 'all' })
    const without = { code_challenge: undefined, code_challenge_method: undefined }
    expect(outcomeOf(await flow.ask({ ...request, ...without }, 'alice'))).toBe('redirect invalid_request')
    const plain = { ...request, code_challenge_method: 'plain' }
    expect(outcomeOf(await flow.ask(plain, 'alice'))).toBe('redirect invalid_request')
    expect(outcomeOf(await flow.ask(request, 'alice'))).toBe('question')
  })

  test('[MCP-1] every client proves its code, and spends it by a wrong proof', async () => {
    const { flow } = setStage({ pkce: 'all' })
    for (const code_verifier of [undefined, 'x'.repeat(43)]) {
      const code = await flow.approve(client)
      expect(outcomeOf(await flow.redeem(client, code, { code_verifier }))).toMatch(/^400 invalid_/)
    }
    expect(outcomeOf(await flow.redeem(client, await flow.approve(client)))).toBe('tokens')
  })
})

test('[MCP-3] clients register themselves, and unknown members are ignored', async () => {
  const { flow, register } = registeringOn(inMemory)()
  const { body } = await flow.open('/.well-known/oauth-authorization-server')
  expect(body.registration_endpoint).toBe(`${canonicalOptions.issuer}/register`)
  const registered = await register({ ...notesApp, application_type: 'native', software_version: [7] })
  expect(registered.status).toBe(201)
  expect(registered.body).toEqual({
    ...notesApp,
    client_id: expect.any(String),
    client_id_issued_at: expect.any(Number),
  })
  const request = { ...asked, client_id: registered.body.client_id, redirect_uri: notesApp.redirect_uris[0] }
  expect(outcomeOf(await flow.ask({ ...request, scope: notesApp.scope }, 'alice'))).toBe('question')
})

test('[MCP-3] without the option no client registers itself, and the metadata says nothing', async () => {
  const { flow } = setStage()
  const { body } = await flow.open('/.well-known/oauth-authorization-server')
  expect(body).not.toHaveProperty('registration_endpoint')
  expect((await flow.submit('/register', '{}', undefined, json)).status).toBe(404)
})

test.each([
  ['', ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']],
  [
    '/tenants/one',
    [
      '/.well-known/oauth-authorization-server/tenants/one',
      '/.well-known/openid-configuration/tenants/one',
      '/tenants/one/.well-known/openid-configuration',
    ],
  ],
] as const)('[MCP-4] the metadata of an issuer with the path "%s" is found', async (path, places) => {
  const issuer = `http://localhost${path}`
  const { flow } = application(
    { issuer },
    {
      mount: (app, oauth) => {
        app.use(oauth.metadata())
        app.use(path || '/', oauth.router())
      },
    },
  )
  for (const place of places) {
    const { status, body } = await flow.open(place)
    expect(status).toBe(200)
    expect(body).toMatchObject({ issuer, code_challenge_methods_supported: ['S256'] })
  }
})

test('[MCP-5] iss is in every authorization response, and in what the metadata promises', async () => {
  const { flow } = setStage()
  const approved = await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice')
  const denied = await flow.decide(await flow.ask(asked, 'alice'), 'deny', 'alice')
  const refused = await flow.ask({ ...asked, scope: 'unheard-of' }, 'alice')
  for (const response of [approved, denied, refused])
    expect(redirectionOf(response).parameters).toMatchObject({ iss: canonicalOptions.issuer })
  const { body } = await flow.open('/.well-known/oauth-authorization-server')
  expect(body).toMatchObject({ authorization_response_iss_parameter_supported: true })
})

test('[MCP-8] access tokens live an hour unless configured [token-18]', async () => {
  const { flow, clock } = setStage()
  const { accessToken, expiresIn } = await flow.tokens(photoBook)
  expect(expiresIn).toBe(3600)
  clock.advance(3600)
  expect((await flow.photos(accessToken)).status).toBe(401)
})

test('[MCP-9] a refresh of a public client brings another refresh token, and the old one ends', async () => {
  const { flow, clock } = setStage()
  const first = await flow.tokens(photoBook)
  const second = tokensOf(await flow.refresh(photoBook, first.refreshToken))
  expect(second.refreshToken).not.toBe(first.refreshToken)
  // Until then a repetition counts as an answer that was lost.
  clock.advance(31)
  expect(outcomeOf(await flow.refresh(photoBook, first.refreshToken))).toBe('400 invalid_grant')
})

describe('a store on Redis', () => {
  let redis: Redis
  withRedis(({ client }) => void (redis = client), { own: true })

  test('[MCP-10] the store holds no usable token or code [code-19]', async () => {
    const { flow } = application({ store: redisStore({ client: redis }) })
    const code = await flow.approve(photoBook)
    const { accessToken, refreshToken } = await flow.tokens(photoBook)
    const dump = (await dumpOf(redis)).join('\n')
    expect(dump).not.toBe('')
    const credentials = [code, accessToken, refreshToken].flatMap(spellingsOf)
    expect(credentials.filter((text) => dump.includes(text))).toEqual([])
  })
})

test('[MCP-11] no endpoint serves without TLS', async () => {
  const { flow } = setStage({ issuer: 'https://photos.example' })
  expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe('page 400 invalid_request')
  for (const path of ['/token', '/revoke', '/introspect'])
    expect(refusalOf(await flow.request(nightlyReport, { ...grant, token: 'x' }, path))).toBe(
      '400 invalid_request',
    )
})

test('[MCP-12] clients register redirection URIs with https or on loopback, and no others', () => {
  const options = { ...canonicalOptions, redirectUris: 'https or loopback' } as const
  const serverFor = (uri: string) =>
    createAuthorizationServer({
      ...options,
      clients: [bent(photoBook, { redirect_uris: [uri] }).registration],
    })
  for (const uri of ['https://book.example/callback', 'http://127.0.0.1/callback', 'http://localhost:9/a'])
    expect(() => serverFor(uri)).not.toThrow()
  for (const uri of ['com.example.book:/callback', 'http://book.example/callback'])
    expect(() => serverFor(uri)).toThrow('redirect_uris[0]')
})

const [uri] = photoBook.registration.redirect_uris

test.each([`${uri}/`, `${uri}?a=b`, 'https://BOOK.example/callback', 'https://book.example/call%62ack'])(
  '[MCP-13] a redirection URI is one that is registered, letter by letter: %s',
  async (redirect_uri) => {
    const { flow } = setStage()
    expect(outcomeOf(await flow.ask({ ...asked, redirect_uri }, 'alice'))).toBe('page 400 invalid_request')
    expect(outcomeOf(await flow.ask({ ...asked, redirect_uri: uri }, 'alice'))).toBe('question')
  },
)

test.each([
  { redirect_uri: 'https://evil.example/' },
  { client_id: 'unheard-of' },
  { client_id: undefined },
  { client_id: 'https://evil.example/client.json', redirect_uri: 'https://evil.example/' },
])('[MCP-14] the browser goes nowhere that no client has registered: %p', async (bend) => {
  const response = await setStage().flow.ask({ ...asked, ...bend }, 'alice')
  expect(errorPageOf(response)).toBe('400 invalid_request')
  expect(response.text).not.toContain('evil.example')
})

test('[MCP-27] the challenge of a 401 names the scope of the route', async () => {
  const { flow } = setStage()
  for (const headers of [{}, { Authorization: 'Bearer x' }]) {
    const response = await flow.open('/photos', undefined, headers)
    expect(response.status).toBe(401)
    expect(response.get('WWW-Authenticate')).toContain('scope="photos:read"')
  }
})

test('[MCP-28] a token counts in the header of each request, never in the query', async () => {
  const { flow } = setStage()
  const { accessToken } = tokensOf(await flow.request(nightlyReport, grant))
  expect((await flow.photos(accessToken)).status).toBe(200)
  expect((await flow.open('/photos')).status).toBe(401)
  expect((await flow.open(`/photos?access_token=${accessToken}`)).status).toBe(401)
})

test('[MCP-29] a guard answers 401, 403 and 400 as the fault is', async () => {
  const { flow, clock } = setStage()
  const { accessToken } = tokensOf(await flow.request(nightlyReport, grant))
  const other = tokensOf(await flow.request(nightlyReport, { ...grant, scope: 'reports:write' }))
  expect((await flow.open('/photos')).status).toBe(401)
  expect((await flow.photos('unheard-of')).status).toBe(401)
  expect((await flow.photos(other.accessToken)).status).toBe(403)
  expect((await flow.photos(`${accessToken} ${accessToken}`)).status).toBe(400)
  clock.advance(3600)
  expect((await flow.photos(accessToken)).status).toBe(401)
})

test('[MCP-30] the challenge of a 403 names every scope of the route at once', async () => {
  const { flow, app, oauth } = setStage()
  app.get('/prints', oauth.bearerGuard('photos:read photos:print'), (_request, response) => {
    response.end()
  })
  const { accessToken } = tokensOf(await flow.request(nightlyReport, grant))
  const response = await flow.open('/prints', undefined, { Authorization: `Bearer ${accessToken}` })
  expect(response.status).toBe(403)
  expect(response.get('WWW-Authenticate')).toMatch(/^Bearer .*error="insufficient_scope"/)
  expect(response.get('WWW-Authenticate')).toContain('scope="photos:read photos:print"')
})

test('[MCP-36] a client credentials request works with a secret in the header and in the body', async () => {
  const { flow } = setStage()
  const { body } = await flow.open('/.well-known/oauth-authorization-server')
  expect(body.token_endpoint_auth_methods_supported).toContain('client_secret_basic')
  expect(outcomeOf(await flow.request(nightlyReport, grant))).toBe('tokens')
  const { client_id } = nightlyReport.registration
  const inBody = { ...grant, client_id, client_secret: nightlyReport.secret }
  expect(outcomeOf(await flow.submit('/token', inBody))).toBe('tokens')
})
