/** RFC 9449, with the examples of its sections 4 to 9 as far as their values can be ours: codes and tokens are random. */
import express from 'express'
import { calculateJwkThumbprint } from 'jose'
import { createAuthorizationServer, memoryStore, type Store } from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import { dpop, type DpopOptions } from '../../lib/paths/dpop'
import { pushedAuthorizationRequests, requestObjects } from '../../lib/paths/pushed-requests'
import { application, canonicalOptions } from '../support/flows/application'
import { setStage } from '../support/flows/stage'
import { bent, type ClientApplication, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, type Fields, Flow, type Headers, redemption } from '../support/flows/flow'
import { introspectedPhotos, IntrospectionServer } from '../support/flows/introspection-server'
import { partOf, withJwts } from '../support/flows/jwt-tokens'
import { hashOf, Prover } from '../support/flows/prover'
import { rawRequest } from '../support/flows/raw-request'
import { redirectionOf } from '../support/flows/redirection'
import { objectClaims, requestObject, signingPrint } from '../support/flows/request-object'
import { gallery, photosApi } from '../support/flows/resources'

const start = 1_562_262_616
const issuer = 'https://server.example.com'
const resource = 'https://resource.example.org'
const report = bent(nightlyReport, { may_introspect: true })
const byItself = { grant_type: 'client_credentials', scope: 'photos:read' }

/** A server of the examples and a resource server, at the time of the examples. */
function open(
  options: DpopOptions = {},
  registered: readonly ClientApplication[] = [photoBook, photoPrint, report],
  clock = { seconds: start },
  own?: Store,
) {
  const read = () => clock.seconds * 1000
  const plugin = dpop({ baseUrl: resource, ...options })
  const { app, failures, flow, ...staged } = setStage({
    issuer,
    ...(own && { store: own }),
    clock: read,
    clients: registered.map(({ registration }) => registration),
    plugins: [plugin, pushedAuthorizationRequests()],
  })
  app.set('trust proxy', 'loopback')
  const store = own ?? staged.store
  const guard = createBearerGuard({ issuer, store, clock: read, plugins: [plugin] })
  const photos = express().use(guard('photos:read'), (request, response) => {
    response.json({ subject: request.oauth?.subject, tokenType: request.oauth?.tokenType })
  })
  const behindTls = { 'X-Forwarded-Proto': 'https' }
  const client = new Prover(read, issuer)
  /** A token request of the job, with a proof that may be bent. */
  const ask = (claims: object = {}, header: object = {}, by = client) =>
    flow.behind(behindTls).submit('/token', { client_id: 'photo-book' }, undefined, {
      DPoP: by.proof('POST', '/token', claims, header),
    })
  const lastReason = () => failures.at(-1)?.reason
  const resources = new Flow(photos)
  const at = (token: string, claims: object = {}) =>
    client.proof('GET', '/photos', { ath: hashOf(token), htu: `${resource}/photos`, ...claims })
  const call = (token: string, DPoP: string, scheme = 'DPoP') =>
    resources.open('/photos', undefined, { Authorization: `${scheme} ${token}`, DPoP })
  return { clock, app, flow: flow.behind(behindTls), client, ask, lastReason, resources, at, call, read }
}

/** The same, with the tokens of a client that has proven its key. */
async function withTokens(options: DpopOptions = {}, app: ClientApplication = photoBook, bend: Fields = {}) {
  const set = open(options)
  const code = await set.flow.approve(app, bend)
  const answer = await set.client.tokens(set.flow, redemption(app, code), app)
  const { access_token, refresh_token } = answer.body
  return {
    ...set,
    answer,
    token: String(access_token),
    refresh: { grant_type: 'refresh_token', refresh_token },
  }
}

const refusal = { status: 400, body: { error: 'invalid_dpop_proof' } }
const ofGuard = { status: 401, body: { error: 'invalid_dpop_proof' } }
const challengesOf = (headers: Readonly<Record<string, string>>) => headers['www-authenticate'] ?? ''

describe('A proof', () => {
  test('[DPOP-1] comes in one header, and alone there', async () => {
    const { app, client, lastReason } = open()
    const type = ['Content-Type', 'application/x-www-form-urlencoded', 'X-Forwarded-Proto', 'https']
    const [one, other] = [client.proof('POST', '/token'), client.proof('POST', '/token')]
    const headers = [...type, 'DPoP', one, 'DPoP', other]
    const body = 'client_id=photo-book'
    const answer = await rawRequest(app, { method: 'POST', path: '/token', headers, body })
    expect([answer.status, JSON.parse(answer.text).error, lastReason()]).toEqual([
      400,
      'invalid_dpop_proof',
      'dpop_proof_repeated',
    ])
  })

  test.each([
    ['[DPOP-2] is one well-formed JWT', 'dpop_proof_malformed', {}, { padding: 'x'.repeat(4000) }],
    ['[DPOP-3] has jti', 'dpop_claims_refused', { jti: undefined }, {}],
    ['[DPOP-3] has htm', 'dpop_claims_refused', { htm: undefined }, {}],
    ['[DPOP-3] has htu', 'dpop_claims_refused', { htu: undefined }, {}],
    ['[DPOP-3] has iat', 'dpop_claims_refused', { iat: undefined }, {}],
    ['[DPOP-4] has the type dpop+jwt', 'dpop_header_refused', {}, { typ: 'JWT' }],
    ['[DPOP-5] has an algorithm, which is not none', 'dpop_algorithm_refused', {}, { alg: 'none' }],
    ['[DPOP-5] has no symmetric algorithm', 'dpop_algorithm_refused', {}, { alg: 'HS256' }],
    ['[DPOP-5] has an algorithm that the server accepts', 'dpop_algorithm_refused', {}, { alg: 'ES512' }],
    ['[DPOP-8] names the method of the request', 'dpop_method_wrong', { htm: 'GET' }, {}],
    ['[DPOP-9] names the host of the request', 'dpop_url_wrong', { htu: 'https://evil.example/token' }, {}],
    ['[DPOP-9] names the path of the request', 'dpop_url_wrong', { htu: `${issuer}/revoke` }, {}],
    ['[DPOP-9] names the port of the request', 'dpop_url_wrong', { htu: `${issuer}:444/token` }, {}],
    [
      '[DPOP-9] names the scheme of the request',
      'dpop_url_wrong',
      { htu: 'http://server.example.com/token' },
      {},
    ],
    ['[DPOP-12] is not older than the window', 'dpop_not_in_time', { iat: start - 61 }, {}],
    ['[DPOP-12] is not newer than the window', 'dpop_not_in_time', { iat: start + 61 }, {}],
  ])('%s', async (_rule, reason, claims, header) => {
    const { ask, lastReason } = open()
    expect(await ask()).not.toMatchObject(refusal)
    expect(await ask(claims, header)).toMatchObject(refusal)
    expect(lastReason()).toBe(reason)
  })

  test('[DPOP-2] is refused in two parts, in four, in another spelling, and as a text', async () => {
    const { flow, client, lastReason } = open()
    const proof = client.proof('POST', '/token')
    for (const DPoP of [proof.slice(0, proof.lastIndexOf('.')), `${proof}.x`, `${proof}=`, 'x', '{}']) {
      const { status } = await flow.submit('/token', { client_id: 'photo-book' }, undefined, { DPoP })
      expect([DPoP, status, lastReason()]).toEqual([DPoP, 400, 'dpop_proof_malformed'])
    }
  })

  test('[DPOP-6] is signed by the key that it brings', async () => {
    const { ask, lastReason, read } = open()
    const thief = new Prover(read, issuer)
    expect(await ask({}, { jwk: thief.jwk })).toMatchObject(refusal)
    expect(lastReason()).toBe('dpop_signature_wrong')
  })

  test('[DPOP-7] brings no private key', async () => {
    const { ask, lastReason, client } = open()
    expect(await ask({}, { jwk: client.privateJwk })).toMatchObject(refusal)
    expect(lastReason()).toBe('dpop_key_private')
  })

  test('[DPOP-9] ignores query and fragment', async () => {
    const { ask } = open()
    expect(await ask({ htu: `${issuer}/token?a=b#c` })).not.toMatchObject(refusal)
  })

  test.each([
    'HTTPS://SERVER.EXAMPLE.COM/token',
    `${issuer}:443/token`,
    `${issuer}/%74oken`,
    `${issuer}/x/../token`,
  ])('[DPOP-10] may write its URL as %s (RFC 3986 6.2.2 and 6.2.3)', async (htu) => {
    expect(await open().ask({ htu })).not.toMatchObject(refusal)
  })

  test('[DPOP-32] passes once', async () => {
    const { ask, flow, client, lastReason } = open()
    client.proof = (
      (prove) => (htm, path) =>
        prove(htm, path, { jti: 'once' })
    )(client.proof.bind(client))
    const token = () => client.tokens(flow.behind({ 'X-Forwarded-Proto': 'https' }), byItself, report)
    // What is refused uses nothing up.
    for (let time = 0; time < 2; time++) expect(await ask({ jti: 'once' })).not.toMatchObject(refusal)
    expect((await token()).status).toBe(200)
    expect(await token()).toMatchObject(refusal)
    expect(lastReason()).toBe('dpop_replayed')
  })
})

describe('The token endpoint', () => {
  test('[DPOP-14] refuses a bad proof with invalid_dpop_proof and 400', async () => {
    const { flow } = open()
    const answer = await flow.submit('/token', { client_id: 'photo-book' }, undefined, { DPoP: 'x' })
    expect(answer).toMatchObject(refusal)
  })

  test('[DPOP-15] answers a proof with a token of the type DPoP', async () => {
    expect((await withTokens()).answer.body.token_type).toBe('DPoP')
  })

  test('[DPOP-16] binds the refresh token of a public client to the key', async () => {
    const { flow, client, refresh, read } = await withTokens()
    const thief = new Prover(read, issuer)
    expect((await thief.tokens(flow, refresh)).body.error).toBe('invalid_grant')
    expect((await flow.refresh(photoBook, refresh.refresh_token)).body.error).toBe('invalid_grant')
    expect((await client.tokens(flow, refresh)).status).toBe(200)
  })

  test('[DPOP-17] lets a confidential client refresh with another key, also where its code was bound to one', async () => {
    const { flow, client, read } = open()
    const code = await flow.approve(photoPrint, { dpop_jkt: client.thumbprint })
    const { body } = await client.tokens(flow, redemption(photoPrint, code), photoPrint)
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
    const second = new Prover(read, issuer)
    expect((await second.tokens(flow, refresh, photoPrint)).body.token_type).toBe('DPoP')
  })

  test('[DPOP-18] refuses a client with dpop_bound_access_tokens that sends no proof', async () => {
    const strict = bent(report, { dpop_bound_access_tokens: true })
    const { flow, client } = open({}, [strict])
    expect(await flow.request(strict, byItself)).toMatchObject(refusal)
    expect((await client.tokens(flow, byItself, strict)).status).toBe(200)
  })

  test('[DPOP-30] refuses a code whose dpop_jkt is of another key', async () => {
    const { flow, client, read } = open()
    const code = await flow.approve(photoBook, { dpop_jkt: client.thumbprint })
    const thief = new Prover(read, issuer)
    expect((await thief.tokens(flow, redemption(photoBook, code))).body.error).toBe('invalid_grant')
    expect((await flow.redeem(photoBook, code)).body.error).toBe('invalid_grant')
    expect((await client.tokens(flow, redemption(photoBook, code))).body.token_type).toBe('DPoP')
  })

  test('[DPOP-31] takes the key of a code from the proof of a pushed request, and refuses a difference', async () => {
    const { flow, client, read } = open()
    const pushed = authorizationRequest(photoBook)
    const [other, { client_id }] = [new Prover(read, issuer), photoBook.registration]
    const push = (bend: Fields) => client.tokens(flow, { ...pushed, ...bend }, photoBook, '/par')
    expect((await push({ dpop_jkt: other.thumbprint })).body.error).toBe('invalid_request')
    const { request_uri } = (await push({})).body
    const page = await flow.ask({ client_id, request_uri }, 'alice')
    const answer = await flow.decide(page, 'approve', 'alice')
    const code = new URL(answer.get('Location') ?? '').searchParams.get('code') ?? ''
    expect((await other.tokens(flow, redemption(photoBook, code))).body.error).toBe('invalid_grant')
    expect((await client.tokens(flow, redemption(photoBook, code))).body.token_type).toBe('DPoP')
  })

  test.each([
    ['before', [dpop({ baseUrl: resource }), requestObjects()]],
    ['after', [requestObjects(), dpop({ baseUrl: resource })]],
  ])(
    '[DPOP-31] does so for a pushed request object, %s the plug-in that opens it',
    async (_where, plugins) => {
      const clients = [signingPrint.registration]
      const { flow, clock } = setStage({ clients, plugins: [...plugins, pushedAuthorizationRequests()] })
      const [client, other] = [new Prover(clock.read), new Prover(clock.read)]
      const claims = objectClaims(Math.floor(clock.read() / 1000))
      const push = (bend: object) =>
        client.tokens(flow, { request: requestObject({ ...claims, ...bend }) }, signingPrint, '/par')
      expect((await push({ dpop_jkt: other.thumbprint })).body.error).toBe('invalid_request')
      const { request_uri } = (await push({})).body
      const page = await flow.ask({ client_id: 'photo-print', request_uri }, 'alice')
      const { code = '' } = redirectionOf(await flow.decide(page, 'approve', 'alice')).parameters
      const redeem = (by: Prover) => by.tokens(flow, redemption(signingPrint, code), signingPrint)
      expect((await redeem(other)).body.error).toBe('invalid_grant')
      expect((await redeem(client)).body.token_type).toBe('DPoP')
    },
  )

  test('[DPOP-11, DPOP-26] demands a nonce with 400 and use_dpop_nonce, which nobody can guess', async () => {
    const { ask, client } = open({ nonces: {} })
    const asked = await ask()
    expect(asked).toMatchObject({ status: 400, body: { error: 'use_dpop_nonce' } })
    const nonce = asked.get('DPoP-Nonce') ?? ''
    expect(nonce).toMatch(/^[\w-]{22,}$/)
    // The nonce of another server at the same second.
    expect((await open({ nonces: {} }).ask()).get('DPoP-Nonce')).not.toBe(nonce)
    client.nonce = nonce
    expect((await ask()).body.error).toBe('invalid_request')
  })

  test('[DPOP-27] refuses a nonce that it did not give, with one DPoP-Nonce header', async () => {
    const { app, client, ask } = open({ nonces: {} })
    const nonce = (await open({ nonces: {} }).ask()).get('DPoP-Nonce')
    expect((await ask({ nonce })).body.error).toBe('use_dpop_nonce')
    const headers = ['Content-Type', 'application/x-www-form-urlencoded', 'X-Forwarded-Proto', 'https']
    const proof = client.proof('POST', '/token', { nonce })
    const raw = await rawRequest(app, {
      method: 'POST',
      path: '/token',
      headers: [...headers, 'DPoP', proof],
      body: 'client_id=photo-book',
    })
    // Node joins two headers by a comma.
    expect(raw.headers['dpop-nonce']).toMatch(/^[\w-]+$/)
  })

  test('[DPOP-29] forbids caches to keep a response with a nonce, and so does a guard', async () => {
    const { answer, token, at, call, client, resources } = await withTokens({ nonces: {}, guardNonces: {} })
    expect([answer.get('DPoP-Nonce'), answer.get('Cache-Control')]).toEqual([expect.any(String), 'no-store'])
    client.nonce = (await resources.open('/photos')).get('DPoP-Nonce')
    const passed = await call(token, at(token))
    expect([passed.status, passed.get('DPoP-Nonce'), passed.get('Cache-Control')]).toEqual([
      200,
      expect.any(String),
      'no-store',
    ])
  })

  test('[DPOP-19] lists the algorithms of proofs in the metadata', async () => {
    const { flow } = open({ algorithms: ['PS256'] })
    const { body } = await flow.open('/.well-known/oauth-authorization-server')
    expect(body.dpop_signing_alg_values_supported).toEqual(['PS256'])
  })
})

describe('The key of a token', () => {
  test('[DPOP-20] stands in a JWT as its thumbprint', async () => {
    const jwts = withJwts()
    const { flow } = application(
      { ...jwts, plugins: [...(jwts.plugins ?? []), dpop()] },
      {
        mount: (host, oauth) => void host.use(oauth.router()),
      },
    )
    const client = new Prover(Date.now)
    const code = await flow.approve(gallery, { scope: 'photos:read', resource: photosApi })
    const { body } = await client.tokens(flow, redemption(gallery, code), gallery)
    const jkt = await calculateJwkThumbprint({ kty: 'EC', ...client.jwk })
    expect(partOf(body.access_token, 1)).toMatchObject({ cnf: { jkt } })
  })

  test('[DPOP-21] stands in an introspection, whose token_type is DPoP', async () => {
    const { flow, token, client } = await withTokens()
    const { body } = await flow.introspect(report, token)
    expect(body).toMatchObject({ active: true, token_type: 'DPoP', cnf: { jkt: client.thumbprint } })
  })
})

describe('A guard', () => {
  test('[DPOP-22] demands a proof with a bound token, and checks it as the server does', async () => {
    const { token, at, call, resources } = await withTokens()
    expect((await call(token, at(token))).status).toBe(200)
    expect(await resources.open('/photos', undefined, { Authorization: `DPoP ${token}` })).toMatchObject(
      ofGuard,
    )
    const proof = at(token)
    await call(token, proof)
    for (const bad of [
      'x',
      proof,
      at(token, { htm: 'POST' }),
      at(token, { htu: `${resource}/other` }),
      at(token, { iat: start - 61 }),
    ])
      expect(await call(token, bad)).toMatchObject(ofGuard)
  })

  test('[DPOP-13] demands the hash of the token, and the key of the token', async () => {
    const { token, at, call, read } = await withTokens()
    for (const ath of [undefined, 'x', hashOf(`${token}x`)])
      expect(await call(token, at(token, { ath }))).toMatchObject(ofGuard)
    const proof = new Prover(read).proof('GET', '/photos', { ath: hashOf(token), htu: `${resource}/photos` })
    expect(await call(token, proof)).toMatchObject({ status: 401, body: { error: 'invalid_token' } })
  })

  test('[DPOP-23] challenges with the scheme DPoP, the error and the algorithms', async () => {
    const { token, call, resources } = await withTokens({ algorithms: ['ES256', 'PS256'] })
    expect(challengesOf((await resources.open('/photos')).headers)).toMatch(/DPoP .*algs="ES256 PS256"/)
    expect(challengesOf((await call(token, 'x')).headers)).toMatch(
      /^DPoP .*error="invalid_dpop_proof".*algs="ES256 PS256"$/,
    )
  })

  test('[DPOP-24] refuses a bound token under the scheme Bearer', async () => {
    const { token, at, call } = await withTokens()
    expect(await call(token, at(token), 'Bearer')).toMatchObject({
      status: 401,
      body: { error: 'invalid_token' },
    })
  })

  test('[DPOP-25] puts the error into the challenge of the scheme that the request used', async () => {
    const { resources } = await withTokens()
    const ask = async (headers: Headers) =>
      challengesOf((await resources.open('/photos', undefined, headers)).headers)
    expect(await ask({})).not.toContain('error')
    const [bearer, proving] = [
      await ask({ Authorization: 'Bearer INVALID_TOKEN' }),
      await ask({ Authorization: 'DPoP INVALID_TOKEN' }),
    ]
    expect(bearer).toMatch(/^Bearer [^D]*error="invalid_token".*, DPoP (?!.*error=)/)
    expect(proving).toMatch(/^Bearer (?!.*error=.*DPoP ).*, DPoP .*error="invalid_token"/)
  })

  test('[DPOP-28] demands its own nonce with 401 and use_dpop_nonce', async () => {
    const { token, at, call, client } = await withTokens({ nonces: {}, guardNonces: {} })
    const asked = await call(token, at(token))
    expect(asked).toMatchObject({ status: 401, body: { error: 'use_dpop_nonce' } })
    expect(challengesOf(asked.headers)).toMatch(/^DPoP .*error="use_dpop_nonce"/)
    client.nonce = asked.get('DPoP-Nonce')
    expect((await call(token, at(token))).status).toBe(200)
  })

  test('[DPOP-33] tells algorithms and demand in the metadata of its resource (RFC 9728 2)', async () => {
    for (const [required, expected] of [
      [false, undefined],
      [true, true],
    ] as const) {
      const { flow } = application(
        { resources: { 'http://localhost/': { scopes: ['photos:read'] } }, plugins: [dpop({ required })] },
        { mount: (host, oauth) => void host.use(oauth.protectedResource()) },
      )
      const { body } = await flow.open('/.well-known/oauth-protected-resource')
      expect(body).toMatchObject({ dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']) })
      expect(body.dpop_bound_access_tokens_required).toBe(expected)
    }
  })
})

describe('The examples of RFC 9449', () => {
  const header =
    'eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19'
  const tokenProof = `${header}.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg`
  const refreshProof = `${header}.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjY1Mjk2fQ.pAqut2IRDm_De6PR93SYmGBPXpwrAk90e8cP2hjiaG5QsGSuKDYW7_X620BxqhvYC8ynrrvZLTk41mSRroapUA`
  const resourceProof = `${header}.eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA`
  const jkt = '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I'
  const { client_id } = photoBook.registration

  test('4.1, 5 and 6: the proofs of code and refresh get tokens with the key of 6.1', async () => {
    const clock = { seconds: start }
    // The two proofs have one `jti`: it may be used again when the time of the store has passed, too.
    const { flow } = open({}, undefined, clock, memoryStore({ clock: () => clock.seconds * 1000 }))
    const redeem = { client_id, ...redemption(photoBook, await flow.approve(photoBook)) }
    const first = await flow.submit('/token', redeem, undefined, { DPoP: tokenProof })
    expect(first.body).toMatchObject({ token_type: 'DPoP', refresh_token: expect.any(String) })
    expect((await flow.introspect(report, first.body.access_token)).body.cnf).toEqual({ jkt })
    clock.seconds = 1_562_265_296
    const { refresh_token } = first.body
    const refresh = { client_id, grant_type: 'refresh_token', refresh_token }
    const second = await flow.submit('/token', refresh, undefined, { DPoP: refreshProof })
    expect(second.body.token_type).toBe('DPoP')
  })

  test('7.1: the request to the protected resource passes a guard that introspects as in 6.2', async () => {
    const server = new IntrospectionServer()
    await server.start()
    const times = { nbf: 1_562_262_611, exp: 1_562_266_216 }
    const named = { sub: 'someone@example.com', iss: issuer, client_id: 's6BhdRkqt', scope: 'photos:read' }
    server.reset({ active: true, ...named, ...times, cnf: { jkt } })
    const { guard } = introspectedPhotos(
      issuer,
      { endpoint: server.endpoint },
      { clock: () => 1_562_262_618_000, plugins: [dpop({ baseUrl: resource })] },
    )
    const flow = new Flow(
      express().get('/protectedresource', guard('photos:read'), (request, response) => {
        response.json(request.oauth)
      }),
    )
    const Authorization = 'DPoP Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU'
    const ask = () => flow.open('/protectedresource', undefined, { Authorization, DPoP: resourceProof })
    expect((await ask()).body).toMatchObject({ subject: 'someone@example.com', tokenType: 'DPoP' })
    expect((await ask()).status).toBe(401)
    await server.stop()
  })
})

test('[DPOP-19] a server without an authorization endpoint lists the algorithms, too', async () => {
  const { resourceOwner: _none, ...machine } = canonicalOptions
  const oauth = createAuthorizationServer({
    ...machine,
    clients: [report.registration],
    plugins: [dpop({ baseUrl: resource })],
  })
  const { body } = await new Flow(express().use(oauth.router())).open(
    '/.well-known/oauth-authorization-server',
  )
  expect(body.dpop_signing_alg_values_supported).toContain('ES256')
})
