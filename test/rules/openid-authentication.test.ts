import { generateKeyPair, SignJWT } from 'jose'
import { deviceAuthorization } from '../../lib/paths/devices'
import { tokenExchange } from '../../lib/paths/grants'
import { bent } from '../support/flows/clients'
import { deviceCode, deviceSecret } from '../support/flows/device-stage'
import { type Fields, formOf } from '../support/flows/flow'
import { claimsIn, identityStage, relyingParty, withIdentity } from '../support/flows/identity-stage'
import { loginOf } from '../support/flows/login-stage'
import { outcomeOf } from '../support/flows/outcome'
import { redirectionOf } from '../support/flows/redirection'
import {
  claimsRequest,
  identityLoginStage,
  identityOf,
  issuer,
  logIn,
  loginRequest,
} from '../support/flows/relying-party'
import { setStage } from '../support/flows/stage'
import { anyOwner, exchangeOf, tokenExchangeName } from '../support/flows/token-exchange'
import { tokensOf } from '../support/flows/tokens'

const open = identityStage(setStage)
const always = { skipConsent: () => true }
const silent = { ...loginRequest, prompt: 'none' }
const invalid = 'redirect invalid_request'
const wrongScope = 'redirect invalid_scope'

test('[OIC-11] the authorization endpoint takes a request by GET and by POST', async () => {
  const { flow } = open()
  const responses = [
    await flow.open(`/authorize?${formOf(loginRequest)}`, 'alice'),
    await flow.submit('/authorize', loginRequest, 'alice'),
  ]
  for (const page of responses) {
    const { state, code } = redirectionOf(await flow.decide(page, 'approve', 'alice')).parameters
    expect([state, code]).toEqual([loginRequest.state, expect.any(String)])
  }
})

test('[OIC-12] a request with the scope openid gets an ID token, and one without it gets none', async () => {
  const set = open()
  expect((await logIn(set, { scope: 'openid' })).body).toHaveProperty('id_token')
  for (const scope of ['profile', 'profile email', 'photos:read'])
    expect((await logIn(set, { scope })).body).not.toHaveProperty('id_token')
})

const after = String(loginRequest.redirect_uri)
const refusedPage = 'page 400 invalid_request'
const ofApp = bent(relyingParty, {
  client_type: 'public',
  client_secret_hashes: [],
  redirect_uris: ['com.example.print:/callback'],
})
const appWithoutQuestion = { ...always, clients: [ofApp.registration] }

test.each<[title: string, bend: Fields, outcome: string, options?: object, owner?: string | undefined]>([
  ['[OIC-13] no redirect_uri, though the client has one only', { redirect_uri: undefined }, invalid],
  ['[OIC-13] no redirect_uri without openid', { redirect_uri: undefined, scope: 'photos:read' }, 'question'],
  ['[OIC-13] a slash added to the redirect_uri', { redirect_uri: `${after}/` }, refusedPage],
  ['[OIC-13] a query added to the redirect_uri', { redirect_uri: `${after}?a=b` }, refusedPage],
  ['[OIC-13] a fragment added to the redirect_uri', { redirect_uri: `${after}#a` }, refusedPage],
  ['[OIC-13] a space added to the redirect_uri', { redirect_uri: `${after} ` }, refusedPage],
  ['[OIC-13] the redirect_uri of a request object', { redirect_uri: `${after}/`, request: 'x' }, refusedPage],
  ['[OIC-14] no response_type', { response_type: undefined }, invalid],
  ['[OIC-14] no client_id', { client_id: undefined }, refusedPage],
  ['[OIC-15] an unknown scope, so that a wrong spelling shows', { scope: 'openid profil' }, wrongScope],
  ['[OIC-16] offline_access alone, which is no scope', { scope: 'offline_access' }, wrongScope],
  ['[OIC-18] prompt=none without a login', { prompt: 'none' }, 'redirect login_required', always, 'nobody'],
  ['[OIC-18] prompt=none without an approval', { prompt: 'none' }, 'redirect consent_required'],
  ['[OIC-18] prompt=none with both', { prompt: 'none' }, 'redirect code', always],
  [
    '[OIC-18] prompt=none of an app that no page may pass by',
    { prompt: 'none', redirect_uri: 'com.example.print:/callback' },
    'redirect interaction_required',
    appWithoutQuestion,
  ],
  ['[OIC-19] prompt=none login', { prompt: 'none login' }, invalid, always],
  ['[OIC-19] prompt=login none', { prompt: 'login none' }, invalid, always],
  ['[OIC-19] prompt=none consent', { prompt: 'none consent' }, invalid, always],
  ['[OIC-19] prompt=none select_account', { prompt: 'none select_account' }, invalid, always],
  ['[OIC-21] prompt=consent after an approval', { prompt: 'consent' }, 'question', always],
  ['[OIC-21] no prompt after an approval', {}, 'redirect code', always],
  ['[OIC-32] request', { request: 'eyJhbGciOiJub25lIn0.e30.' }, 'redirect request_not_supported', always],
  [
    '[OIC-32] request without openid',
    { request: 'x', scope: 'photos:read' },
    'redirect request_not_supported',
    always,
  ],
  [
    '[OIC-32] request_uri',
    { request_uri: 'https://print.example/request' },
    'redirect request_uri_not_supported',
    always,
  ],
  [
    '[OIC-32] registration',
    { registration: '{"client_name":"Me"}' },
    'redirect registration_not_supported',
    always,
  ],
])('%s', async (_title, bend, outcome, options = {}, owner = 'alice') => {
  const { flow } = open(options)
  const response = await flow.ask({ ...loginRequest, ...bend }, owner === 'nobody' ? undefined : owner)
  expect(outcomeOf(response)).toBe(outcome)
})

test('[OIC-16] offline_access has no effect for a client that does not have it, not even on the page', async () => {
  const set = open()
  const page = await set.flow.ask({ ...loginRequest, scope: 'offline_access openid profile' }, 'alice')
  // The link to another account is the URL of the page itself.
  expect(page.text.replace(/<a href="\?[^"]*">/g, '')).not.toContain('offline_access')
  const { body } = await logIn(set, { scope: 'openid offline_access profile', prompt: 'consent' })
  expect(body).toMatchObject({ scope: 'openid profile', refresh_token: expect.any(String) })
  const once = bent(relyingParty, { grant_types: ['authorization_code'] })
  const { flow } = open({ clients: [once.registration] })
  const code = await flow.approve(once, { scope: 'openid offline_access', prompt: 'consent' })
  expect((await flow.redeem(once, code)).body).not.toHaveProperty('refresh_token')
})

test('[OIC-16] a host may let clients have offline_access, as any other scope', async () => {
  const scope = 'openid offline_access'
  const set = open({
    clients: [bent(relyingParty, { scope }).registration],
    scopes: {
      openid: 'Know who you are',
      offline_access: 'Stay logged in',
      'photos:read': 'See your photos',
    },
  })
  expect((await set.flow.ask({ ...loginRequest, scope }, 'alice')).text).toContain('Stay logged in')
  expect((await logIn(set, { scope })).body.scope).toBe(scope)
})

describe('[OIC-16] offline_access has no effect at the token endpoint and for devices either', () => {
  const grants = ['authorization_code', 'refresh_token', 'client_credentials', tokenExchangeName, deviceCode]
  const client = bent(relyingParty, { grant_types: grants })
  const scope = 'openid photos:read'
  const wanted = { scope: `${scope} offline_access` }
  const all = () => {
    const { plugins = [], ...others } = withIdentity({ clients: [client.registration] })
    const devices = deviceAuthorization({ secret: deviceSecret })
    const grantTypes = [tokenExchange({ policy: anyOwner })]
    return setStage({ ...others, plugins: [...grantTypes, ...plugins, devices] })
  }

  test('at each refresh, which keeps the scope of the login, also a repeated one', async () => {
    const { flow } = all()
    const code = await flow.approve(client, { ...loginRequest, ...wanted })
    const { refreshToken } = tokensOf(await flow.redeem(client, code))
    const [first, again] = await Promise.all([1, 2].map(() => flow.refresh(client, refreshToken, wanted)))
    for (const answer of [first, again]) expect(answer?.body).toMatchObject({ scope })
    const { refreshToken: next } = tokensOf(await flow.refresh(client, first?.body.refresh_token, wanted))
    expect(outcomeOf(await flow.refresh(client, next, { scope: 'offline_access' }))).toBe('400 invalid_scope')
    const more = { scope: `${wanted.scope} email` }
    expect(outcomeOf(await flow.refresh(client, next, more))).toBe('400 invalid_scope')
    expect(outcomeOf(await flow.refresh(client, next))).toBe('tokens')
  })

  test('where a client acts for itself, exchanges a token, and where a device asks', async () => {
    const { flow } = all()
    const own = { scope: 'photos:read offline_access' }
    const token = await flow.request(client, { grant_type: 'client_credentials', ...own })
    const code = await flow.approve(client, { ...loginRequest, ...wanted })
    const { accessToken } = tokensOf(await flow.redeem(client, code))
    const exchanged = await flow.request(client, { ...exchangeOf(accessToken), ...own })
    for (const { body } of [token, exchanged]) expect(body).toMatchObject({ scope: 'photos:read' })
    const asked = await flow.request(client, own, '/device_authorization')
    expect([asked.status, asked.body]).toMatchObject([200, { user_code: expect.any(String) }])
  })
})

test('[OIC-16] offline_access alone is a scope that the client does not have', async () => {
  const { flow, failures } = open()
  await flow.ask({ ...loginRequest, scope: 'offline_access' }, 'alice')
  expect(failures).toMatchObject([{ reason: 'scope_not_allowed' }])
})

test('[OIC-16] offline_access is an unknown scope without OpenID Connect', async () => {
  const { flow } = setStage({ clients: [bent(relyingParty, { scope: 'photos:read' }).registration] })
  const both = { ...loginRequest, scope: 'photos:read offline_access' }
  expect(outcomeOf(await flow.ask(both, 'alice'))).toBe('redirect invalid_scope')
})

test.each([
  { display: 'page' },
  { display: 'hologram' },
  { ui_locales: 'fr-CA fr en' },
  { claims_locales: 'se' },
  { login_hint: 'alice@example.com' },
  { extra: 'foobar' },
])('[OIC-17] %j causes no error', async (bend) => {
  expect(await logIn(open(), bend)).toMatchObject({ idToken: expect.stringMatching(/./) })
})

test('[OIC-17, OIC-26] the login gets what the client proposes', async () => {
  const { flow } = open()
  const bend = { login_hint: 'alice@example.com', ui_locales: 'de fr', acr_values: 'mfa pwd' }
  const location = new URL(String((await flow.ask({ ...loginRequest, ...bend })).get('Location')), issuer)
  expect(Object.fromEntries(location.searchParams)).toMatchObject(bend)
})

describe('prompt', () => {
  test('[OIC-18] none tells its error with the state and the issuer', async () => {
    const { parameters } = redirectionOf(await open(always).flow.ask(silent))
    expect(parameters).toMatchObject({ error: 'login_required', state: silent.state, iss: issuer })
  })

  test('[OIC-20] login demands a new login of an owner who is logged in', async () => {
    const set = identityLoginStage(always)
    const request = { ...loginRequest, prompt: 'login' }
    const before = set.now() - 60
    const { back, prompt } = loginOf(await set.ask(request, 'alice', before))
    expect(prompt).toBe('login')
    set.clock.advance(5)
    expect(outcomeOf(await set.open(back, 'alice', before))).toBe('redirect login_required')
    const answer = redirectionOf(await set.open(back, 'alice', set.now()))
    const { idToken } = identityOf(await set.flow.redeem(relyingParty, String(answer.parameters['code'])))
    expect(claimsIn(idToken)['auth_time']).toBe(before + 65)
  })

  test('[OIC-22] select_account sends the owner to the login, which may return with any account', async () => {
    const { flow } = open()
    const { back, prompt } = loginOf(await flow.ask({ ...loginRequest, prompt: 'select_account' }, 'alice'))
    expect(prompt).toBe('select_account')
    expect((await flow.open(back, 'bob')).text).toContain('bob')
  })
})

describe('max_age', () => {
  test('[OIC-23] a login that is older demands a new one, and with prompt=none is login_required', async () => {
    const { ask, open: come, now } = identityLoginStage(always)
    const request = { ...loginRequest, max_age: '60' }
    expect(outcomeOf(await ask(request, 'alice', now() - 60))).toBe('redirect code')
    const old = now() - 61
    expect(outcomeOf(await ask({ ...request, prompt: 'none' }, 'alice', old))).toBe('redirect login_required')
    const { back } = loginOf(await ask(request, 'alice', old))
    expect(outcomeOf(await come(back, 'alice', old))).toBe('redirect login_required')
    expect(outcomeOf(await come(back, 'alice', now()))).toBe('redirect code')
  })
})

describe('id_token_hint', () => {
  test('[OIC-24] only the owner in the hint is answered, also when the token has expired', async () => {
    const set = open(always)
    const { idToken: id_token_hint } = await firstLogin(set)
    set.clock.advance(7200)
    const { back } = loginOf(await set.flow.ask({ ...loginRequest, id_token_hint }, 'bob'))
    expect(outcomeOf(await set.flow.open(back, 'bob'))).toBe('redirect login_required')
    expect(outcomeOf(await set.flow.open(back, 'alice'))).toBe('redirect code')
    const hinted = { ...silent, id_token_hint }
    expect(outcomeOf(await set.flow.ask(hinted, 'bob'))).toBe('redirect login_required')
    expect(outcomeOf(await set.flow.ask(hinted, 'alice'))).toBe('redirect code')
    expect(outcomeOf(await set.flow.ask(silent, 'alice'))).toBe('redirect code')
  })

  test('[OIC-24] a hint that this server has not issued to the client is refused', async () => {
    const set = open()
    const { idToken } = await logIn(set)
    const { privateKey } = await generateKeyPair('ES256')
    const forged = await new SignJWT(claimsIn(idToken))
      .setProtectedHeader({ alg: 'ES256', typ: 'JWT' })
      .sign(privateKey)
    for (const id_token_hint of [forged, unsigned(idToken), 'x'])
      expect(outcomeOf(await set.flow.ask({ ...loginRequest, id_token_hint }, 'alice'))).toBe(
        'redirect invalid_request',
      )
    const other = bent(relyingParty, { client_id: 'other' })
    const { flow } = open({ clients: [other.registration], store: set.store })
    const ofOther = { ...loginRequest, client_id: 'other', id_token_hint: idToken }
    expect(outcomeOf(await flow.ask(ofOther, 'alice'))).toBe('redirect invalid_request')
  })
})

const firstLogin = async (set: ReturnType<typeof open>) => {
  const { parameters } = redirectionOf(await set.flow.ask(loginRequest, 'alice'))
  return identityOf(await set.flow.redeem(relyingParty, String(parameters['code'])))
}

/** The same claims with `alg: none` and no signature. */
const unsigned = (idToken: string) =>
  `${Buffer.from('{"alg":"none"}').toString('base64url')}.${idToken.split('.')[1] ?? ''}.`

describe('The parameter claims', () => {
  const taking = (bend = {}) => identityLoginStage({ ...always, ...bend }, { claimsParameter: true })
  const how = (acr: string, at: number) => ({ 'X-Logged-In-At': String(at), 'X-Logged-In-How': acr })

  test('[OIC-25] a request for one sub is answered for this owner alone', async () => {
    const { ask, flow } = taking()
    const request = { ...loginRequest, ...claimsRequest({ id_token: { sub: { value: 'bob' } } }) }
    expect(outcomeOf(await ask({ ...request, prompt: 'none' }, 'alice'))).toBe('redirect login_required')
    const { back } = loginOf(await ask(request, 'alice'))
    expect(outcomeOf(await flow.open(back, 'alice'))).toBe('redirect login_required')
    expect(outcomeOf(await flow.open(back, 'bob'))).toBe('redirect code')
    expect(outcomeOf(await ask(request, 'bob'))).toBe('redirect code')
  })

  test.each([7, null, ['alice'], {}, ''])('[OIC-25] a request for the sub %j is malformed', async (value) => {
    const { ask } = taking()
    const request = { ...loginRequest, ...claimsRequest({ id_token: { sub: { value } } }) }
    expect(outcomeOf(await ask(request, 'alice'))).toBe('redirect invalid_request')
  })

  test.each([{ values: ['passkey', 'hardware'] }, { value: 'passkey' }])(
    '[OIC-27] an essential acr with %j is answered for a login of such a class alone',
    async (wanted) => {
      const { ask, flow, now } = taking()
      const acr = { essential: true, ...wanted }
      const request = { ...loginRequest, ...claimsRequest({ id_token: { acr } }) }
      const login = await flow.open(`/authorize?${formOf(request)}`, 'alice', how('pwd', now()))
      const { back } = loginOf(login)
      expect(new URL(String(login.get('Location')), issuer).searchParams.get('acr_values')).toMatch(
        /^passkey/,
      )
      expect(outcomeOf(await flow.open(back, 'alice', how('pwd', now())))).toBe(
        'redirect unmet_authentication_requirements',
      )
      expect(outcomeOf(await flow.open(back, 'alice'))).toBe('redirect unmet_authentication_requirements')
      const answer = redirectionOf(await flow.open(back, 'alice', how('passkey', now())))
      const { idToken } = identityOf(await flow.redeem(relyingParty, String(answer.parameters['code'])))
      expect(claimsIn(idToken)['acr']).toBe('passkey')
      expect(outcomeOf(await ask({ ...request, prompt: 'none' }, 'alice', now()))).toBe(
        'redirect login_required',
      )
    },
  )

  test('[OIC-27] the login of an owner who is not logged in gets the essential classes before those of the request', async () => {
    const { ask } = taking()
    const acr = { essential: true, values: ['passkey', 'mfa'] }
    const request = { ...loginRequest, acr_values: 'mfa pwd', ...claimsRequest({ id_token: { acr } }) }
    const location = new URL(String((await ask(request)).get('Location')), issuer)
    expect(location.searchParams.get('acr_values')).toBe('passkey mfa pwd')
  })

  test.each([{ values: ['passkey'] }, { essential: true }, { essential: true, values: [] }])(
    '[OIC-27] acr with %j is a wish, and any login will do',
    async (acr) => {
      const { ask, now } = taking()
      const request = { ...loginRequest, ...claimsRequest({ id_token: { acr } }) }
      expect(outcomeOf(await ask(request, 'alice', now()))).toBe('redirect code')
    },
  )

  test('[OIC-27] a server that does not read the parameter answers as without it', async () => {
    const { ask, now } = identityLoginStage(always)
    const claims = { id_token: { acr: { essential: true, value: 'passkey' }, sub: { value: 'bob' } } }
    expect(outcomeOf(await ask({ ...loginRequest, ...claimsRequest(claims) }, 'alice', now()))).toBe(
      'redirect code',
    )
  })
})

test('[OIC-26] the acr of the login is in the ID token, whatever acr_values wishes', async () => {
  expect(claimsIn((await logIn(open(), { acr_values: 'mfa' })).idToken)['acr']).toBe('mfa')
  expect(claimsIn((await logIn(open(), { acr_values: 'passkey' })).idToken)['acr']).toBe('mfa')
})

test('[OIC-28] no other site can frame the page, or send its form', async () => {
  const { flow } = open()
  const page = await flow.ask(loginRequest, 'alice')
  expect(page.get('Content-Security-Policy')).toContain("frame-ancestors 'none'")
  expect(page.get('X-Frame-Options')).toBe('DENY')
  for (const headers of [{ 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'https://evil.example' }] as const)
    expect(outcomeOf(await flow.decide(page, 'approve', 'alice', headers))).toBe('page 400 invalid_request')
  const forged = { authorization_request: 'x'.repeat(43), decision: 'approve' }
  expect(outcomeOf(await flow.submit('/authorize', forged, 'alice'))).toBe('page 400 invalid_request')
  expect(outcomeOf(await flow.decide(page, 'approve', 'bob'))).toBe('page 400 invalid_request')
})
