import request from 'supertest'
import { type AuthorizationServerOptions, generateClientSecret } from '../../lib/index'
import { basic } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { approve, configure, getTokens, ofClient, redeem, refresh } from '../support/flows/registered-client'
import { day, notesApp, notesService, storedClient } from '../support/flows/registering'
import { setStage } from '../support/flows/stage'

/** A server at which clients register themselves. */
function stage(dynamicRegistration: NonNullable<AuthorizationServerOptions['dynamicRegistration']> = {}) {
  const set = setStage({ dynamicRegistration })
  const register = async (metadata: unknown, headers: Record<string, string> = {}) =>
    request(set.app)
      .post('/register')
      .set({ 'Content-Type': 'application/json', ...headers })
      .send(typeof metadata === 'string' ? metadata : JSON.stringify(metadata))
  return { ...set, register }
}

test('[DCR-1, DCR-3] a public client gets tokens with the identifier that it was given', async () => {
  const staged = stage()
  const client = await staged.register(notesApp)
  expect(client.status).toBe(201)
  expect(client.get('Cache-Control')).toBe('no-store')
  expect(client.body).toEqual({
    ...notesApp,
    client_id: expect.stringMatching(/^dynamic_[\w-]{43}$/),
    client_id_issued_at: Math.floor(staged.clock.read() / 1000),
  })
  const tokens = await getTokens(staged, client)
  expect(tokens.body).toMatchObject({ scope: 'photos:read', refresh_token: expect.any(String) })
  const photos = await staged.flow.photos(tokens.body.access_token)
  expect(photos.body).toMatchObject({ clientId: client.body.client_id })
  expect((await refresh(staged, client, tokens.body.refresh_token)).status).toBe(200)
})

test('[DCR-2, DCM-1] a confidential client gets a secret with an end, and a registration access token', async () => {
  const staged = stage()
  const client = await staged.register({ ...notesService, token_endpoint_auth_method: undefined })
  const now = Math.floor(staged.clock.read() / 1000)
  expect(client.body).toEqual({
    ...notesService,
    client_id: expect.stringMatching(/^dynamic_[\w-]{22}$/),
    client_id_issued_at: now,
    client_secret: expect.stringMatching(/^[\w-]{43}$/),
    client_secret_expires_at: now + 90 * day,
    registration_access_token: expect.stringMatching(/^[\w-]{43}$/),
    registration_client_uri: `http://localhost/register/client?client_id=${client.body.client_id}`,
  })
  expect((await getTokens(staged, client)).status).toBe(200)
})

test('[DCR-4] the defaults are those of RFC 7591 2, and the scope is all that such clients may have', async () => {
  const { register } = stage({ scope: 'photos:read photos:print' })
  const { body } = await register({ redirect_uris: ['https://notes.example/callback'] })
  expect(body).toMatchObject({
    token_endpoint_auth_method: 'client_secret_basic',
    grant_types: ['authorization_code'],
    response_types: ['code'],
    scope: 'photos:print photos:read',
  })
})

test('[DCR-5, MCP-3] unknown members are ignored, and are not in the answer', async () => {
  const { status, body } = await stage().register({
    ...notesApp,
    application_type: 'native',
    unknown: { deep: true },
  })
  expect([status, body]).toEqual([201, expect.objectContaining(notesApp)])
  for (const name of ['application_type', 'unknown']) expect(body).not.toHaveProperty(name)
})

test.each([
  ['redirect_uris', undefined],
  ['redirect_uris', []],
  ['redirect_uris', 'https://a.example/'],
  ['redirect_uris', [7]],
  ['redirect_uris', ['/callback']],
  ['redirect_uris', ['https://a.example/#x']],
  ['redirect_uris', ['http://a.example/']],
  ['redirect_uris', ['javascript:alert(1)']],
  ['redirect_uris', ['https://user@a.example/']],
  ['redirect_uris', [`https://a.example/${'x'.repeat(2048)}`]],
  ['redirect_uris', Array.from({ length: 101 }, (_, n) => `https://a.example/${n}`)],
])(
  '[DCR-6] %s as %j: invalid_redirect_uri, which names the member [registration-7]',
  async (member, value) => {
    const refused = await stage().register({ ...notesApp, [member]: value })
    expect(outcomeOf(refused)).toBe('400 invalid_redirect_uri')
    expect(refused.body.error_description).toMatch(/^redirect_uris /)
    expect(refused.body.error_description).not.toContain('a.example')
  },
)

test.each([
  ['token_endpoint_auth_method', 'private_key_jwt'],
  ['token_endpoint_auth_method', 'client_secret_jwt'],
  ['token_endpoint_auth_method', ['none']],
  ['token_endpoint_auth_method', '__proto__'],
  ['grant_types', ['refresh_token']],
  ['grant_types', ['__proto__']],
  ['grant_types', 'authorization_code'],
  ['grant_types', { 0: 'authorization_code' }],
  ['grant_types', Array.from({ length: 101 }, () => 'authorization_code')],
  ['response_types', ['token']],
  ['response_types', [null]],
  ['response_types', Array.from({ length: 101 }, () => 'code')],
  ['scope', 'unknown'],
  ['scope', ['photos:read']],
  ['scope', 'photos:read  photos:print'],
])('[DCR-7] %s as %j: invalid_client_metadata, which names the member', async (member, value) => {
  const refused = await stage().register({ ...notesApp, [member]: value })
  expect(outcomeOf(refused)).toBe('400 invalid_client_metadata')
  expect(refused.body.error_description).toMatch(new RegExp(`^${member} `))
})

test.each([
  ['client_name', 7],
  ['client_name', 'x'.repeat(257)],
  ['client_name', 'line\nbreak'],
  ['client_name', 'Trusted\u202Eemas'],
  ['client_uri', 'javascript:alert(1)'],
  ['logo_uri', 'data:image/png;base64,'],
  ['policy_uri', `https://a.example/${'x'.repeat(2048)}`],
  ['tos_uri', {}],
])(
  '[DCR-3] %s as %j: what people alone would see is left out, and the answer names it [registration-8]',
  async (member, value) => {
    const { status, body } = await stage().register({ ...notesApp, [member]: value })
    expect([status, body.left_out, body[member]]).toEqual([201, [member], undefined])
  },
)

test.each(['[]', 'null', '"x"', '7', 'true'])('[DCR-7] %s: not an object', async (body) => {
  expect(outcomeOf(await stage().register(body))).toBe('400 invalid_client_metadata')
})

test('[DCR-1] a body that is no JSON, or no JSON by its type', async () => {
  expect(outcomeOf(await stage().register('{'))).toBe('400 invalid_request')
  const form = await stage().register('a=b', { 'Content-Type': 'application/x-www-form-urlencoded' })
  expect(outcomeOf(form)).toBe('400 invalid_request')
})

test('[DCR-7] more than 16 384 characters in all', async () => {
  const staged = stage()
  const redirect_uris = Array.from({ length: 16 }, (_, n) => `https://a.example/${n}${'x'.repeat(980)}`)
  const registered = (letters: number) =>
    staged.register({
      ...notesApp,
      redirect_uris: [...redirect_uris, `https://a.example/${'y'.repeat(letters)}`],
    })
  const { body } = await registered(1)
  const { registration } = await storedClient(staged, body.client_id)
  const { client_id: _id, ...stated } = registration
  const room = 16_384 - JSON.stringify(stated).length
  expect((await registered(1 + room)).status).toBe(201)
  expect(outcomeOf(await registered(2 + room))).toBe('400 invalid_client_metadata')
})

test('[DCR-3] each list has at most 100 entries', async () => {
  const staged = stage()
  const statuses: number[] = []
  for (const length of [100, 101]) {
    const uris = Array.from({ length }, (_, n) => `https://a.example/${n}`)
    for (const member of [
      { redirect_uris: uris },
      { post_logout_redirect_uris: uris },
      { grant_types: Array.from({ length }, () => 'authorization_code') },
      { response_types: Array.from({ length }, () => 'code') },
    ])
      statuses.push((await staged.register({ ...notesApp, ...member })).status)
  }
  expect(statuses).toEqual([201, 201, 201, 201, 400, 400, 400, 400])
})

test('[DCR-7] members that a prototype would lend are no members', async () => {
  const refused = await stage().register(`{"__proto__":${JSON.stringify(notesApp)}}`)
  expect(outcomeOf(refused)).toBe('400 invalid_redirect_uri')
})

test('[DCR-8] initial access tokens: the holder of one of the initial access tokens [registration-12]', async () => {
  const [one, two] = [generateClientSecret(), generateClientSecret()]
  const staged = stage({ initialAccessToken: [one.client_secret_hash, two.client_secret_hash] })
  for (const { client_secret } of [one, two])
    expect((await staged.register(notesApp, { Authorization: `Bearer ${client_secret}` })).status).toBe(201)
  for (const [headers, challenge] of [
    [{}, 'Bearer realm="oauth"'],
    [{ Authorization: 'Bearer wrong' }, 'Bearer realm="oauth", error="invalid_token"'],
    [{ Authorization: basic('x', one.client_secret) }, 'Bearer realm="oauth", error="invalid_token"'],
    [{ Authorization: `Bearer ${one.client_secret_hash}` }, 'Bearer realm="oauth", error="invalid_token"'],
  ] as const) {
    const refused = await staged.register(notesApp, headers)
    expect([outcomeOf(refused), refused.get('WWW-Authenticate')]).toEqual(['401 invalid_token', challenge])
  }
})

test('[DCM-2] a client reads its registration, without its secret', async () => {
  const staged = stage()
  const client = await staged.register(notesService)
  const read = await configure(staged, 'get', client)
  const { client_secret, ...others } = client.body
  expect([read.status, read.body]).toEqual([200, others])
  expect(client_secret).toBeDefined()
})

test('[DCM-3] a client replaces its registration: what it leaves out is gone, and the secret stays', async () => {
  const staged = stage()
  const client = await staged.register({ ...notesService, client_uri: 'https://notes.example/' })
  const { client_id } = client.body
  const metadata = { client_id, redirect_uris: ['https://notes.example/new'], scope: 'photos:read' }
  const updated = await configure(staged, 'put', client, { metadata })
  expect(updated.status).toBe(200)
  expect(updated.body).toMatchObject({ ...metadata, grant_types: ['authorization_code'] })
  expect(updated.body).not.toHaveProperty('client_uri')
  expect(updated.body).not.toHaveProperty('client_secret')
  const changed = { body: { ...client.body, ...updated.body } }
  expect((await getTokens(staged, changed)).status).toBe(200)
  expect((await staged.flow.ask(ofClient(client), 'alice')).status).toBe(400)
})

test('[DCM-4] a client may not choose what the server chose', async () => {
  const staged = stage()
  const client = await staged.register(notesService)
  const { client_id } = client.body
  for (const bend of [
    { client_id: undefined },
    { client_id: 'photo-print' },
    { client_secret: 'chosen' },
    { client_secret: 7 },
    { client_secret_expires_at: 0 },
    { client_id_issued_at: 0 },
    { registration_access_token: client.body.registration_access_token },
    { registration_client_uri: client.body.registration_client_uri },
    { token_endpoint_auth_method: 'none' },
  ]) {
    const refused = await configure(staged, 'put', client, {
      metadata: { ...notesService, client_id, ...bend },
    })
    expect({ bend, outcome: outcomeOf(refused) }).toEqual({ bend, outcome: '400 invalid_client_metadata' })
    expect(refused.body.error_description).toContain(Object.keys(bend)[0])
  }
  expect((await configure(staged, 'get', client)).body.redirect_uris).toEqual(notesService.redirect_uris)
})

test('[DCM-5] a client deletes its registration, and its grants end with it', async () => {
  const staged = stage()
  const client = await staged.register(notesService)
  const tokens = await getTokens(staged, client)
  const code = await approve(staged, client)
  const deleted = await configure(staged, 'delete', client)
  expect([deleted.status, deleted.text, deleted.get('Content-Length')]).toEqual([204, '', undefined])
  expect(outcomeOf(await refresh(staged, client, tokens.body.refresh_token))).toBe('401 invalid_client')
  expect(outcomeOf(await redeem(staged, client, code))).toBe('401 invalid_client')
  expect(outcomeOf(await configure(staged, 'get', client))).toBe('401 invalid_token')
  expect((await staged.flow.ask(ofClient(client), 'alice')).status).toBe(400)
})

test('[DCM-6] no other client reads, changes or deletes it [registration-3, registration-4]', async () => {
  const staged = stage()
  const [client, other] = [await staged.register(notesService), await staged.register(notesService)]
  const app = await staged.register(notesApp)
  expect(app.body).not.toHaveProperty('registration_access_token')
  const uri = (id: string) => ({
    registration_client_uri: `http://localhost/register/client?client_id=${id}`,
  })
  const stranger = { body: { ...other.body, ...uri(client.body.client_id) } }
  const ofApp = { body: { ...other.body, ...uri(app.body.client_id) } }
  const ofHost = { body: { ...other.body, ...uri('photo-print') } }
  const ofUnknown = { body: { ...other.body, ...uri(`dynamic_${'A'.repeat(22)}`) } }
  for (const each of [stranger, ofApp, ofHost, ofUnknown])
    for (const method of ['get', 'put', 'delete'] as const)
      for (const token of [other.body.registration_access_token, '-'.repeat(42), 'undefined']) {
        const refused = await configure(staged, method, each, {
          token,
          ...(method === 'put' ? { metadata: {} } : {}),
        })
        expect(outcomeOf(refused)).toBe('401 invalid_token')
        expect(refused.get('WWW-Authenticate')).toBe('Bearer realm="oauth", error="invalid_token"')
      }
  const bare = await request(staged.app).get(`/register/client?client_id=${client.body.client_id}`)
  expect([outcomeOf(bare), bare.get('WWW-Authenticate')]).toEqual([
    '401 invalid_token',
    'Bearer realm="oauth"',
  ])
  expect((await configure(staged, 'get', client)).status).toBe(200)
})

test('[DCM-7] other methods get 405 with the methods of the path', async () => {
  const { app } = stage()
  const response = await request(app).post('/register/client?client_id=x')
  expect([response.status, response.get('Allow')]).toEqual([405, 'GET, HEAD, PUT, DELETE'])
  expect((await request(app).get('/register')).get('Allow')).toBe('POST')
})
