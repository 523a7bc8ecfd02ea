/**
 * The examples of OpenID Connect Core 1.0, OpenID Connect Discovery 1.0 and RP-Initiated Logout 1.0, with their client
 * and their values as far as these can be ours: random values differ, the server redirects with 303, and `iss` is in
 * each authorization response (RFC 9207).
 */
import { hashSync } from 'bcrypt'
import { createHash } from 'node:crypto'
import { memoryStore, openIdConnect } from '../../lib/index'
import type { ClientApplication } from '../support/flows/clients'
import { basic, formOf } from '../support/flows/flow'
import { claimsIn, identityKeys } from '../support/flows/identity-stage'
import { outcomeOf } from '../support/flows/outcome'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { setStage } from '../support/flows/stage'

const issuer = 'https://server.example.com'
const client_id = 's6BhdRkqt3'
const redirect_uri = 'https://client.example.org/cb'
const secret = 'gX1fBat3bV'
const authorization = 'Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW'
const clock = () => 1_311_280_970_000

const client: ClientApplication = {
  registration: {
    client_id,
    client_type: 'confidential',
    client_secret_hashes: [hashSync(secret, 4)],
    redirect_uris: [redirect_uri],
    grant_types: ['authorization_code', 'refresh_token'],
    scope: 'openid profile email phone',
    post_logout_redirect_uris: ['https://client.example.org/logged-out'],
  },
  secret,
}

// OpenID Connect Core 5.3.2
const jane = {
  name: 'Jane Doe',
  given_name: 'Jane',
  family_name: 'Doe',
  preferred_username: 'j.doe',
  email: 'janedoe@example.com',
  picture: 'http://example.com/janedoe/me.jpg',
}

function open(subject = '248289761001', known: object = jane) {
  const keys = identityKeys()
  const set = setStage(
    {
      issuer,
      clock,
      store: memoryStore({ clock }),
      clients: [client.registration],
      scopes: {
        openid: 'Know who you are',
        profile: 'See your name',
        email: 'See your e-mail address',
        phone: 'See your telephone number',
      },
      resourceOwner: () => ({ subject, authTime: 1_311_280_969, acr: 'urn:mace:incommon:iap:silver' }),
      skipConsent: () => true,
      logOut: () => {},
      plugIns: [
        keys,
        openIdConnect({ keys, idTokenLifetime: 1000, claimsParameter: true, claims: () => known }),
      ],
    },
    { mount: (app, oauth) => app.set('trust proxy', 'loopback').use(oauth.router()) },
  )
  return { ...set, flow: set.flow.behind({ 'X-Forwarded-Proto': 'https' }) }
}
type Flow = ReturnType<typeof open>['flow']

// OpenID Connect Core 3.1.2.1 and A.1
const query = `response_type=code&scope=openid%20profile%20email&client_id=${client_id}&state=af0ifjsldkj&redirect_uri=https%3A%2F%2Fclient.example.org%2Fcb`
const redemptionOf = (code: string) =>
  `grant_type=authorization_code&code=${code}&redirect_uri=https%3A%2F%2Fclient.example.org%2Fcb`

/** The tokens of the examples. */
async function tokens(flow: Flow, more = '') {
  const code = codeOf(await flow.open(`/authorize?${query}${more}`))
  const headers = { Authorization: authorization }
  return flow.submit('/token', redemptionOf(code), undefined, headers)
}

test('[OIC-5, OIC-7] Core 2: the claims of an ID token', async () => {
  const { body } = await tokens(open('24400320').flow, '&nonce=n-0S6_WzA2Mj')
  expect(claimsIn(body.id_token)).toEqual({
    iss: 'https://server.example.com',
    sub: '24400320',
    aud: 's6BhdRkqt3',
    nonce: 'n-0S6_WzA2Mj',
    exp: 1_311_281_970,
    iat: 1_311_280_970,
    auth_time: 1_311_280_969,
    acr: 'urn:mace:incommon:iap:silver',
    at_hash: createHash('sha256').update(body.access_token).digest().subarray(0, 16).toString('base64url'),
  })
})

test('[OIC-30] Core 3.1.2.1, 3.1.2.5 and A.1: an authentication request and its response', async () => {
  const { flow } = open()
  for (const more of ['', '&nonce=n-0S6_WzA2Mj']) {
    const { uri, parameters } = redirectionOf(await flow.open(`/authorize?${query}${more}`))
    expect(uri).toBe('https://client.example.org/cb')
    expect(parameters).toEqual({ code: expect.any(String), state: 'af0ifjsldkj', iss: issuer })
  }
})

test('[OIC-31] Core 3.1.2.6: a response type that is not supported', async () => {
  const { uri, parameters } = redirectionOf(
    await open().flow.open(`/authorize?${query.replace('response_type=code', 'response_type=unheard-of')}`),
  )
  expect(uri).toBe('https://client.example.org/cb')
  expect(parameters).toEqual({
    error: 'unsupported_response_type',
    error_description: expect.any(String),
    state: 'af0ifjsldkj',
    iss: issuer,
  })
})

test('[OIC-33, OIC-36] Core 3.1.3.1 and 3.1.3.3: a token request and its response', async () => {
  expect(basic(client_id, secret)).toBe(authorization)
  const response = await tokens(open().flow)
  expect(response.status).toBe(200)
  expect(response.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    pragma: 'no-cache',
  })
  expect(response.body).toEqual({
    access_token: expect.any(String),
    token_type: expect.stringMatching(/^Bearer$/i),
    refresh_token: expect.any(String),
    expires_in: 3600,
    scope: 'openid profile email',
    id_token: expect.any(String),
  })
})

test('[OIC-34] Core 3.1.3.4: an error of the token endpoint', async () => {
  const response = await open().flow.submit('/token', 'grant_type=authorization_code', undefined, {
    Authorization: authorization,
  })
  expect(outcomeOf(response)).toBe('400 invalid_request')
})

test('[OIC-37, OIC-38] Core 5.3.1 and 5.3.2: a UserInfo request and its response', async () => {
  const { flow } = open()
  const { body } = await tokens(flow)
  const response = await flow.open('/userinfo', undefined, { Authorization: `Bearer ${body.access_token}` })
  expect(response.body).toEqual({ sub: '248289761001', ...jane })
})

test('[OIC-41] Core 5.3.3: an error of UserInfo', async () => {
  const { flow } = open()
  const response = await flow.open('/userinfo', undefined, { Authorization: `Bearer at_${'A'.repeat(64)}` })
  expect(response.status).toBe(401)
  expect(response.get('WWW-Authenticate')).toMatch(/^Bearer .*error="invalid_token"/)
})

test('[OIC-43] Core 5.4: the scope openid profile email phone', async () => {
  const { flow } = open()
  const code = codeOf(await flow.open(`/authorize?${query.replace('email', 'email%20phone')}`))
  const { body } = await flow.submit('/token', redemptionOf(code), undefined, {
    Authorization: authorization,
  })
  expect(body.scope).toBe('openid profile email phone')
})

test('[OIC-44, OIC-45] Core 5.5: a claims request', async () => {
  const claims = {
    userinfo: {
      given_name: { essential: true },
      nickname: null,
      email: { essential: true },
      email_verified: { essential: true },
      picture: null,
      'http://example.info/claims/groups': null,
    },
    id_token: {
      auth_time: { essential: true },
      acr: { values: ['urn:mace:incommon:iap:silver'] },
    },
  }
  const groups = ['photographers']
  const { flow } = open('248289761001', {
    ...jane,
    email_verified: true,
    'http://example.info/claims/groups': groups,
  })
  const asked = formOf({ claims: JSON.stringify(claims) })
  const code = codeOf(await flow.open(`/authorize?${query.replace('%20profile%20email', '')}&${asked}`))
  const { body } = await flow.submit('/token', redemptionOf(code), undefined, {
    Authorization: authorization,
  })
  expect(claimsIn(body.id_token)).toMatchObject({
    auth_time: 1_311_280_969,
    acr: 'urn:mace:incommon:iap:silver',
  })
  const response = await flow.open('/userinfo', undefined, { Authorization: `Bearer ${body.access_token}` })
  expect(response.body).toEqual({
    sub: '248289761001',
    given_name: 'Jane',
    email: 'janedoe@example.com',
    email_verified: true,
    picture: jane.picture,
    'http://example.info/claims/groups': groups,
  })
})

test.each([
  [{ value: '248289761001' }, '248289761001', 'redirect code'],
  [{ value: '248289761001' }, '24400320', 'redirect login_required'],
])('[OIC-25] Core 5.5.1: the sub %j asked of %s gives %s', async (sub, subject, outcome) => {
  const asked = formOf({ claims: JSON.stringify({ id_token: { sub } }) })
  const { flow } = open(subject)
  expect(outcomeOf(await flow.open(`/authorize?${query}&prompt=none&${asked}`))).toBe(outcome)
})

test.each([
  [['urn:mace:incommon:iap:silver', 'urn:mace:incommon:iap:bronze'], 'redirect code'],
  [['urn:mace:incommon:iap:gold'], 'redirect login_required'],
])('[OIC-27] Core 5.5.1.1: an essential acr of %j gives %s', async (values, outcome) => {
  const asked = formOf({ claims: JSON.stringify({ id_token: { acr: { essential: true, values } } }) })
  expect(outcomeOf(await open().flow.open(`/authorize?${query}&prompt=none&${asked}`))).toBe(outcome)
})

test('[OIC-52] Core 12.1 and 12.2: a refresh with the secret in the body', async () => {
  const { flow } = open()
  const { body } = await tokens(flow)
  const { refresh_token } = body
  const fields = { client_id, client_secret: secret, grant_type: 'refresh_token', refresh_token }
  const refreshed = await flow.submit('/token', { ...fields, scope: 'openid profile' })
  expect(refreshed.body).toMatchObject({ scope: 'openid profile', expires_in: 3600 })
  expect(claimsIn(refreshed.body.id_token)).toMatchObject({
    iss: issuer,
    sub: '248289761001',
    aud: client_id,
  })
})

test('[DIS-1, DIS-3] Discovery 4.1 and 4.2: the document, in the form of the example', async () => {
  const { flow } = open()
  const { body } = await flow.open('/.well-known/openid-configuration')
  expect(body).toMatchObject({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    userinfo_endpoint: `${issuer}/userinfo`,
    end_session_endpoint: `${issuer}/logout`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    scopes_supported: ['openid', 'profile', 'email', 'phone'],
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'ES256'],
    claims_supported: expect.arrayContaining([
      'sub',
      'iss',
      'auth_time',
      'acr',
      'name',
      'given_name',
      'email',
    ]),
    claims_parameter_supported: true,
  })
})

test('[RPL-8, RPL-9] RP-Initiated Logout 2 and 3: a request, and the redirection after the logout', async () => {
  const { flow } = open()
  const { body } = await tokens(flow)
  const fields = {
    id_token_hint: body.id_token,
    client_id,
    post_logout_redirect_uri: 'https://client.example.org/logged-out',
    state: 'af0ifjsldkj',
    ui_locales: 'fr-CA fr en',
    logout_hint: 'janedoe@example.com',
  }
  const page = await flow.open(`/logout?${formOf(fields)}`)
  const [, logout_request] = /name="logout_request" value="([^"]+)"/.exec(page.text) ?? []
  const done = await flow.submit('/logout', { logout_request, decision: 'log_out' })
  expect(done.get('Location')).toBe('https://client.example.org/logged-out?state=af0ifjsldkj')
})
