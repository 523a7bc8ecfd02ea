import express from 'express'
import { type AuthorizationServerOptions, implicit, memoryStore } from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import { dpop, type DpopOptions } from '../../lib/paths/dpop'
import { openIdConnect } from '../../lib/paths/openid-connect'
import { failuresOf } from '../support/events'
import { application } from '../support/flows/application'
import { setStage } from '../support/flows/stage'
import { bent, type ClientApplication, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { deviceCode, deviceStage, television } from '../support/flows/device-stage'
import { authorizationRequest, type Fields, Flow, redemption } from '../support/flows/flow'
import { identityKeys, relyingParty, withIdentity } from '../support/flows/identity-stage'
import { hashOf, Prover, proverNames } from '../support/flows/prover'
import { rawRequest } from '../support/flows/raw-request'
import { withPlugins } from '../support/with-plug-ins'

const issuer = 'http://localhost'
const report = bent(nightlyReport, { may_introspect: true })
const secret = 's'.repeat(32)
const byItself = { grant_type: 'client_credentials', scope: 'photos:read' }

/** A server whose clients may prove a key, and a guard of another process. */
function place(options: DpopOptions = {}, bend: Partial<AuthorizationServerOptions> = {}) {
  const time = new Clock()
  const plugin = dpop({ baseUrl: issuer, ...options })
  const clients = [photoBook, photoPrint, report].map(({ registration }) => registration)
  const own = { clock: time.read, plugins: [plugin] }
  const plugins = withPlugins([plugin], bend.plugins)
  const { flow, app, failures, store } = setStage({ ...own, clients, ...bend, plugins })
  const shared = { ...own, store }
  const guard = createBearerGuard({ ...shared, issuer, guards: { cors: true } })
  const elsewhere = express().use('/photos', guard('photos:read'), (request, response) => {
    response.json(request.oauth)
  })
  const [client, thief] = [new Prover(time.read), new Prover(time.read)]
  const guardFailures = failuresOf(guard.events)
  return { time, flow, app, failures, client, thief, guard, elsewhere, guardFailures }
}

type Place = ReturnType<typeof place>

/** A place with the tokens of a client that has proven its key. */
async function withTokens(
  options: DpopOptions = {},
  bend: Partial<AuthorizationServerOptions> = {},
  app: ClientApplication = photoBook,
) {
  const set = place(options, bend)
  const { body } = await set.client.tokens(set.flow, redemption(app, await set.flow.approve(app)), app)
  return { ...set, token: String(body.access_token), body }
}

const refusedAs = ({ status, body }: { status: number; body: { error?: string } }) => [status, body.error]
const notValid = [400, 'invalid_dpop_proof']

/** A token request of a public client that shows this proof. */
const show = (flow: Flow, DPoP: string, fields: Fields = {}) =>
  flow.submit('/token', { client_id: photoBook.registration.client_id, ...fields }, undefined, { DPoP })

describe('A token request', () => {
  test('needs a proof if the server or the registration demands it, at the authorization endpoint too', async () => {
    const bound = bent(photoBook, { dpop_bound_access_tokens: true })
    const typed = bent(photoBook, { token_type: 'DPoP' })
    for (const [options, app] of [
      [{ required: true }, photoBook],
      [{}, bound],
      [{}, typed],
    ] as const) {
      const { flow, client } = place(options, { clients: [app.registration] })
      const code = await flow.approve(app)
      expect(refusedAs(await flow.redeem(app, code))).toEqual(notValid)
      expect((await client.tokens(flow, redemption(app, code), app)).body.token_type).toBe('DPoP')
    }
    const types = { response_types: ['token'], grant_types: ['implicit'] }
    const widget = bent(photoBook, { ...types, dpop_bound_access_tokens: true })
    const { flow } = place({}, { clients: [widget.registration], plugins: [implicit()] })
    const asked = { ...authorizationRequest(widget), response_type: 'token' }
    const answer = await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice')
    expect(answer.get('Location')).toContain('error=invalid_dpop_proof')
  })

  test.each(proverNames)('may prove a key for %s if the option names it', async (algorithm) => {
    const { flow, time } = place({ algorithms: [algorithm] })
    const answer = await new Prover(time.read, issuer, algorithm).tokens(flow, byItself, report)
    expect(answer.status).toBe(200)
  })

  test('is refused with a proof whose claims are odd', async () => {
    const { flow, client, time, failures } = place()
    const now = Math.floor(time.read() / 1000)
    const ask = (claims: object) => show(flow, client.proof('POST', '/token', claims))
    for (const [reason, claims] of [
      ['dpop_method_wrong', { htm: 'post' }],
      ['dpop_url_wrong', { htu: 'http://localhost/Token' }],
      ['dpop_url_wrong', { htu: 'http://user@localhost/token' }],
      ['dpop_url_wrong', { htu: 'http://localhost\\token' }],
      ['dpop_url_wrong', { htu: '/token' }],
      ['dpop_url_wrong', { htu: 'http://localhost/token\u0000' }],
      ['dpop_claims_refused', { iat: '1' }],
      ['dpop_claims_refused', { jti: '' }],
      ['dpop_claims_refused', { jti: 'x'.repeat(257) }],
      ['dpop_claims_refused', { htm: 1 }],
    ] as const) {
      const refused = refusedAs(await ask(claims))
      expect([claims, refused, failures.at(-1)?.reason]).toEqual([claims, notValid, reason])
    }
    const longest = await ask({ jti: 'x'.repeat(256), iat: now + 0.5 })
    expect(longest.body.error).toBe('invalid_request')
  })

  test('takes a proof of 4096 characters, and none that is longer', async () => {
    const { flow, client, failures } = place()
    const proofWith = (letters: number) => client.proof('POST', '/token', { extra: 'x'.repeat(letters) })
    const reasonFor = async (letters: number) => {
      await show(flow, proofWith(letters))
      return failures.at(-1)?.reason
    }
    // Base64url has no text of 4097 characters.
    let letters = Math.floor(((4096 - proofWith(0).length) * 3) / 4) - 4
    while (proofWith(letters + 1).length <= 4096) letters += 1
    expect([proofWith(letters).length, proofWith(letters + 1).length]).toEqual([4096, 4098])
    expect(await reasonFor(letters)).toBe('parameter_missing')
    expect(await reasonFor(letters + 1)).toBe('dpop_proof_malformed')
  })

  test('takes a proof by an RSA key of 4096 bits, and by none that is larger', async () => {
    const { flow, failures } = place()
    const rsa = new Prover(Date.now, issuer, 'RS256')
    // Nobody has the private key: what is not refused has a wrong signature.
    for (const [first, bytes, reason] of [
      [0xff, 512, 'dpop_signature_wrong'],
      [0x01, 513, 'dpop_key_refused'],
    ] as const) {
      const n = Buffer.concat([Buffer.of(first), Buffer.alloc(bytes - 1, 0xff)]).toString('base64url')
      await show(flow, rsa.proof('POST', '/token', {}, { jwk: { ...rsa.jwk, n } }))
      expect([bytes, failures.at(-1)?.reason]).toEqual([bytes, reason])
    }
  })

  test('is refused with a proof that is no signed JWT of a public key', async () => {
    const { flow, client, failures } = place()
    const good = client.proof('POST', '/token')
    const withHeader = (bend: object) => client.proof('POST', '/token', {}, bend)
    const oct = { kty: 'oct', k: 'c2VjcmV0' }
    const rsa = new Prover(Date.now, issuer, 'RS256')
    for (const [reason, DPoP] of [
      ['dpop_proof_malformed', ''],
      ['dpop_proof_malformed', 'x.y.z'],
      ['dpop_proof_malformed', `${good}, ${good}`],
      ['dpop_signature_wrong', good.slice(0, -2)],
      ['dpop_header_refused', withHeader({ typ: undefined })],
      ['dpop_header_refused', withHeader({ crit: ['exp'] })],
      ['dpop_algorithm_refused', withHeader({ alg: 'toString' })],
      ['dpop_algorithm_refused', withHeader({ alg: undefined })],
      ['dpop_algorithm_refused', client.sign({ typ: 'dpop+jwt', alg: 'HS256', jwk: oct }, {})],
      ['dpop_key_private', withHeader({ jwk: oct })],
      ['dpop_key_refused', withHeader({ jwk: undefined })],
      ['dpop_key_refused', withHeader({ jwk: [client.jwk] })],
      ['dpop_key_refused', withHeader({ jwk: rsa.jwk })],
      ['dpop_key_refused', withHeader({ jwk: { ...client.jwk, crv: 'P-384' } })],
      ['dpop_key_refused', withHeader({ jwk: { ...client.jwk, x: `${client.jwk.x}=` } })],
      ['dpop_key_refused', rsa.proof('POST', '/token', {}, { jwk: { ...rsa.jwk, n: 'AQAB' } })],
      ['dpop_key_refused', rsa.proof('POST', '/token', {}, { jwk: { ...rsa.jwk, e: 'AQAAAAAAAQ' } })],
      ['dpop_claims_refused', client.sign({ typ: 'dpop+jwt', alg: 'ES256', jwk: client.jwk }, [])],
    ] as const) {
      const refused = refusedAs(await show(flow, DPoP))
      expect([DPoP, refused, failures.at(-1)?.reason]).toEqual([DPoP, notValid, reason])
    }
  })

  test('counts the time within the option tolerance: clocks 300 seconds apart, and no more', async () => {
    for (const [tolerance, apart, expected] of [
      [300, 300, 200],
      [300, -300, 200],
      [300, 301, 400],
      [60, 300, 400],
    ] as const) {
      const { flow, time } = place({ tolerance })
      const late = new Prover(() => time.read() + apart * 1000)
      expect((await late.tokens(flow, byItself, report)).status).toBe(expected)
    }
    // The nonce has a time of the server.
    const { flow, time } = place({ nonces: {} })
    const lost = new Prover(() => time.read() - 86_400_000)
    expect((await lost.tokens(flow, byItself, report)).status).toBe(200)
  })
})

describe('A nonce of the authorization server', () => {
  test('is demanded by 400, comes with each answer to a proof, and ends', async () => {
    const { flow, client, time } = place({ nonces: { seconds: 60 } })
    const headers = { DPoP: client.proof('POST', '/token'), Origin: 'https://app.example' }
    const { client_id } = photoBook.registration
    const asked = await flow.submit('/token', { client_id, grant_type: 'x' }, undefined, headers)
    expect(refusedAs(asked)).toEqual([400, 'use_dpop_nonce'])
    expect(asked.get('Access-Control-Expose-Headers')).toContain('DPoP-Nonce')
    const passed = await client.tokens(flow, byItself, report)
    expect([passed.status, passed.get('DPoP-Nonce')]).toEqual([200, asked.get('DPoP-Nonce')])
    time.advance(60)
    const refused = await client.tokens(flow, { grant_type: 'x' }, report)
    expect(refusedAs(refused)).toEqual([400, 'unsupported_grant_type'])
    expect(refused.get('DPoP-Nonce')).not.toBe(passed.get('DPoP-Nonce'))
    const old = client.nonce
    time.advance(61)
    for (const nonce of [old, 'x', `${client.nonce}`.replace(/.$/, '_'), '']) {
      const answer = await show(flow, client.proof('POST', '/token', { nonce }), byItself)
      expect(answer.body.error).toBe(nonce === '' ? 'invalid_dpop_proof' : 'use_dpop_nonce')
    }
  })

  test('is good in each process with the same secret, at its own kind of place alone', async () => {
    const options = { nonces: { secret }, guardNonces: { secret } }
    const [one, other, stranger] = [place(options), place(options), place({ nonces: {} })]
    const client = new Prover(one.time.read)
    const code = await one.flow.approve(photoBook)
    await client.tokens(one.flow, redemption(photoBook, code))
    const ask = ({ flow }: Place) => show(flow, client.proof('POST', '/token'), { grant_type: 'x' })
    expect((await ask(other)).body.error).toBe('unsupported_grant_type')
    expect((await ask(stranger)).body.error).toBe('use_dpop_nonce')
    const { token, flow, elsewhere, client: owner } = await withTokens(options)
    const proof = owner.proof('GET', '/photos', { ath: hashOf(token) })
    const answer = await new Flow(elsewhere).open('/photos', undefined, {
      DPoP: proof,
      Authorization: `DPoP ${token}`,
    })
    expect(refusedAs(answer)).toEqual([401, 'use_dpop_nonce'])
    expect((await owner.call(flow, token)).status).toBe(200)
  })
})

describe('A refresh token', () => {
  test('of a public client is bound to the key, in the grace too', async () => {
    const { flow, client, thief, body, time, elsewhere } = await withTokens({ nonces: {} })
    const refresh = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) }
    expect((await thief.tokens(flow, refresh)).body.error).toBe('invalid_grant')
    expect((await flow.request(photoBook, refresh)).body.error).toBe('invalid_grant')
    // The nonce of the redemption has ended.
    time.advance(900)
    const first = (await client.tokens(flow, refresh)).body
    expect((await thief.tokens(flow, refresh)).body.error).toBe('invalid_grant')
    const again = (await client.tokens(flow, refresh)).body
    const { access_token, refresh_token } = first
    expect(again).toMatchObject({ token_type: 'DPoP', access_token, refresh_token })
    expect((await client.call(new Flow(elsewhere), again.access_token)).status).toBe(200)
  })

  test('of a confidential client works with another key, whose token is bound to that key, and without one', async () => {
    const { flow, client, thief: second, body, elsewhere } = await withTokens({}, {}, photoPrint)
    const refresh = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) }
    const one = (await second.tokens(flow, refresh, photoPrint)).body
    const resources = new Flow(elsewhere)
    expect((await second.call(resources, one.access_token)).status).toBe(200)
    expect((await client.call(resources, one.access_token)).status).toBe(401)
    // Within the grace, only the key of the first answer gets it again, and nothing ends by another one.
    expect(refusedAs(await client.tokens(flow, refresh, photoPrint))).toEqual([400, 'invalid_grant'])
    expect(refusedAs(await flow.refresh(photoPrint, refresh.refresh_token))).toEqual([400, 'invalid_grant'])
    const again = (await second.tokens(flow, refresh, photoPrint)).body
    expect(again.access_token).toBe(one.access_token)
    const plain = await flow.refresh(photoPrint, String(one.refresh_token))
    expect(plain.body.token_type).toBe('bearer')
  })
})

describe('dpop_jkt', () => {
  test.each(['x', 'x'.repeat(44), '*'.repeat(43)])(
    'must be a thumbprint, and "%s" is none',
    async (dpop_jkt) => {
      const ask = (value: string) =>
        place().flow.ask({ ...authorizationRequest(photoBook), dpop_jkt: value }, 'alice')
      expect((await ask(dpop_jkt)).get('Location')).toContain('error=invalid_request')
      // RFC 6749 3.1: a parameter without a value counts as omitted.
      expect((await ask('')).status).toBe(200)
    },
  )
})

describe('A device code', () => {
  const kiosk = bent(photoPrint, { client_id: 'kiosk', redirect_uris: [], response_types: [] })
  const kinds = [
    ['a public client', television],
    ['a confidential client without refresh tokens', bent(kiosk, { grant_types: [deviceCode] })],
  ] as const

  /** A device whose owner has approved. */
  async function approvedDevice(
    device: ClientApplication,
    options: Partial<AuthorizationServerOptions> = {},
  ) {
    const clients = [device.registration]
    const stage = await deviceStage(device, [dpop({ baseUrl: issuer })], { clients, ...options })
    const { body } = await stage.begin({})
    const approve = async () => stage.decide(await stage.enter(body.user_code), 'approve')
    const poll = { grant_type: deviceCode, device_code: String(body.device_code) }
    const [key, thief] = [new Prover(stage.clock.read), new Prover(stage.clock.read)]
    const by = (prover: Prover) => prover.tokens(stage.flow, poll, device)
    const plain = () => stage.flow.request(device, poll)
    return { ...stage, approve, key, thief, by, plain }
  }

  test.each([
    [...kinds[0], {}, 0],
    [...kinds[1], {}, 0],
    ['a public client whose access token has ended meanwhile', television, { accessToken: 10 }, 20],
  ] as const)('of %s gives its tokens within the grace to the first key alone', async (...row) => {
    const [, device, ended, seconds] = row
    const lifetimes = { refreshTokenGrace: 60, ...ended }
    const { approve, key, thief, by, plain, clock } = await approvedDevice(device, { lifetimes })
    await approve()
    const first = await by(key)
    expect(first.body.token_type).toBe('DPoP')
    clock.advance(seconds)
    expect(refusedAs(await by(thief))).toEqual([400, 'invalid_grant'])
    expect(refusedAs(await plain())).toEqual([400, 'invalid_grant'])
    const again = await by(key)
    expect([again.status, again.body.token_type]).toEqual([200, 'DPoP'])
    expect(again.body.refresh_token).toBe(first.body.refresh_token)
    expect(again.body.access_token === first.body.access_token).toBe(seconds === 0)
  })
})

describe('Guards', () => {
  const photosApi = 'https://photos.example/api'
  const resources = { [photosApi]: { scopes: ['photos:read'] } }

  test('name the option that they lack when they are made', () => {
    const bound = dpop()
    const plugins = [bound]
    const lack = /resource does not say which URL clients use, .* set baseUrl of dpop\(\)/s
    expect(() => application({ plugins })).toThrow(lack)
    expect(() => createBearerGuard({ issuer, store: memoryStore(), plugins })('photos:read')).toThrow(lack)
    const jwt = { jwks_uri: 'https://issuer.example/keys', audience: 'urn:api' }
    expect(() => createBearerGuard({ issuer, jwt, plugins })('photos:read')).toThrow(lack)
    expect(() => createBearerGuard({ issuer, jwt, resources, plugins })('photos:read')).not.toThrow()
    const introspection = { client: { client_id: 'x', client_secret: 'y' } }
    expect(() => createBearerGuard({ issuer, introspection, plugins })('photos:read')).toThrow(lack)
    expect(() => dpop({ baseUrl: 'api.example', tolerance: 301, nonces: { secret: 'short' } })).toThrow(
      /tolerance must be.*nonces\.secret must be.*baseUrl must be the URL/s,
    )
  })

  test('with the option required take no bearer token, and say so in challenge and metadata', async () => {
    const { flow, client } = place(
      { required: true },
      { resources: { [`${issuer}/photos`]: { scopes: ['photos:read'] } } },
    )
    expect(refusedAs(await flow.request(report, byItself))).toEqual(notValid)
    const { body } = await client.tokens(flow, byItself, report)
    expect((await client.call(flow, body.access_token)).status).toBe(200)
    const without = await flow.open('/photos')
    expect(without.headers['www-authenticate']).toMatch(/^DPoP (?!.*Bearer)/)

    const clock = new Clock().read
    const shared = { store: memoryStore({ clock }), clock }
    const { accessToken } = await application({ ...shared, plugins: [] }).flow.tokens(photoBook)
    const after = application({ ...shared, plugins: [dpop({ baseUrl: issuer, required: true })] })
    const refused = await after.flow.photos(accessToken)
    expect([refused.status, after.failures.at(-1)?.reason]).toEqual([401, 'token_unbound'])
    expect(refused.headers['www-authenticate']).toMatch(/^DPoP (?!.*Bearer)/)
  })
})

describe('The URL of a guard', () => {
  const [api, other] = ['https://api.example.com', 'https://other.example']
  const prefixes = { '/internal': api, '/': other }
  test.each([
    ['a mount prefix', api, '/v1', `${api}/v1/photos`],
    ['a proxy that removes a prefix', `${api}/v1`, '', `${api}/v1/photos`],
    ['a proxy that adds a prefix', prefixes, '/internal', `${api}/photos`],
    ['another prefix of the same beginning', prefixes, '/internals', `${other}/internals/photos`],
  ])('is known behind %s', async (_what, baseUrl, mount, htu) => {
    const path = `${mount}/photos`
    const { token, client, guard, guardFailures } = await withTokens({ baseUrl })
    const app = express().use(mount, guard('photos:read'), (_request, response) => void response.json({}))
    const flow = new Flow(app)
    expect([(await client.call(flow, token, path, { htu })).status, guardFailures]).toEqual([200, []])
    expect((await client.call(flow, token, path, { htu: `https://evil.example${path}` })).status).toBe(401)
    // RFC 9112 3.2.2: what host the absolute form of a target names does not count.
    const proof = client.proof('GET', path, { ath: hashOf(token), htu })
    const headers = ['Authorization', `DPoP ${token}`, 'DPoP', proof]
    const absolute = await rawRequest(app, { method: 'GET', path: `http://evil.example${path}`, headers })
    expect(absolute.status).toBe(200)
  })
})

test('UserInfo answers a bound token with its proof, once, and asks for nonces', async () => {
  const keys = identityKeys()
  const claims = async () => ({ name: 'Alice' })
  const bound = { baseUrl: issuer, guardNonces: {} }
  const { flow, client, thief } = place(bound, {
    ...withIdentity(),
    plugins: [keys, openIdConnect({ keys, claims }), dpop(bound)],
    clients: [relyingParty.registration],
  })
  const code = await flow.approve(relyingParty, { scope: 'openid profile' })
  const { body } = await client.tokens(flow, redemption(relyingParty, code), relyingParty)
  const token = String(body.access_token)
  const open = (scheme: string, proof: Record<string, string> = {}) =>
    flow.open('/userinfo', undefined, { Authorization: `${scheme} ${token}`, ...proof })
  const proof = () => ({ DPoP: client.proof('GET', '/userinfo', { ath: hashOf(token) }) })
  const asked = await open('DPoP', proof())
  expect(refusedAs(asked)).toEqual([401, 'use_dpop_nonce'])
  expect(asked.headers['www-authenticate']).toMatch(/^DPoP [^,]*, [^,]*error="use_dpop_nonce"/)
  const passed = await client.call(flow, token, '/userinfo')
  expect([passed.status, passed.body.name, passed.get('DPoP-Nonce')]).toEqual([
    200,
    'Alice',
    expect.any(String),
  ])
  expect(refusedAs(await thief.call(flow, token, '/userinfo'))).toEqual([401, 'invalid_token'])
  const bearer = await open('Bearer')
  expect([bearer.status, bearer.headers['www-authenticate']]).toEqual([
    401,
    expect.stringMatching(/DPoP .*algs=/),
  ])
  const used = proof()
  expect([(await open('DPoP', used)).status, (await open('DPoP', used)).status]).toEqual([200, 401])
})

test('the reason tells a proof without ath from one with another ath', async () => {
  const { flow, client, failures, token } = await withTokens()
  for (const [ath, reason] of [
    [undefined, 'dpop_token_hash_missing'],
    [hashOf('another'), 'dpop_token_hash_wrong'],
  ]) {
    const DPoP = client.proof('GET', '/photos', { ath })
    await flow.open('/photos', undefined, { Authorization: `DPoP ${token}`, DPoP })
    expect(failures.at(-1)?.reason).toBe(reason)
  }
})
