import { createHash } from 'node:crypto'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { openIdConnect } from '../../lib/paths/openid-connect'
import { signingKeys } from '../../lib/paths/jwt'
import { bent } from '../support/flows/clients'
import {
  claimsIn,
  identityKeys,
  identityStage,
  relyingParty,
  withIdentity,
} from '../support/flows/identity-stage'
import { keySecret, partOf } from '../support/flows/jwt-tokens'
import { loginOf } from '../support/flows/login-stage'
import { outcomeOf } from '../support/flows/outcome'
import { redirectionOf } from '../support/flows/redirection'
import {
  asked,
  claimsRequest,
  identityLoginStage,
  identityOf,
  issuer,
  logIn,
  loginRequest,
  userInfo,
} from '../support/flows/relying-party'
import { signedFormat } from '../support/flows/signed-format'
import { setStage } from '../support/flows/stage'

const open = identityStage(setStage)
type Set = ReturnType<typeof open>

const keysOf = async ({ flow }: Pick<Set, 'flow'>) =>
  createLocalJWKSet((await flow.open('/.well-known/jwks.json')).body)
const seconds = ({ clock }: Set) => Math.floor(clock.read() / 1000)

/** A relying party with another name. */
const other = bent(relyingParty, { client_id: 'other', redirect_uris: ['https://other.example/callback'] })
const twoClients = { clients: [relyingParty.registration, other.registration] }

describe('An ID token', () => {
  test('[OIC-1, OIC-49] is signed with RS256 by a key of jwks_uri, which its header names', async () => {
    const set = open()
    const { idToken } = await logIn(set)
    expect(partOf(idToken, 0)).toEqual({ alg: 'RS256', typ: 'JWT', kid: expect.any(String) })
    const expected = { issuer, audience: 'relying-party', algorithms: ['RS256'] }
    await expect(jwtVerify(idToken, await keysOf(set), expected)).resolves.toMatchObject({
      payload: { sub: 'alice' },
    })
    const altered = idToken.replace(/\.[^.]+\./, `.${Buffer.from('{"sub":"bob"}').toString('base64url')}.`)
    await expect(jwtVerify(altered, await keysOf(set))).rejects.toThrow(/signature verification failed/)
  })

  test.each(['none', 'HS256'])('[OIC-1] is never signed with %s', (algorithm) => {
    const keys = identityKeys()
    const options: object = { keys, algorithm }
    expect(() => Reflect.apply(openIdConnect, undefined, [options])).toThrow(/algorithm must be one of/)
  })

  test('[OIC-2] has the issuer of the server, exactly', async () => {
    const { app, flow } = open({ issuer: 'https://photos.example' })
    app.set('trust proxy', 'loopback')
    const behind = { flow: flow.behind({ 'X-Forwarded-Proto': 'https' }) }
    expect(claimsIn((await logIn(behind)).idToken)['iss']).toBe('https://photos.example')
  })

  test.each(['a', 'auth0|5f7c8ec7c33c6c004bbafe82', 'x'.repeat(255)])(
    '[OIC-3] has the subject of the owner as it is: %s',
    async (subject) => {
      const set = open()
      const { idToken, accessToken } = await logIn(set, {}, subject)
      expect(claimsIn(idToken)['sub']).toBe(subject)
      expect((await userInfo(set, accessToken)).body.sub).toBe(subject)
    },
  )

  test.each(['x'.repeat(256), 'Zo\u00eb'])(
    '[OIC-3] never has a subject that is no ASCII of at most 255 characters: %s',
    async (subject) => {
      const { flow, failures } = open({ resourceOwner: () => subject })
      expect(outcomeOf(await flow.ask(loginRequest))).toBe('redirect server_error')
      expect(failures).toMatchObject([{ code: 'server_error' }])
      expect(outcomeOf(await flow.ask({ ...loginRequest, scope: 'photos:read' }))).toBe('question')
    },
  )

  test('[OIC-4] is for the client of the request alone', async () => {
    const set = open(twoClients)
    expect(claimsIn((await logIn(set)).idToken)['aud']).toBe('relying-party')
    const { body } = await set.flow.redeem(other, await set.flow.approve(other, asked))
    expect(claimsIn(body.id_token)['aud']).toBe('other')
  })

  test('[OIC-5, OIC-6] says in whole seconds when it was issued, when it ends and when the owner logged in', async () => {
    const set = open({}, { idTokenLifetime: 300 })
    const { idToken } = await logIn(set, { max_age: '999999999' })
    const iat = seconds(set)
    expect(claimsIn(idToken)).toMatchObject({ iat, exp: iat + 300, auth_time: 1_700_000_000 })
  })

  test('[OIC-6] has the auth_time of the login for a client that asks for it by claims', async () => {
    const { ask, flow, now } = identityLoginStage({ skipConsent: () => true }, { claimsParameter: true })
    const asking = claimsRequest({ id_token: { auth_time: { essential: true } } })
    const at = now() - 7
    const { parameters } = redirectionOf(await ask({ ...loginRequest, ...asking }, 'alice', at))
    const { idToken } = identityOf(await flow.redeem(relyingParty, String(parameters['code'])))
    expect(claimsIn(idToken)['auth_time']).toBe(at)
  })

  test('[OIC-6] is not given after max_age to an owner whose login has no time', async () => {
    const { ask, open: come } = identityLoginStage({ skipConsent: () => true })
    const { back } = loginOf(await ask({ ...loginRequest, max_age: '60' }, 'alice'))
    expect(outcomeOf(await come(back, 'alice'))).toBe('redirect login_required')
  })

  test.each(['n-0S6_WzA2Mj', 'a b+c&"<\u00fc>', 'x'.repeat(1024)])(
    '[OIC-7] has the nonce of the request as it is: %s',
    async (nonce) => {
      expect(claimsIn((await logIn(open(), { nonce })).idToken)['nonce']).toBe(nonce)
    },
  )

  test('[OIC-7] has no nonce if the request has none', async () => {
    expect(claimsIn((await logIn(open(), { nonce: undefined })).idToken)).not.toHaveProperty('nonce')
  })

  test('[OIC-8] has acr and amr as the host says, and neither if the host says nothing', async () => {
    expect(claimsIn((await logIn(open())).idToken)).toMatchObject({ acr: 'mfa', amr: ['pwd', 'otp'] })
    const plain = claimsIn((await logIn(open({ resourceOwner: (req) => req.get('X-Owner') }))).idToken)
    for (const name of ['acr', 'amr', 'auth_time']) expect(plain).not.toHaveProperty(name)
  })

  test('[OIC-9] has no key and no address of a key in its header', async () => {
    const { idToken } = await logIn(open())
    for (const name of ['jwk', 'jku', 'x5u', 'x5c']) expect(partOf(idToken, 0)).not.toHaveProperty(name)
  })

  test('[OIC-10] has the left half of the SHA-256 of the access token', async () => {
    const { idToken, accessToken } = await logIn(open())
    const half = createHash('sha256').update(accessToken).digest().subarray(0, 16)
    expect(claimsIn(idToken)['at_hash']).toBe(half.toString('base64url'))
  })

  // OpenID Connect Core A.3 and A.6: this access token with this hash, under RS256.
  test('[OIC-10] has the at_hash that the examples of the specification have', async () => {
    const encode = async () => 'jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y'
    const set = open({
      plugins: [{ name: 'host-formats', accessTokenFormats: [signedFormat('fixed', 'key', { encode })] }],
    })
    expect(claimsIn((await logIn(set)).idToken)['at_hash']).toBe('77QmUPtjPfzWtF2AnpK9RQ')
  })
})

describe('The token endpoint', () => {
  test('[OIC-35] gives an ID token only for a code of a request of OpenID Connect', async () => {
    const set = open()
    const plain = await set.flow.approve(relyingParty, { scope: 'photos:read profile' })
    const { body } = await set.flow.redeem(relyingParty, plain, { scope: 'openid', nonce: 'x' })
    expect(body).toHaveProperty('access_token')
    expect(body).not.toHaveProperty('id_token')
  })

  test('[OIC-36] answers with access token, type, lifetime and ID token, and no cache may keep it', async () => {
    const { flow } = open()
    const response = await flow.redeem(relyingParty, await flow.approve(relyingParty, asked))
    expect(response.body).toEqual({
      access_token: expect.any(String),
      token_type: expect.stringMatching(/^bearer$/i),
      expires_in: 3600,
      refresh_token: expect.any(String),
      scope: asked.scope,
      id_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    })
    expect(response.get('Cache-Control')).toBe('no-store')
    expect(response.get('Content-Type')).toMatch(/^application\/json/)
  })

  test('[OIC-48] gives each client the same subject', async () => {
    const set = open(twoClients)
    const { body } = await set.flow.redeem(other, await set.flow.approve(other, asked))
    expect(claimsIn(body.id_token)['sub']).toBe(claimsIn((await logIn(set)).idToken)['sub'])
    expect((await set.flow.open('/.well-known/openid-configuration')).body.subject_types_supported).toEqual([
      'public',
    ])
  })
})

test('[OIC-50] a key has a successor after a while, and stays published for the ID tokens that it has signed', async () => {
  const keys = signingKeys({ secrets: [keySecret], algorithms: ['RS256'] })
  const set = setStage(withIdentity({ plugins: [keys, openIdConnect({ keys })] }))
  const { idToken: first } = await logIn(set)
  set.clock.advance(90 * 24 * 3600)
  const { idToken: last } = await logIn(set)
  // The successor is published before it signs.
  set.clock.advance(3600)
  const { idToken: second } = await logIn(set)
  expect(partOf(last, 0)['kid']).toBe(partOf(first, 0)['kid'])
  expect(partOf(second, 0)['kid']).not.toBe(partOf(first, 0)['kid'])
  const { body } = await set.flow.open('/.well-known/jwks.json')
  const known = body.keys.map(({ kid }: { kid: string }) => kid)
  for (const token of [last, second]) expect(known).toContain(partOf(token, 0)['kid'])
  const currentDate = new Date(set.clock.read())
  await expect(jwtVerify(second, await keysOf(set), { currentDate })).resolves.toHaveProperty('payload')
})

describe('A refresh', () => {
  test('[OIC-51] token comes by the registration of the client, with or without offline_access', async () => {
    const once = bent(relyingParty, { grant_types: ['authorization_code'] })
    const { flow } = open({ clients: [once.registration] })
    for (const scope of ['openid', 'openid offline_access']) {
      const code = await flow.approve(once, { scope, prompt: 'consent' })
      expect((await flow.redeem(once, code)).body).not.toHaveProperty('refresh_token')
    }
    expect((await logIn(open(), { scope: 'openid' })).body).toHaveProperty('refresh_token')
  })

  test('[OIC-52] gives an ID token of the same issuer, subject, audience and auth_time, issued now and without a nonce', async () => {
    const set = open()
    const first = await logIn(set)
    set.clock.advance(900)
    const later = identityOf(await set.flow.refresh(relyingParty, first.refreshToken))
    const { nonce: _nonce, at_hash: _hash, ...before } = claimsIn(first.idToken)
    const now = seconds(set)
    expect(claimsIn(later.idToken)).toEqual({
      ...before,
      iat: now,
      exp: now + 3600,
      at_hash: createHash('sha256').update(later.accessToken).digest().subarray(0, 16).toString('base64url'),
    })
  })
})

test('[OIC-54] no endpoint of OpenID Connect serves without TLS', async () => {
  const { flow } = open({ issuer: 'https://photos.example', logOut: () => {} })
  expect(outcomeOf(await flow.ask(loginRequest, 'alice'))).toBe('page 400 invalid_request')
  expect(outcomeOf(await flow.redeem(relyingParty, 'x'))).toBe('400 invalid_request')
  expect((await userInfo({ flow }, `at_${'A'.repeat(65)}`)).status).toBe(400)
  expect(outcomeOf(await flow.open('/logout', 'alice'))).toBe('page 400 invalid_request')
})
