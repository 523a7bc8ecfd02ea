/**
 * The modules of the plan "Basic OP" of the OpenID Foundation's conformance suite
 * (oidcc-basic-certification-test-plan), in its order. A module of a feature that this server leaves out proves the
 * refusal, or the other answer that the documentation promises.
 */
import { createLocalJWKSet, jwtVerify } from 'jose'
import { openIdConnect } from '../../lib/index'
import { bent } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { type Fields, formOf, redemption } from '../support/flows/flow'
import { claimsIn, identityKeys, identityStage, relyingParty } from '../support/flows/identity-stage'
import { partOf } from '../support/flows/jwt-tokens'
import { loginOf } from '../support/flows/login-stage'
import { outcomeOf } from '../support/flows/outcome'
import { redirectionOf } from '../support/flows/redirection'
import {
  claimsRequest,
  identityLoginStage,
  identityOf,
  issuer,
  logIn,
  loginRequest as profileRequest,
  userInfo,
} from '../support/flows/relying-party'
import { setStage } from '../support/flows/stage'

/** Every claim that a scope asks for: the suite warns of each that is missing. */
const person = {
  name: 'Demo T. User',
  given_name: 'Demo',
  family_name: 'User',
  middle_name: 'Theresa',
  nickname: 'Dee',
  preferred_username: 'demo',
  profile: 'https://example.com/demo',
  picture: 'https://example.com/demo.png',
  website: 'https://example.com/',
  gender: 'female',
  birthdate: '2000-02-03',
  zoneinfo: 'Europe/Berlin',
  locale: 'en-US',
  updated_at: 1_580_000_000,
  email: 'demo@example.com',
  email_verified: false,
  address: { street_address: '100 Way', locality: 'Berlin', country: 'DE' },
  phone_number: '+1 555 5550000',
  phone_number_verified: false,
}
const byScope = {
  profile: Object.keys(person).slice(0, 14),
  email: ['email', 'email_verified'],
  address: ['address'],
  phone: ['phone_number', 'phone_number_verified'],
}

const approvedBefore = { skipConsent: () => true }
const open = (bend: Parameters<typeof setStage>[0] = {}, identity = {}) =>
  identityStage(setStage)({ ...approvedBefore, ...bend }, { claims: () => person, ...identity })
const openLogins = () => identityLoginStage(approvedBefore, { claims: () => person })
type Flow = Pick<ReturnType<typeof open>, 'flow'>

// The suite sends no code_challenge but in the module about it.
const loginRequest: Fields = {
  ...profileRequest,
  scope: 'openid',
  code_challenge: undefined,
  code_challenge_method: undefined,
}
const unproven = { code_verifier: undefined }

const codeIn = (response: Parameters<typeof redirectionOf>[0]) => {
  const { parameters } = redirectionOf(response)
  expect(parameters).toEqual({ code: expect.any(String), state: loginRequest['state'], iss: issuer })
  return String(parameters['code'])
}
const redeem = async ({ flow }: Flow, code: string) =>
  identityOf(await flow.redeem(relyingParty, code, unproven))

/** The whole way, for an owner who has approved before; the ID token is checked on the way. */
async function succeed(set: Flow, bend: Fields = {}) {
  const answer = await set.flow.ask({ ...loginRequest, ...bend }, 'alice')
  const identity = await redeem(set, codeIn(answer))
  const keys = createLocalJWKSet((await set.flow.open('/.well-known/jwks.json')).body)
  const { payload } = await jwtVerify(identity.idToken, keys, { issuer, audience: 'relying-party' })
  return { ...identity, claims: payload }
}

/** What UserInfo tells after the whole way. */
async function heard(set: Flow, bend: Fields) {
  const { accessToken, claims } = await succeed(set, bend)
  const { body } = await userInfo(set, accessToken)
  return { body, names: Object.keys(body).toSorted(), claims }
}

test('[OIC-1, OIC-7, OIC-30, OIC-36] oidcc-server: a request gets state, code and an ID token with its nonce', async () => {
  const { claims, body } = await succeed(open())
  expect(claims).toMatchObject({
    iss: issuer,
    sub: 'alice',
    aud: 'relying-party',
    nonce: loginRequest['nonce'],
  })
  expect(body).toMatchObject({ token_type: expect.stringMatching(/^bearer$/i), expires_in: 3600 })
})

test('[OIC-14] oidcc-response-type-missing: a request without response_type is invalid_request', async () => {
  const { parameters } = redirectionOf(
    await open().flow.ask({ ...loginRequest, response_type: undefined }, 'alice'),
  )
  expect(parameters).toMatchObject({ error: 'invalid_request', state: loginRequest['state'] })
})

test('[OIC-1, OIC-49] oidcc-idtoken-signature: the ID token is signed with RS256 and names its key', async () => {
  const { idToken } = await succeed(open())
  expect(partOf(idToken, 0)).toMatchObject({ alg: 'RS256', kid: expect.any(String) })
})

test('[OIC-1, DIS-4] oidcc-idtoken-unsigned: ID tokens without a signature are left out', async () => {
  const { flow } = open()
  const { body } = await flow.open('/.well-known/openid-configuration')
  expect(body.id_token_signing_alg_values_supported).not.toContain('none')
  const unsigned: object = { keys: identityKeys(), algorithm: 'none' }
  expect(() => Reflect.apply(openIdConnect, undefined, [unsigned])).toThrow(/algorithm/)
})

test.each([
  ['oidcc-userinfo-get', 'GET'],
  ['oidcc-userinfo-post-header', 'POST'],
] as const)(
  '[OIC-37, OIC-38, OIC-39] %s: UserInfo tells the sub of the ID token, as JSON',
  async (_module, method) => {
    const set = open()
    const { accessToken, claims } = await succeed(set)
    const response = await userInfo(set, accessToken, method)
    expect([response.status, response.type]).toEqual([200, 'application/json'])
    expect(response.body).toEqual({ sub: claims.sub })
  },
)

test('[OIC-37] oidcc-userinfo-post-body: a token in the body is refused, because it stands in the header', async () => {
  const set = open()
  const { accessToken: access_token } = await succeed(set)
  const response = await set.flow.submit('/userinfo', { access_token })
  expect([response.status, response.get('WWW-Authenticate')]).toEqual([
    401,
    expect.stringMatching(/^Bearer /),
  ])
})

test('[OIC-7] oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async () => {
  expect((await succeed(open(), { nonce: undefined })).claims).not.toHaveProperty('nonce')
})

test.each([
  ['oidcc-scope-profile', 'openid profile', byScope.profile],
  ['oidcc-scope-email', 'openid email', byScope.email],
  ['oidcc-scope-address', 'openid address', byScope.address],
  ['oidcc-scope-phone', 'openid phone', byScope.phone],
  ['oidcc-scope-all', 'openid email phone address profile', Object.keys(person)],
])(
  '[OIC-43] %s: UserInfo tells the claims of the scope, and the ID token none',
  async (_module, scope, names) => {
    const { names: found, body, claims } = await heard(open(), { scope })
    expect(found).toEqual([...names, 'sub'].toSorted())
    expect(body).toMatchObject(
      Object.fromEntries(Object.entries(person).filter(([name]) => names.includes(name))),
    )
    expect(names.filter((name) => name in claims)).toEqual([])
  },
)

test('[OIC-43] oidcc-alternate-happy-flow: the order of scopes and parameters means nothing', async () => {
  const set = open()
  const reversed = Object.fromEntries(Object.entries({ ...loginRequest, scope: 'email openid' }).toReversed())
  const { accessToken } = await redeem(
    set,
    codeIn(await set.flow.open(`/authorize?${formOf(reversed)}`, 'alice')),
  )
  expect(Object.keys((await userInfo(set, accessToken)).body).toSorted()).toEqual([
    'email',
    'email_verified',
    'sub',
  ])
})

test.each([
  ['oidcc-display-page', { display: 'page' }],
  ['oidcc-display-popup', { display: 'popup' }],
  ['oidcc-ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
  ['oidcc-login-hint', { login_hint: 'buffy@localhost' }],
  ['oidcc-ui-locales', { ui_locales: 'se' }],
  ['oidcc-claims-locales', { claims_locales: 'se' }],
])('[OIC-17] %s: %j causes no error', async (_module, bend) => {
  expect((await succeed(open(), bend)).claims.sub).toBe('alice')
  const { back } = loginOf(await open().flow.ask({ ...loginRequest, ...bend }))
  expect(back).toContain('/authorize?')
})

test('[OIC-20] oidcc-prompt-login: the owner has to log in for a second time, and auth_time is later', async () => {
  const { ask, open: come, now, flow, clock } = openLogins()
  const before = now()
  const first = claimsIn((await redeem({ flow }, codeIn(await ask(loginRequest, 'alice', before)))).idToken)
  clock.advance(1)
  const { back, prompt } = loginOf(await ask({ ...loginRequest, prompt: 'login' }, 'alice', before))
  expect(prompt).toBe('login')
  const second = claimsIn((await redeem({ flow }, codeIn(await come(back, 'alice', now())))).idToken)
  expect([first['auth_time'], second['auth_time']]).toEqual([before, before + 1])
})

test('[OIC-18] oidcc-prompt-none-not-logged-in: the client gets login_required', async () => {
  const { parameters } = redirectionOf(await open().flow.ask({ ...loginRequest, prompt: 'none' }))
  expect(parameters).toMatchObject({ error: 'login_required', state: loginRequest['state'] })
  expect(parameters).not.toHaveProperty('code')
})

test('[OIC-18] oidcc-prompt-none-logged-in: a second request is answered without a page, for the same login', async () => {
  const set = open()
  const first = await succeed(set)
  set.clock.advance(1)
  const { claims } = await succeed(set, { prompt: 'none' })
  expect([claims.sub, claims['auth_time']]).toEqual([first.claims.sub, first.claims['auth_time']])
})

test('[OIC-6, OIC-23] oidcc-max-age-1: the owner has to log in again two seconds later', async () => {
  const { ask, open: come, now, flow, clock } = openLogins()
  const before = now()
  codeIn(await ask(loginRequest, 'alice', before))
  clock.advance(2)
  const { back } = loginOf(await ask({ ...loginRequest, max_age: '1' }, 'alice', before))
  const { idToken } = await redeem({ flow }, codeIn(await come(back, 'alice', now())))
  expect(claimsIn(idToken)['auth_time']).toBe(before + 2)
})

test('[OIC-6, OIC-23] oidcc-max-age-10000: the owner need not log in again, and auth_time is there', async () => {
  const { ask, now, flow } = openLogins()
  const before = now() - 60
  for (const max_age of ['15000', '10000']) {
    const { idToken } = await redeem(
      { flow },
      codeIn(await ask({ ...loginRequest, max_age }, 'alice', before)),
    )
    expect(claimsIn(idToken)).toMatchObject({ sub: 'alice', auth_time: before })
  }
})

test('[OIC-24] oidcc-id-token-hint: a request with the hint and prompt=none is answered at once', async () => {
  const set = open()
  const { idToken, claims } = await succeed(set)
  const second = await succeed(set, { prompt: 'none', id_token_hint: idToken })
  expect([second.claims.sub, second.claims['auth_time']]).toEqual([claims.sub, claims['auth_time']])
})

test('[OIC-26] oidcc-ensure-request-with-acr-values-succeeds: the ID token has the acr of the login', async () => {
  expect((await succeed(open(), { acr_values: '1 mfa' })).claims['acr']).toBe('mfa')
  expect((await succeed(open(), { acr_values: '1 2' })).claims['acr']).toBe('mfa')
})

test.each([
  ['oidcc-codereuse', 0],
  ['oidcc-codereuse-30seconds', 30],
])(
  '[OIC-34] %s: a code that comes again is invalid_grant, and its access token ends',
  async (_module, later) => {
    const set = open()
    const code = codeIn(await set.flow.ask(loginRequest, 'alice'))
    const { accessToken } = await redeem(set, code)
    set.clock.advance(later)
    expect((await userInfo(set, accessToken)).status).toBe(200)
    expect(outcomeOf(await set.flow.redeem(relyingParty, code, unproven))).toBe('400 invalid_grant')
    expect((await userInfo(set, accessToken)).status).toBe(401)
  },
)

test('[OIC-13] oidcc-ensure-registered-redirect-uri: a page tells the owner, and nothing goes to either URI', async () => {
  const redirect_uri = `${loginRequest['redirect_uri']}/xyz`
  expect(errorPageOf(await open().flow.ask({ ...loginRequest, redirect_uri }, 'alice'))).toBe(
    '400 invalid_request',
  )
})

test('[OIC-11] oidcc-ensure-post-request-succeeds', async () => {
  const set = open()
  const answer = await set.flow.submit('/authorize', loginRequest, 'alice')
  expect(claimsIn((await redeem(set, codeIn(answer))).idToken)['sub']).toBe('alice')
  const crossSite = await set.flow.submit('/authorize', loginRequest, undefined, {
    'Sec-Fetch-Site': 'cross-site',
  })
  codeIn(await set.flow.open(String(crossSite.get('Location')), 'alice'))
})

test('[OIC-33] oidcc-server-client-secret-post: the secret may come in the body', async () => {
  const { flow } = open()
  const { client_id } = relyingParty.registration
  const fields = { ...redemption(relyingParty, codeIn(await flow.ask(loginRequest, 'alice'))), ...unproven }
  const { body } = await flow.submit('/token', { ...fields, client_id, client_secret: relyingParty.secret })
  expect(claimsIn(body.id_token)['aud']).toBe(client_id)
})

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const unsignedRequest = `${encoded({ alg: 'none' })}.${encoded(loginRequest)}.`

test.each([
  [
    'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported',
    { request_uri: 'https://print.example/request_object.jwt' },
    'request_uri_not_supported',
  ],
  [
    'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported',
    { request: unsignedRequest },
    'request_not_supported',
  ],
])('[OIC-32] %s: rejected as unsupported', async (_module, bend, error) => {
  const { parameters } = redirectionOf(await open().flow.ask({ ...loginRequest, ...bend }, 'alice'))
  expect(parameters).toMatchObject({ error, state: loginRequest['state'] })
})

test('[OIC-44, OIC-47] oidcc-claims-essential: UserInfo tells the name by option, and otherwise the request succeeds without it', async () => {
  const asking = claimsRequest({ userinfo: { name: { essential: true } } })
  const on = await heard(open({}, { claimsParameter: true }), asking)
  expect(on.names).toEqual(['name', 'sub'])
  expect(on.claims).not.toHaveProperty('name')
  expect((await heard(open(), asking)).names).toEqual(['sub'])
})

test('[OIC-13, OIC-32] oidcc-ensure-request-object-with-redirect-uri: the URI of a request object counts for nothing', async () => {
  const { flow } = open()
  const bad = {
    ...loginRequest,
    redirect_uri: `${loginRequest['redirect_uri']}/xyz`,
    request: unsignedRequest,
  }
  expect(errorPageOf(await flow.ask(bad, 'alice'))).toBe('400 invalid_request')
})

test('[OIC-51, OIC-52, OIC-53] oidcc-refresh-token: a refresh gives an ID token of the same login, and no other client may', async () => {
  const second = bent(relyingParty, { client_id: 'second' })
  const set = open({ clients: [relyingParty.registration, second.registration] })
  const { refreshToken, claims } = await succeed(set, { scope: 'openid offline_access', prompt: 'none' })
  const { body } = await set.flow.refresh(relyingParty, refreshToken)
  const { iss, sub, aud, auth_time } = claims
  expect(claimsIn(body.id_token)).toMatchObject({ iss, sub, aud, auth_time })
  expect(outcomeOf(await set.flow.refresh(second, body.refresh_token))).toBe('400 invalid_grant')
})

test('[OIC-17] oidcc-ensure-request-with-valid-pkce-succeeds', async () => {
  expect(claimsIn((await logIn(open({ skipConsent: () => false }))).idToken)['sub']).toBe('alice')
})
