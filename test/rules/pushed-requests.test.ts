import { hashSync } from 'bcrypt'
import { openIdConnect } from '../../lib/paths/openid-connect'
import { privateKeyJwt } from '../../lib/paths/jwt'
import { pushedAuthorizationRequests } from '../../lib/paths/pushed-requests'
import { claimsAt, jwt, signer } from '../support/assertions/jwt'
import { canonicalOptions } from '../support/flows/application'
import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, basic, formOf } from '../support/flows/flow'
import { identityKeys } from '../support/flows/identity-stage'
import { outcomeOf } from '../support/flows/outcome'
import { pushingStage, requestUriPrefix } from '../support/flows/pushing'
import { codeOf, redirectionOf } from '../support/flows/redirection'
import { setStage } from '../support/flows/stage'

type Options = Parameters<typeof setStage>[0]
const stage = (options?: Options, plugin = {}) => pushingStage(setStage, options, plugin)
const metadataOf = async ({ flow }: Pick<ReturnType<typeof stage>, 'flow'>) =>
  (await flow.open('/.well-known/oauth-authorization-server')).body
const asked = authorizationRequest(photoPrint)

describe('[PAR-1] the endpoint', () => {
  test('takes a form by POST, at the URL in the metadata, and refuses other methods with 405', async () => {
    const set = stage({}, { path: '/as/par' })
    const url = new URL((await metadataOf(set)).pushed_authorization_request_endpoint)
    expect(url.href).toBe('http://localhost/as/par')
    expect((await set.flow.request(photoPrint, asked, url.pathname)).status).toBe(201)
    const refused = await set.flow.open(`${url.pathname}?${formOf(asked)}`)
    expect([refused.status, refused.get('Allow')]).toEqual([405, 'POST'])
    const json = await set.flow.submit(url.pathname, JSON.stringify(asked), undefined, {
      'Content-Type': 'application/json',
    })
    expect(outcomeOf(json)).toBe('400 invalid_request')
  })

  test('takes the same request from scripts of origins that the option cors names', async () => {
    const { flow } = stage({ cors: { origins: ['https://app.example'] } })
    const response = await flow.submit('/par', authorizationRequest(photoBook), undefined, {
      Origin: 'https://app.example',
    })
    expect([response.status, response.get('Access-Control-Allow-Origin')]).toEqual([
      201,
      'https://app.example',
    ])
  })
})

describe('[PAR-2] a client authenticates as at the token endpoint', () => {
  test('by Basic, in the form and, as a public client, by its name', async () => {
    const { flow } = stage()
    const { secret } = photoPrint
    expect((await flow.request(photoPrint, asked, '/par')).status).toBe(201)
    expect((await flow.submit('/par', { ...asked, client_secret: secret })).status).toBe(201)
    expect((await flow.submit('/par', authorizationRequest(photoBook))).status).toBe(201)
  })

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['without its secret', {}, {}],
    ['with a wrong secret', { client_secret: 'wrong' }, {}],
    ['with the secret of another client', {}, { Authorization: basic('photo-print', nightlyReport.secret) }],
  ])('and is refused %s', async (_how, fields, headers) => {
    const { flow, store } = stage()
    expect(outcomeOf(await flow.submit('/par', { ...asked, ...fields }, undefined, headers))).toBe(
      '401 invalid_client',
    )
    expect(store.calls.write).toBe(0)
  })
})

test.each([
  [false, ['http://localhost']],
  [true, ['http://localhost', 'http://localhost/par', 'http://localhost/token']],
])(
  '[PAR-3] with tokenEndpointAudience %s, an assertion of the client is for one of %j',
  async (option, audiences) => {
    const own = signer('photo-print', '1')
    const client = bent(photoPrint, { credentials: { private_key_jwt: { keys: [own.jwk] } } })
    const { flow, clock } = stage({
      clients: [client.registration],
      plugins: [privateKeyJwt({ tokenEndpointAudience: option })],
    })
    const push = (audience: string) => {
      const claims = { ...claimsAt(Math.floor(clock.read() / 1000), own), sub: 'photo-print', aud: audience }
      const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
      return flow.submit('/par', { ...asked, client_assertion_type, client_assertion: jwt(own, claims) })
    }
    for (const path of ['', '/par', '/token', '/revoke']) {
      const { status } = await push(`http://localhost${path}`)
      expect([path, status]).toEqual([path, audiences.includes(`http://localhost${path}`) ? 201 : 401])
    }
  },
)

test('[PAR-4] a request names its client, and no other one than the client that authenticates', async () => {
  const { push } = stage()
  for (const client_id of ['', 'photo-book'])
    expect(outcomeOf(await push({ client_id }))).toBe('400 invalid_request')
})

test.each([`${requestUriPrefix}x`, 'https://print.example/request.jwt', ''])(
  '[PAR-5] a pushed request with the request_uri %j is refused',
  async (request_uri) => {
    const { push, store } = stage()
    expect(outcomeOf(await push({ request_uri }))).toBe('400 invalid_request')
    expect(store.calls.write).toBe(0)
  },
)

test.each([
  [{ redirect_uri: 'https://evil.example/' }, '400 invalid_request'],
  [{ response_type: 'token' }, '400 unsupported_response_type'],
  [{ scope: 'reports:write' }, '400 invalid_scope'],
  [{ code_challenge_method: 'plain' }, '400 invalid_request'],
  [{ response_mode: 'form_post' }, '400 invalid_request'],
])('[PAR-6] the endpoint refuses what the authorization endpoint would refuse: %j', async (bend, outcome) => {
  const { push } = stage()
  const response = await push(bend)
  expect([outcomeOf(response), response.get('Location')]).toEqual([outcome, undefined])
})

test('[PAR-7] the answer is 201 with request_uri and expires_in, as JSON that no cache keeps', async () => {
  const { push } = stage()
  const response = await push()
  expect([response.status, response.type, response.body]).toEqual([
    201,
    'application/json',
    { request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:[\w-]{22,}$/), expires_in: 60 },
  ])
  expect(response.get('Cache-Control')).toContain('no-store')
})

test('[PAR-8] a reference has at least 128 bits at random: no two have their secret in common', async () => {
  const { push } = stage()
  const references: string[] = []
  for (let time = 0; time < 10; time++) references.push(String((await push()).body.request_uri))
  // After the prefix and 22 letters of the id, 43 letters of the secret.
  const secrets = references.map((reference) => reference.slice(requestUriPrefix.length + 25))
  expect(new Set(secrets).size).toBe(10)
  for (const secret of secrets) expect(Buffer.from(secret, 'base64url').length).toBeGreaterThanOrEqual(16)
})

test('[PAR-9] a reference is good for the client that pushed, and another one does not use it up', async () => {
  const { oauth, flow, pushed } = stage()
  const reasons: string[] = []
  oauth.events.on('refused', ({ reason }) => reasons.push(reason))
  const request = await pushed()
  expect(outcomeOf(await flow.ask({ ...request, client_id: 'photo-book' }, 'alice'))).toBe(
    'page 400 invalid_request',
  )
  expect(reasons).toEqual(['authorization_request_of_another_client'])
  expect(outcomeOf(await flow.ask(request, 'alice'))).toBe('question')
})

test('[PAR-10] errors are JSON with error and error_description, as those of the token endpoint', async () => {
  const { push } = stage()
  const response = await push({ scope: 'reports:write' })
  expect([response.status, response.type]).toEqual([400, 'application/json'])
  expect(Object.keys(response.body)).toEqual(['error', 'error_description'])
  expect(response.get('Cache-Control')).toContain('no-store')
})

test('[PAR-11] a request that is too large is 413, and too many requests are 429 with Retry-After', async () => {
  const { push } = stage({}, { limits: { client: { attempts: 1, seconds: 60 } } })
  const { client_id } = photoPrint.registration
  const room = 16 * 1024 - formOf({ ...asked, client_id, claims: '' }).length
  expect((await push({ claims: 'x'.repeat(room + 1) })).status).toBe(413)
  expect((await stage().push({ claims: 'x'.repeat(room) })).status).toBe(201)
  expect((await push()).status).toBe(201)
  const refused = await push()
  expect([refused.status, refused.get('Retry-After')]).toEqual([429, '60'])
})

test('[PAR-12] of the request that a browser brings, client_id and request_uri alone count', async () => {
  const { flow, pushed } = stage()
  const request = await pushed({ scope: 'photos:read', state: 'pushed' })
  const brought = {
    ...request,
    scope: 'photos:print',
    state: 'brought',
    redirect_uri: 'https://evil.example/',
  }
  const response = await flow.decide(await flow.ask(brought, 'alice'), 'approve', 'alice')
  expect(redirectionOf(response)).toMatchObject({
    uri: 'https://print.example/callback',
    parameters: { state: 'pushed' },
  })
  expect((await flow.redeem(photoPrint, codeOf(response))).body).toMatchObject({ scope: 'photos:read' })
})

test('[PAR-13] a reference is good for one decision; until then, its owner may reload the page', async () => {
  const { flow, pushed } = stage()
  const request = await pushed()
  await flow.ask(request, 'alice')
  const page = await flow.ask(request, 'alice')
  expect(outcomeOf(await flow.decide(page, 'approve', 'alice'))).toBe('redirect code')
  expect(outcomeOf(await flow.ask(request, 'alice'))).toBe('page 400 invalid_request')
})

test('[PAR-14] an expired reference is refused', async () => {
  const { flow, pushed, clock } = stage()
  const request = await pushed()
  clock.advance(60)
  expect(outcomeOf(await flow.ask(request, 'alice'))).toMatch(/^page 400 invalid_request/)
})

test('[PAR-15, PAR-20] the request is checked again when the browser brings it, by what the client may have then', async () => {
  let registration: { scope: string; redirect_uris: readonly string[] } = photoPrint.registration
  const find = async () => ({ ...photoPrint.registration, ...registration })
  const { flow, pushed } = stage({ clients: { find } })
  const [narrowed, moved] = [await pushed(), await pushed()]
  registration = { ...photoPrint.registration, scope: 'photos:read' }
  expect(outcomeOf(await flow.ask(narrowed, 'alice'))).toBe('redirect invalid_scope')
  registration = { ...photoPrint.registration, redirect_uris: ['https://print.example/other'] }
  expect(outcomeOf(await flow.ask(moved, 'alice'))).toBe('page 400 invalid_request')
})

test('[PAR-16] the metadata names the endpoint, and says whether every request must be pushed', async () => {
  const [some, all] = [await metadataOf(stage()), await metadataOf(stage({}, { required: true }))]
  const pushed_authorization_request_endpoint = 'http://localhost/par'
  expect(some).toMatchObject({ pushed_authorization_request_endpoint })
  expect(some).not.toHaveProperty('require_pushed_authorization_requests')
  expect(all).toMatchObject({
    pushed_authorization_request_endpoint,
    require_pushed_authorization_requests: true,
  })
})

test.each<[string, Record<string, unknown>, object]>([
  ['[PAR-17] a server that demands pushed requests refuses others, of every client', {}, { required: true }],
  [
    '[PAR-18] a client that must push its requests is refused without, and is no default for others',
    { require_pushed_authorization_requests: true },
    {},
  ],
])('%s', async (_title, bend, plugin) => {
  const client = bent(photoPrint, bend)
  const { flow, pushed } = stage({ clients: [client.registration, photoBook.registration] }, plugin)
  expect(outcomeOf(await flow.ask(asked, 'alice'))).toBe('page 400 invalid_request')
  expect(outcomeOf(await flow.ask(await pushed({}, client), 'alice'))).toBe('question')
})

test('[PAR-19] a request_uri of the client is not supported, and the metadata of OpenID Connect says so', async () => {
  const keys = identityKeys()
  const plugins = [keys, openIdConnect({ keys }), pushedAuthorizationRequests()]
  const { flow } = setStage({ plugins, scopes: { ...canonicalOptions.scopes, openid: 'Know who you are' } })
  const response = await flow.ask({ ...asked, request_uri: 'https://print.example/request.jwt' }, 'alice')
  expect(outcomeOf(response)).toBe('page 400 request_uri_not_supported')
  const { body } = await flow.open('/.well-known/openid-configuration')
  expect(body).toMatchObject({
    request_uri_parameter_supported: false,
    pushed_authorization_request_endpoint: 'http://localhost/par',
  })
})

describe('[PAR-21] the examples of RFC 9126', () => {
  const secret = '7Fjfp0ZBr1KtDRbnfVdmIw'
  const clients = [
    {
      client_id: 's6BhdRkqt3',
      client_type: 'confidential',
      client_secret_hashes: [hashSync(secret, 4)],
      redirect_uris: ['https://client.example.org/cb'],
      scope: 'account-information',
    },
  ] as const
  const open = () =>
    stage(
      { clients, scopes: { ...canonicalOptions.scopes, 'account-information': 'See your accounts' } },
      { path: '/as/par' },
    )
  const headers = { Authorization: 'Basic czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3' }
  const request =
    'response_type=code&state=af0ifjsldkj&client_id=s6BhdRkqt3&redirect_uri=https%3A%2F%2Fclient.example.org%2Fcb&code_challenge=K2-ltc83acc4h0c9w6ESC_rEMTJ3bww-uCHaoeK1t8U&code_challenge_method=S256&scope=account-information'

  test('a request of 2.1 gets an answer as in 2.2, and the browser goes on as in 4', async () => {
    const { flow } = open()
    const { status, body } = await flow.submit('/as/par', request, undefined, headers)
    expect([status, Object.keys(body)]).toEqual([201, ['request_uri', 'expires_in']])
    const query = `client_id=s6BhdRkqt3&request_uri=${encodeURIComponent(body.request_uri)}`
    const page = await flow.open(`/authorize?${query}`, 'alice')
    const response = await flow.decide(page, 'approve', 'alice')
    expect(redirectionOf(response)).toMatchObject({
      uri: 'https://client.example.org/cb',
      parameters: { state: 'af0ifjsldkj', code: expect.any(String) },
    })
  })

  test('a redirection URI that is not registered is invalid_request, as in 2.3', async () => {
    const { flow } = open()
    const bad = request.replace('client.example.org', 'attacker.example.org')
    const { status, body } = await flow.submit('/as/par', bad, undefined, headers)
    expect([status, body.error]).toEqual([400, 'invalid_request'])
  })

  test('the reference of 4, which no client has pushed, is refused', async () => {
    const { flow } = open()
    const query =
      'client_id=s6BhdRkqt3&request_uri=urn%3Aietf%3Aparams%3Aoauth%3Arequest_uri%3A6esc_11ACC5bwc014ltc14eY22c'
    expect(outcomeOf(await flow.open(`/authorize?${query}`, 'alice'))).toBe('page 400 invalid_request_uri')
  })
})
