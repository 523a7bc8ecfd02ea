import { createHmac } from 'node:crypto'
import { createBearerGuard } from '../../lib/paths/guards'
import { jwtAccessTokens, signingKeys } from '../../lib/paths/jwt'
import { jwtBearer } from '../../lib/paths/grants'
import { openIdConnect } from '../../lib/paths/openid-connect'
import {
  claimsAt,
  encoded,
  hub,
  hubOnCurve,
  json,
  jws,
  jwt,
  partner,
  type Signer,
  signer,
} from '../support/assertions/jwt'
import { KeyServer } from '../support/assertions/key-server'
import { bent, nightlyReport } from '../support/flows/clients'
import { introspector, relyingParty, withIdentity } from '../support/flows/identity-stage'
import { partOf } from '../support/flows/jwt-tokens'
import { photosApi } from '../support/flows/resources'
import { setStage } from '../support/flows/stage'
import { refusalOf } from '../support/flows/tokens'
import { accessClaims, accessJwt } from '../support/jwt-guard/access-tokens'
import { guardedPhotos } from '../support/jwt-guard/guarded-photos'
import { altered } from '../support/altered'
import { grantTypeOf } from '../support/grant-type-of'

const named = { keys: [{ ...hub.jwk, alg: 'PS256' }, hubOnCurve.jwk] }

/** The reason why a guard refuses a token; undefined if the token passes. */
async function reasonOf(set: ReturnType<typeof guardedPhotos>, token: string): Promise<string | undefined> {
  const before = set.failures.length
  await set.ask(token, '/any')
  return set.failures[before]?.reason
}

type Row = [
  title: string,
  reason: string | undefined,
  claims?: object,
  header?: Record<string, unknown>,
  by?: Signer,
  options?: Parameters<typeof guardedPhotos>[0],
]
const others = { ...partner, issuer: hub.issuer }
const inPrototype = { client_id: undefined, ...JSON.parse('{"__proto__":{"client_id":"photo-book"}}') }

// A good access token with some claims and header members changed, signed by the key of its issuer unless another is named.
test.each<Row>([
  ['[JBP-1] an algorithm of the option', undefined, {}, {}, hubOnCurve, { algorithms: ['ES256'] }],
  ['[JBP-1] no other algorithm', 'jwt_algorithm_refused', {}, {}, hub, { algorithms: ['ES256'] }],
  ['[JBP-1] a key that names another algorithm', 'jwt_key_unknown', {}, {}, hub, { jwks: named }],
  ['[JBP-1] a key of another kind', 'jwt_key_unknown', {}, { kid: hubOnCurve.kid }],
  ['[JBP-6] an issuer with keys of its own', 'token_issuer_unknown', { iss: partner.issuer }, {}, partner],
  ['[JBP-6] an issuer whose keys are not ours', 'token_issuer_unknown', { iss: partner.issuer }],
  ['[JBP-6] the key of another issuer', 'jwt_key_unknown', {}, {}, others],
  ['[JBP-6] no client [access-4]', 'token_incomplete', { client_id: undefined }],
  ['[JBP-6] a client in __proto__ [access-4]', 'token_incomplete', inPrototype],
  ['[JBP-6] a client that is a list', 'token_incomplete', { client_id: ['photo-book'] }],
  ['[JBP-6] no end', 'token_incomplete', { exp: undefined }],
  ['[JBP-6] an end that is a text', 'token_incomplete', { exp: '4000000000' }],
  ['[JBP-6] a time to come', 'token_not_yet_valid', { iat: 4_000_000_000 }],
  ['[JBP-6] a time from which on it is good', 'token_not_yet_valid', { nbf: 4_000_000_000 }],
  ['[JBP-6] a scope that is a list', 'token_incomplete', { scope: ['photos:read'] }],
  ['[JBP-6] a scope with two spaces', 'token_incomplete', { scope: 'photos:read  admin' }],
  ['[JBP-6] no subject', 'token_incomplete', { sub: undefined }],
  ['[JBP-6] an empty subject', 'token_incomplete', { sub: '' }],
  ['[JBP-6] a subject that is a number', 'token_incomplete', { sub: 7 }],
  ['[JBP-6] a subject that is a list', 'token_incomplete', { sub: ['alice'] }],
  ['[JBP-7] another audience [access-5]', 'token_resource', { aud: 'https://mail.example' }],
  ['[JBP-7] a slash more', 'token_resource', { aud: 'https://photos.example/' }],
  ['[JBP-7] another letter case', 'token_resource', { aud: 'HTTPS://photos.example' }],
  ['[JBP-7] no audience in the list', 'token_resource', { aud: [] }],
  ['[JBP-7] a list in the list', 'token_resource', { aud: [['https://photos.example']] }],
  ['[JBP-7] no audience', 'token_resource', { aud: undefined }],
  ['[JBP-9] a critical extension', 'jwt_header_refused', {}, { crit: ['exp'], exp: 1 }],
  ['[JBP-9] no critical extension', 'jwt_header_refused', {}, { crit: [] }],
  ['[JBP-9] an unencoded payload, critical', 'jwt_header_refused', {}, { crit: ['b64'], b64: false }],
  ['[JBP-9] an unencoded payload', 'jwt_header_refused', {}, { b64: false }],
])('%s: %s', async (_title, reason, claims = {}, header = {}, by = hub, options = {}) => {
  const set = guardedPhotos(options)
  expect(await reasonOf(set, accessJwt({ ...accessClaims(set.now()), ...claims }, by, header))).toBe(reason)
})

test('[JBP-2] a guard takes neither none nor a secret that both sides share', async () => {
  const set = guardedPhotos()
  const claims = accessClaims(set.now())
  const unsigned = (alg: string) => `${json({ alg, typ: 'at+jwt', kid: hub.kid })}.${json(claims)}`
  for (const alg of ['none', 'NONE', 'nOnE']) {
    expect(await reasonOf(set, `${unsigned(alg)}.`)).toBe('jwt_malformed')
    expect(await reasonOf(set, `${unsigned(alg)}.AAAA`)).toBe('jwt_algorithm_refused')
  }
  for (const secret of [hub.publicKey.export({ type: 'spki', format: 'pem' }), JSON.stringify(hub.jwk), '']) {
    const text = unsigned('HS256')
    const token = `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
    expect(await reasonOf(set, token)).toBe('jwt_algorithm_refused')
  }
})

test('[JBP-2] no option lets them in', () => {
  for (const algorithm of ['none', 'HS256', 'HS512', 'RSA1_5'])
    expect(() => guardedPhotos({ algorithms: [algorithm] })).toThrow(/algorithms must be a list of/)
})

test('[JBP-3] a wrong signature refuses the token as a whole, also after the good one has passed [access-6]', async () => {
  const set = guardedPhotos()
  const good = set.token()
  expect(await reasonOf(set, good)).toBeUndefined()
  const [header = '', claims = '', signature = ''] = good.split('.')
  expect(await reasonOf(set, `${header}.${claims}.${altered(signature, 0)}`)).toBe('jwt_signature_wrong')
  const other = json({ ...partOf(good, 1), scope: 'photos:read photos:print' })
  expect(await reasonOf(set, `${header}.${other}.${signature}`)).toBe('jwt_signature_wrong')
})

test.each<[string, object, RegExp]>([
  ['an RSA key of 1024 bits', signer(hub.issuer, 'weak', 'RS256', 1024).jwk, /at least 2048 bits/],
  ['a point that is not on its curve', { ...hubOnCurve.jwk, y: hubOnCurve.jwk['x'] }, /not a public key/],
  ['a key with its secret half', { ...hub.publicKey.export({ format: 'jwk' }), d: 'AQ' }, /holds a secret/],
  ['a secret', { kty: 'oct', k: 'c2VjcmV0' }, /holds a secret/],
])('[JBP-4] %s verifies nothing', (_what, key, message) => {
  const options = { issuer: hub.issuer, jwt: { audience: photosApi, jwks: { keys: [key] } } }
  expect(() => createBearerGuard(options)).toThrow(message)
})

test('[JBP-5] header and claims are UTF-8, and a member that comes twice counts once, as the last', async () => {
  const set = guardedPhotos()
  const broken = Buffer.concat([Buffer.from('{"iss":"'), Buffer.of(0xff), Buffer.from('"}')])
  const written = (payload: string) => jws(hub, payload, { typ: 'at+jwt', kid: hub.kid })
  expect(await reasonOf(set, written(encoded(broken)))).toBe('jwt_malformed')
  const claims = JSON.stringify(accessClaims(set.now())).slice(0, -1)
  expect(await reasonOf(set, written(encoded(`${claims},"exp":1}`)))).toBe('token_expired')
})

describe('a server of keys that the token names', () => {
  const server = new KeyServer()
  beforeAll(() => server.start())
  afterAll(() => server.stop())

  test('[JBP-8] no key of the token verifies it, no URL of the token is opened, and kid is only compared', async () => {
    const mallory = signer(hub.issuer, 'mallory', 'RS256')
    server.publish(mallory.jwk)
    const set = guardedPhotos()
    const claims = accessClaims(set.now())
    for (const header of [
      { jwk: mallory.jwk },
      { jku: server.uri },
      { x5u: server.uri },
      { x5c: [mallory.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')] },
      { kid: server.uri },
      { kid: '../../../../dev/null' },
      { kid: "' OR '1'='1" },
    ])
      expect(await reasonOf(set, accessJwt(claims, mallory, header))).toBe('jwt_key_unknown')
    expect(server.requests).toBe(0)
  })
})

test('[JBP-10] an encrypted JWT is refused unread: nothing is decrypted, and nothing decompressed', async () => {
  const set = guardedPhotos()
  const header = json({ alg: 'RSA-OAEP-256', enc: 'A256GCM', zip: 'DEF', typ: 'at+jwt' })
  expect(await reasonOf(set, `${header}.AAAA.AAAA.AAAA.AAAA`)).toBe('jwt_malformed')
  expect(await reasonOf(set, `${set.token()}.AAAA.AAAA`)).toBe('jwt_malformed')
})

const issuer = 'http://localhost'
// The name of the client is the URI of a resource, so that no audience tells an ID token from an access token.
const party = bent(relyingParty, { client_id: photosApi })
const ownKey = signer(issuer, 'own', 'RS256')

/**
 * A server that signs ID tokens and JWT access tokens with one key, and trusts the same key for assertions: only the
 * kind of a JWT keeps it from the wrong place.
 */
function company() {
  const keys = signingKeys({ keys: [{ privateKey: ownKey.privateKey, kid: ownKey.kid }] })
  const grantType = jwtBearer({
    audience: issuer,
    issuers: [{ issuer, jwks: { keys: [ownKey.jwk] } }],
    resourceOwner: () => 'alice',
  })
  const agent = bent(nightlyReport, {
    client_id: 'agent',
    grant_types: [grantTypeOf(grantType)],
    scope: 'photos:read',
  })
  const options = withIdentity({
    clients: [party, introspector, agent].map(({ registration }) => registration),
    resources: {
      [photosApi]: { scopes: ['photos:read', 'openid'] },
      [issuer]: { scopes: ['photos:read', 'openid'] },
    },
    defaultResource: photosApi,
    plugins: [
      grantType,
      keys,
      openIdConnect({ keys, claims: async () => ({ name: 'Alice' }) }),
      jwtAccessTokens({ keys }),
    ],
  })
  const set = setStage(options, { mount: (app, oauth) => void app.use(oauth.router()) })
  for (const verify of ['store', 'signature'] as const)
    set.app.get(
      `/${verify}`,
      set.oauth.bearerGuard({ resource: photosApi, verify }),
      (_request, response) => {
        response.end()
      },
    )
  const logIn = async (bend = {}) => {
    const asked = { scope: 'openid photos:read', nonce: 'n', ...bend }
    const { body } = await set.flow.redeem(party, await set.flow.approve(party, asked))
    return { idToken: String(body.id_token), accessToken: String(body.access_token) }
  }
  const statusAt = async (path: string, token: string) =>
    (await set.flow.open(path, undefined, { Authorization: `Bearer ${token}` })).status
  /** A guard elsewhere that knows the keys of the server. */
  const statusAlone = async (token: string, audience: string, bend: { type?: 'JWT' } = {}) => {
    const own = { audience, jwks: { keys: [ownKey.jwk] }, ...bend }
    return (await guardedPhotos(own, { issuer, clock: set.clock.read }).ask(token, '/any')).status
  }
  return { ...set, agent, grantType, logIn, statusAt, statusAlone }
}

test('[JBP-11, JBP-12, JAT-26] an ID token is no access token: at guards, at UserInfo and at introspection', async () => {
  const { flow, logIn, statusAt, statusAlone } = company()
  const { idToken, accessToken } = await logIn()
  expect([partOf(idToken, 0)['typ'], partOf(accessToken, 0)['typ']]).toEqual(['JWT', 'at+jwt'])
  for (const path of ['/store', '/signature', '/userinfo'])
    expect([path, await statusAt(path, accessToken), await statusAt(path, idToken)]).toEqual([path, 200, 401])
  expect((await flow.introspect(introspector, accessToken)).body.active).toBe(true)
  expect((await flow.introspect(introspector, idToken)).body).toEqual({ active: false })
  expect(partOf(accessToken, 1)['aud']).toContain(partOf(idToken, 1)['aud'])
  expect(await statusAlone(accessToken, photosApi)).toBe(200)
  expect(await statusAlone(idToken, photosApi)).toBe(401)
  expect(await statusAlone(idToken, photosApi, { type: 'JWT' })).toBe(401)
})

test('[JBP-12, JAT-26] an access token is no ID token: as a hint it is refused', async () => {
  const { flow, logIn } = company()
  const { idToken, accessToken } = await logIn({ resource: photosApi })
  expect(partOf(accessToken, 1)['aud']).toBe(photosApi)
  const errorWith = async (id_token_hint: string) => {
    const page = await flow.ask(
      {
        response_type: 'code',
        client_id: photosApi,
        redirect_uri: party.registration.redirect_uris?.[0],
        scope: 'openid',
        prompt: 'none',
        id_token_hint,
      },
      'alice',
    )
    return new URL(String(page.get('Location'))).searchParams.get('error')
  }
  expect(await errorWith(idToken)).toBe('consent_required')
  expect(await errorWith(accessToken)).toBe('invalid_request')
})

test('[JBP-12] neither is an assertion, and an assertion is no access token', async () => {
  const { agent, flow, grantType, logIn, statusAt, statusAlone, clock } = company()
  const { idToken, accessToken } = await logIn({ resource: issuer })
  expect(partOf(accessToken, 1)['aud']).toBe(issuer)
  const asked = { grant_type: grantTypeOf(grantType), scope: 'photos:read' }
  for (const assertion of [idToken, accessToken])
    expect(refusalOf(await flow.request(agent, { ...asked, assertion }))).toBe('400 invalid_grant')
  const assertion = jwt(ownKey, { ...claimsAt(Math.floor(clock.read() / 1000), ownKey), client_id: 'agent' })
  expect((await flow.request(agent, { ...asked, assertion })).status).toBe(200)
  for (const path of ['/store', '/signature', '/userinfo']) expect(await statusAt(path, assertion)).toBe(401)
  expect(await statusAlone(assertion, issuer)).toBe(401)
})
