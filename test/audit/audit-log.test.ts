import request from 'supertest'
import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { generateClientSecret } from '../../lib/client-authentication/client-secret'
import type { ClientRegistration } from '../../lib/protocol/client'
import type { AuthorizationStore } from '../../lib/authorization/store'
import { approvedCode, authorizationRequest, consentTokenIn } from '../support/rooms/consent-form'
import { basic, rawBasic } from '../support/rooms/credentials'
import { hostWith } from '../support/rooms/host'
import { phone, printer, printerSecret } from '../support/rooms/registrations'

const credentialFingerprint = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8)
const long = 'x'.repeat(256)

const fails = () => Promise.reject(new Error('down'))
const down: AuthorizationStore = { find: fails, save: fails, remove: fails }
const broken = () => {
  throw new TypeError('broken')
}

/** What brings about a refusal or a failure of each kind, and the event that tells of it. */
const kinds: readonly [
  string,
  Parameters<typeof hostWith>[0],
  (test: ReturnType<typeof request>) => request.Test,
  object,
][] = [
  [
    'a token request',
    {},
    (agent) =>
      agent
        .post('/token')
        .auth(printer.client_id, 'wrong')
        .type('form')
        .send({ grant_type: 'client_credentials' }),
    { endpoint: 'token', code: 'invalid_client', reason: 'client_not_authenticated' },
  ],
  [
    'an authorization request that ends at a page',
    {},
    (agent) => agent.get('/authorize').query({ client_id: 'nobody' }),
    {
      endpoint: 'authorization',
      code: 'invalid_request',
      reason: 'client_unknown',
      clientId: credentialFingerprint('nobody'),
    },
  ],
  [
    'an authorization request that ends in a redirect',
    {},
    (agent) => agent.get('/authorize').query({ ...authorizationRequest, scope: 'x' }),
    {
      endpoint: 'authorization',
      code: 'invalid_scope',
      reason: 'scope_not_allowed',
      clientId: printer.client_id,
    },
  ],
  [
    'a protected resource',
    {},
    (agent) => agent.get('/photos').auth('garbage', { type: 'bearer' }),
    {
      endpoint: 'protected resource',
      code: 'invalid_token',
      reason: 'token_invalid',
      clientId: undefined,
    },
  ],
  [
    'what breaks behind a redirect',
    { resourceOwner: broken },
    (agent) => agent.get('/authorize').query(authorizationRequest),
    {
      endpoint: 'authorization',
      code: 'server_error',
      reason: 'unexpected',
      clientId: printer.client_id,
      cause: new TypeError('broken'),
    },
  ],
  [
    'what breaks where nothing can be redirected',
    { resourceOwner: broken },
    (agent) =>
      agent.post('/authorize').type('form').send({ authorization_request: 'x', decision: 'approve' }),
    {
      endpoint: 'authorization',
      code: 'server_error',
      reason: 'unexpected',
      clientId: undefined,
      cause: new TypeError('broken'),
    },
  ],
  [
    'trouble of the store',
    { store: down },
    (agent) => agent.get('/photos').auth(`at_${'A'.repeat(64)}`, { type: 'bearer' }),
    {
      endpoint: 'protected resource',
      code: 'temporarily_unavailable',
      reason: 'store_unavailable',
      clientId: undefined,
      cause: new Error('down'),
    },
  ],
]

const hostOf = (bend: Parameters<typeof hostWith>[0]) =>
  hostWith(bend, (app, oauth) => {
    app.use(oauth.router())
    app.get('/photos', oauth.bearerGuard('photos.read'), (_request, response) => void response.send('photos'))
  })

describe('the event of a refusal or a failure', () => {
  it.each(kinds)('emits an event for %s, under the id of the response', async (_what, bend, ask, event) => {
    const { app, failures } = hostOf(bend)
    const { headers } = await ask(request(app))
    expect(headers['x-request-id']).toMatch(/^[0-9a-f]{16}$/)
    expect(failures).toEqual([expect.objectContaining({ ...event, requestId: headers['x-request-id'] })])
  })

  it('has another id for each request', async () => {
    const { app, failures } = hostOf({})
    for (let round = 0; round < 3; round++) await request(app).get('/authorize')
    expect(new Set(failures.map(({ requestId }) => requestId)).size).toBe(3)
  })

  it('is not made of a request that shows no token, which is how clients ask what to do', async () => {
    const { app, failures } = hostOf({})
    const response = await request(app).get('/photos').expect(401)
    expect(failures).toEqual([])
    expect(response.headers).not.toHaveProperty('x-request-id')
  })

  it('is not made of what goes well, and such an answer has no id', async () => {
    const { app, failures } = hostOf({})
    const response = await request(app).get('/authorize').query(authorizationRequest).expect(200)
    expect(failures).toEqual([])
    expect(response.headers).not.toHaveProperty('x-request-id')
  })

  it('reaches every listener', async () => {
    const { app, oauth, failures } = hostOf({})
    const second = jest.fn()
    oauth.events.on('refused', second)
    await request(app).get('/authorize')
    expect(second.mock.calls).toEqual([failures])
  })

  it('reaches no listener of another server', async () => {
    const [first, second] = [hostOf({}), hostOf({})]
    await request(first.app).get('/authorize')
    expect([first.failures.length, second.failures.length]).toEqual([1, 0])
  })

  it.each([
    ['in Basic', (test: request.Test) => test.auth('photo-printer', 'wrong'), 'photo-printer'],
    [
      'in the body',
      (test: request.Test) => test.send({ client_id: 'x', client_secret: 'y' }),
      credentialFingerprint('x'),
    ],
    [
      'by its name alone',
      (test: request.Test) => test.send({ client_id: 'nobody' }),
      credentialFingerprint('nobody'),
    ],
    ['at great length', (test: request.Test) => test.send({ client_id: long }), credentialFingerprint(long)],
    ['at too great length', (test: request.Test) => test.send({ client_id: 'x'.repeat(257) }), undefined],
    ['not at all', (test: request.Test) => test.send({}), undefined],
    ['twice', (test: request.Test) => test.auth('x', 'y').send({ client_secret: 'z' }), undefined],
  ])('names the client that was claimed %s, so that an alarm can count', async (_how, claim, clientId) => {
    const { app, failures } = hostOf({})
    await claim(request(app).post('/token').type('form'))
    expect(failures).toEqual([expect.objectContaining({ endpoint: 'token', clientId })])
  })

  it('names the client that was proven, and then refused', async () => {
    const { app, failures } = hostOf({})
    await request(app)
      .post('/token')
      .auth(printer.client_id, printerSecret)
      .type('form')
      .send({ grant_type: 'x' })
    expect(failures).toEqual([
      expect.objectContaining({ code: 'unsupported_grant_type', clientId: printer.client_id }),
    ])
  })
})

const verifier = 'verifier-dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const wrongSecret = 'wrong-secret:with%zz+odd letters'
const plainSecret = 'a-secret-that-the-host-stored-in-plain'
const password = 'password-of-the-owner'

const brokenRegistration = {
  ...printer,
  client_id: 'broken',
  client_secret_hashes: [plainSecret],
} satisfies ClientRegistration
const registered: readonly ClientRegistration[] = [printer, phone, brokenRegistration]

/** Everything of it, hidden fields and causes of causes too, as text. */
const everything = (value: unknown) =>
  inspect(value, { depth: Infinity, showHidden: true, maxStringLength: Infinity, maxArrayLength: Infinity }) +
  JSON.stringify(value)

describe('failure events', () => {
  it('hold no secret, whatever fails [input-14]', async () => {
    const clients = { find: async (id: string) => registered.find(({ client_id }) => client_id === id) }
    const { app, oauth, failures, errors } = hostWith({ clients }, (host, server) => {
      host.use(server.router())
      host.get(
        '/photos',
        server.bearerGuard('photos.write'),
        (_request, response) => void response.send('photos'),
      )
    })
    const secrets = new Set([printerSecret, wrongSecret, plainSecret, password, verifier])
    const token = (
      body: Readonly<Record<string, string | string[]>>,
      header = basic(printer.client_id, printerSecret),
    ) => {
      secrets.add(header.slice(6))
      return request(app).post('/token').set('Authorization', header).type('form').send(body)
    }

    // Client authentication, in every way wrong.
    const grant = { grant_type: 'client_credentials', scope: 'photos.read' }
    for (const header of [
      basic(printer.client_id, wrongSecret),
      rawBasic(`${printer.client_id}:${wrongSecret}`),
      rawBasic(`:${wrongSecret}`),
      rawBasic(wrongSecret.replace(':', '.')),
      `Basic ${wrongSecret}`,
      `Bearer ${wrongSecret}`,
      basic('nobody', wrongSecret),
      basic('broken', plainSecret),
      basic(phone.client_id, wrongSecret),
    ])
      await token(grant, header)
    await token({ ...grant, client_id: printer.client_id, client_secret: wrongSecret })
    await token({ ...grant, client_id: 'other' })
    await request(app).post('/token').type('form').send({ client_secret: wrongSecret })
    await request(app)
      .post('/token')
      .type('form')
      .send({ client_id: 'x', client_secret: [wrongSecret, printerSecret] })
    await request(app).post('/token').type('json').send({ client_secret: wrongSecret })
    await request(app).post('/token').query({ client_secret: wrongSecret }).type('form').send(grant)

    // Grants, in every way wrong.
    const first = await approvedCode(app)
    const challenged = await approvedCode(app, {
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    })
    const { redirect_uri } = authorizationRequest
    await token({ grant_type: 'authorization_code', code: challenged, redirect_uri, code_verifier: verifier })
    await token({ grant_type: 'authorization_code', code: first, redirect_uri, code_verifier: verifier })
    await token({ grant_type: 'authorization_code', code: first, redirect_uri: 'https://evil.example/' })
    const { body } = await token({ grant_type: 'authorization_code', code: first, redirect_uri })
    const { access_token, refresh_token } = body
    await token({ grant_type: 'authorization_code', code: `${first}x`, redirect_uri })
    await token({ grant_type: 'refresh_token', refresh_token: String(refresh_token), scope: 'profile' })
    await token({ grant_type: 'refresh_token', refresh_token: `${refresh_token}x` })
    await token({ grant_type: 'refresh_token', refresh_token: [String(refresh_token), 'x'] })
    await token({ grant_type: 'password', username: 'alice', password })

    // Tokens and handles, in every way wrong.
    const photos = (header: string) => request(app).get('/photos').set('Authorization', header)
    for (const header of [`Bearer ${access_token}`, `Bearer ${access_token} x`, `Bearer ${refresh_token}`])
      await photos(header)
    await token({ grant_type: 'authorization_code', code: first, redirect_uri })
    await photos(`Bearer ${access_token}`)
    const page = await request(app).get('/authorize').query(authorizationRequest)
    const consentToken = consentTokenIn(page.text)
    const decide = (decision: string) =>
      request(app).post('/authorize').type('form').send({ authorization_request: consentToken, decision })
    await decide('perhaps')
    await decide('deny')
    await decide('approve')

    for (const secret of [first, challenged, access_token, refresh_token, consentToken])
      secrets.add(String(secret))
    expect(failures.length).toBeGreaterThan(28)
    expect(new Set(failures.map(({ reason }) => reason)).size).toBeGreaterThan(18)
    for (const secret of secrets)
      for (const spelling of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')])
        expect(everything([failures, errors])).not.toContain(spelling)
    expect(oauth.events.listenerCount('failure')).toBe(1)
  })

  it('hold none that generateClientSecret made', () => {
    // The test above would be worth nothing with secrets that hide among other words.
    for (const secret of [printerSecret, generateClientSecret().client_secret])
      expect(secret).toHaveLength(43)
  })
})
