import request from 'supertest'
import {
  type AuthorizationServerOptions,
  type PageOptions,
  type ClientAuthenticationMethod,
  generateClientSecret,
  memoryStore,
  OAuthError,
} from 'express-authorization-server'
import { tokenExchange } from 'express-authorization-server/grants'
import type { Failure } from '../support/events'
import { bent, nightlyReport } from '../support/flows/clients'
import { basic } from '../support/flows/flow'
import { deviceCode } from '../support/flows/device-stage'
import { answeredPageOf } from '../support/flows/answered-page'
import { outcomeOf } from '../support/flows/outcome'
import { rawRequest } from '../support/flows/raw-request'
import { codeOf } from '../support/flows/redirection'
import { configure, getTokens, ofClient, redeem, refresh } from '../support/flows/registered-client'
import {
  day,
  describeRegistration,
  hour,
  inMemory,
  notesApp,
  notesService,
  registeringOn,
  type RegisteringStage,
  storedClient,
} from '../support/flows/registering'
import { anyOwner, exchangeOf, tokenExchangeName } from '../support/flows/token-exchange'
import { but } from '../support/stores/but'
import { withPlugins } from '../support/with-plug-ins'

const faultsIn = (failures: readonly Failure[]) => failures.filter(({ code }) => code === 'server_error')

describeRegistration('A client registers itself', (stage) => {
  const claims = {
    client_uri: 'https://bank.example/',
    logo_uri: 'https://bank.example/logo.png',
    policy_uri: 'https://bank.example/privacy',
    tos_uri: 'https://bank.example/terms',
  }

  test('the consent page says that the client registered itself, and shows no logo and no link of its own [registration-10]', async () => {
    const staged = stage()
    const client = await staged.register({ ...notesApp, ...claims })
    expect([client.status, client.body]).toMatchObject([201, claims])
    const { text } = await staged.flow.ask(ofClient(client), 'alice')
    expect(text).toContain('This app registered itself here.')
    expect(text).not.toMatch(/bank\.example|<a href="(?!\?)/)
  })

  test('no page of the host and no page after the approval gets a link of such a client, either', async () => {
    const seen: object[] = []
    const consent: PageOptions['consent'] = (_request, response, view) => {
      seen.push(view)
      response.json(view)
    }
    const staged = stage({}, { pages: { consent } })
    const client = await staged.register({ ...notesApp, ...claims })
    const { body } = await staged.flow.ask(ofClient(client), 'alice')
    expect(seen).toMatchObject([{ client: { client_name: 'Notes', unregistered: { host: undefined } } }])
    expect(JSON.stringify(seen)).not.toContain('bank.example')
    const press = () => staged.flow.submit('/authorize', { ...body.fields, decision: 'approve' }, 'alice')
    await redeem(staged, client, codeOf(await press()))
    expect(answeredPageOf(await press())).toBeUndefined()
  })

  test('equal metadata give one public client, whatever their order, repetitions and unknown members', async () => {
    const { register } = stage()
    const first = await register({ ...notesApp, redirect_uris: ['https://a.example/', 'https://b.example/'] })
    const again = await register({
      software_statement: 'ignored',
      unknown: { deep: true },
      scope: 'photos:read photos:read',
      response_types: ['code'],
      contacts: null,
      grant_types: ['refresh_token', 'authorization_code'],
      token_endpoint_auth_method: 'none',
      redirect_uris: ['https://b.example/', 'https://a.example/', 'https://b.example/'],
      client_name: 'Notes',
      tos_uri: '',
    })
    expect([again.status, again.body]).toEqual([201, first.body])
    const other = await register({ ...notesApp, client_name: 'Notes 2' })
    expect(other.body.client_id).not.toBe(first.body.client_id)
  })

  test('scopes and grant types that the server does not give are left out, and the answer says so [registration-5]', async () => {
    const { register } = stage({ scope: 'photos:read' })
    const { status, body } = await register({
      ...notesApp,
      scope: 'photos:read reports:write offline_access',
      grant_types: ['authorization_code', 'password', deviceCode, 'client_credentials'],
      response_types: ['code', 'token'],
    })
    const left = { scope: 'photos:read', grant_types: ['authorization_code'], response_types: ['code'] }
    expect([status, body]).toMatchObject([201, left])
  })

  test('members for people that are wrong are left out, and the answer names them; an equal app without them is the same client', async () => {
    const staged = stage()
    const { register, flow } = staged
    const { client_name: _name, ...nameless } = notesApp
    const right = await register({ ...nameless, policy_uri: 'https://notes.example/privacy' })
    const wrong = {
      client_name: 'Notes\u202E',
      client_uri: 'javascript:alert(1)',
      logo_uri: `https://notes.example/${'x'.repeat(2048)}`,
      tos_uri: { en: 'https://notes.example/terms' },
    }
    const client = await register({ ...right.body, ...wrong })
    expect([client.status, client.body]).toEqual([201, { ...right.body, left_out: Object.keys(wrong) }])
    expect((await flow.ask(ofClient(client), 'alice')).text).not.toContain('Notes')

    const withSecret = { ...notesApp, token_endpoint_auth_method: 'client_secret_post' }
    const confidential = await staged.register(withSecret)
    const metadata = { ...withSecret, client_id: confidential.body.client_id, client_name: ['Notes'] }
    const { status, body } = await configure(staged, 'put', confidential, { metadata })
    expect([status, body.left_out, body.client_name]).toEqual([200, ['client_name'], undefined])
  })

  test('with registerAllScopes, a client may ask for every scope of such clients, whatever it named, and for no other', async () => {
    const { register, flow } = stage({ scope: 'photos:read photos:print', registerAllScopes: true })
    const client = await register({ ...notesApp, scope: 'photos:read' })
    expect(client.body.scope).toBe('photos:print photos:read')
    // One registration for all scopes: the app adds nothing when it begins with another one.
    const again = await register({ ...notesApp, scope: 'photos:print' })
    expect(again.body.client_id).toBe(client.body.client_id)
    const ask = async (scope: string) => (await flow.ask({ ...ofClient(client), scope }, 'alice')).text
    expect(await ask('photos:read photos:print')).toContain('name="decision"')
    expect(await ask('reports:write')).toContain('error=invalid_scope')
    expect((await register({ ...notesApp, scope: 'reports:write' })).status).toBe(400)
  })

  test('client credentials are for confidential clients alone, and only if the host allows them', async () => {
    const { register, flow } = stage({ grantTypes: ['client_credentials'] })
    const metadata = { grant_types: ['client_credentials'], scope: 'reports:write' }
    const client = await register(metadata)
    const grant = { grant_type: 'client_credentials', scope: 'reports:write' }
    const headers = { Authorization: basic(client.body.client_id, client.body.client_secret) }
    const tokens = await flow.submit('/token', grant, undefined, headers)
    expect([tokens.status, client.body.response_types]).toEqual([200, []])
    const asPublic = await register({ ...metadata, token_endpoint_auth_method: 'none' })
    expect(outcomeOf(asPublic)).toBe('400 invalid_client_metadata')
    expect(outcomeOf(await stage().register(metadata))).toBe('400 invalid_client_metadata')
  })

  test('a native app may use any port on a loopback address, and a scheme of its own', async () => {
    const staged = stage()
    const client = await staged.register({
      ...notesApp,
      redirect_uris: ['http://127.0.0.1/callback', 'com.example.notes:/callback'],
    })
    expect(client.status).toBe(201)
    const redirect_uri = 'http://127.0.0.1:49152/callback'
    expect((await staged.flow.ask({ ...ofClient(client), redirect_uri }, 'alice')).status).toBe(200)
  })

  // What Cursor sends: the scheme of its app, a page of its own, and a port of this device.
  const [ofApp, ofPage, onDevice] = [
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'https://www.cursor.com/agents/mcp/oauth/callback',
    'http://localhost:8787/callback',
  ] as const
  const strict = { redirectUris: 'https or loopback', clients: [] } as const
  const withUris = (...redirect_uris: readonly string[]) => ({ ...notesApp, redirect_uris })

  test('a redirection URI that the option does not allow is left out, and the answer says which ones are registered', async () => {
    const staged = stage({}, strict)
    const client = await staged.register(withUris(ofApp, ofPage, onDevice))
    expect([client.status, client.body.redirect_uris]).toEqual([201, [onDevice, ofPage]])
    const ask = async (redirect_uri: string) =>
      (await staged.flow.ask({ ...ofClient(client), redirect_uri }, 'alice')).status
    expect([await ask(ofApp), await ask(ofPage), await ask(onDevice)]).toEqual([400, 200, 200])
    const other = await staged.register(withUris(onDevice, 'vscode://callback', ofPage))
    expect(other.body.client_id).toBe(client.body.client_id)
  })

  test('a redirection URI that can never work is left out, too, and plain http on another host', async () => {
    const oob = 'urn:ietf:wg:oauth:2.0:oob'
    for (const options of [{}, strict]) {
      const { register } = stage({}, options)
      const never = ['https://notes.example/*', oob, 'http://192.168.0.7/callback']
      expect((await register(withUris(...never, ofPage))).body.redirect_uris).toEqual([ofPage])
      expect((await register(withUris(oob))).body.error).toBe('invalid_redirect_uri')
    }
  })

  test('an update follows the same rule', async () => {
    const staged = stage({}, strict)
    const client = await staged.register(notesService)
    const put = (...redirect_uris: readonly string[]) =>
      configure(staged, 'put', client, {
        metadata: { ...notesService, client_id: client.body.client_id, redirect_uris },
      })
    expect((await put(ofApp, ofPage)).body.redirect_uris).toEqual([ofPage])
    expect(outcomeOf(await put(ofApp))).toBe('400 invalid_redirect_uri')
    expect((await configure(staged, 'get', client)).body.redirect_uris).toEqual([ofPage])
  })

  test('a scheme that the host admits is registered, and the consent page warns of other apps', async () => {
    const staged = stage({}, { ...strict, redirectUris: { schemes: ['cursor'] } })
    const client = await staged.register(withUris(ofApp, ofPage, 'vscode://callback'))
    expect(client.body.redirect_uris).toEqual([ofApp, ofPage])
    const { text } = await staged.flow.ask({ ...ofClient(client), redirect_uri: ofApp }, 'alice')
    expect(text).toContain('an app on this device (cursor:)')
    expect(text).toContain('Another app could take its place')
  })
})

describeRegistration('A confidential client at its client configuration endpoint', (stage) => {
  test('gets a new secret in the last half of the old one, which stays valid to its end [registration-6]', async () => {
    const staged = stage()
    const client = await staged.register(notesService)
    await getTokens(staged, client)
    const metadata = { ...notesService, client_id: client.body.client_id }
    staged.clock.advance(45 * day)
    const updated = await configure(staged, 'put', client, { metadata })
    expect(updated.body.client_secret_expires_at).toBe(client.body.client_secret_expires_at + 45 * day)
    expect(updated.body.client_secret).toMatch(/^[\w-]{43}$/)
    for (const known of [client, updated]) expect((await getTokens(staged, known)).status).toBe(200)
    // The response with the new secret got lost: the client shows the old one.
    const shown = { ...metadata, client_secret: client.body.client_secret }
    const repeated = await configure(staged, 'put', client, { metadata: shown })
    expect(repeated.body.client_secret).not.toBe(updated.body.client_secret)
    expect((await getTokens(staged, repeated)).status).toBe(200)
    staged.clock.advance(45 * day)
    expect(outcomeOf(await getTokens(staged, client))).toBe('401 invalid_client')
    expect((await getTokens(staged, repeated)).status).toBe(200)
  })

  test('may show its old secret for a new one up to the end of the old one, and not from this second on', async () => {
    for (const [late, outcome] of [
      [-1, '200'],
      [0, '400 invalid_client_metadata'],
    ] as const) {
      const staged = stage({ lifetime: 200 * day })
      const client = await staged.register(notesService)
      await getTokens(staged, client)
      const metadata = { ...notesService, client_id: client.body.client_id }
      staged.clock.advance(45 * day)
      expect((await configure(staged, 'put', client, { metadata })).body).toHaveProperty('client_secret')
      const { client_secret, client_secret_expires_at } = client.body
      staged.clock.advance(client_secret_expires_at - Math.floor(staged.clock.read() / 1000) + late)
      const shown = await configure(staged, 'put', client, { metadata: { ...metadata, client_secret } })
      expect(shown.status === 200 ? '200' : outcomeOf(shown)).toBe(outcome)
    }
  })

  test('after it has deleted its registration, introspection and exchange know its access token no more [registration-13]', async () => {
    const asking = bent(nightlyReport, {
      may_introspect: true,
      grant_types: ['client_credentials', tokenExchangeName],
    })
    const grantTypes = [tokenExchange({ policy: anyOwner })]
    const staged = stage({}, { clients: [asking.registration], plugins: [...grantTypes] })
    const client = await staged.register(notesService)
    const { access_token } = (await getTokens(staged, client)).body
    const outcomes = async () => [
      (await staged.flow.introspect(asking, access_token)).body.active,
      outcomeOf(await staged.flow.request(asking, exchangeOf(access_token))),
      (await staged.flow.photos(access_token)).status,
    ]
    expect(await outcomes()).toEqual([true, 'tokens', 200])
    await configure(staged, 'delete', client)
    // Guards do not look clients up.
    expect(await outcomes()).toEqual([false, '400 invalid_request', 200])
  })

  test('with the option authorizations, guards refuse its access tokens after it has deleted its registration', async () => {
    const staged = stage({}, { authorizations: true })
    const [client, other] = [await staged.register(notesService), await staged.register(notesService)]
    const tokens = [(await getTokens(staged, client)).body, (await getTokens(staged, other)).body]
    const statuses = async () => {
      const answers = tokens.map(({ access_token }) => staged.flow.photos(access_token))
      return (await Promise.all(answers)).map(({ status }) => status)
    }
    expect(await statuses()).toEqual([200, 200])
    await configure(staged, 'delete', client)
    expect(await statuses()).toEqual([401, 200])
    // The mark lives as long as an access token could.
    staged.clock.advance(hour - 1)
    expect(await statuses()).toEqual([401, 200])
  })

  test('with the option authorizations, stays registered while its tokens cannot be ended, and may try again', async () => {
    let isFailing = false
    const { store, clock } = stage()
    const failing = but(store, {
      write: (key, ...words) =>
        isFailing && key.startsWith('revoked:')
          ? Promise.reject(new Error('no connection'))
          : store.write(key, ...words),
    })
    const staged = stage({}, { authorizations: true, store: failing, clock: clock.read })
    const client = await staged.register(notesService)
    const { access_token } = (await getTokens(staged, client)).body
    isFailing = true
    expect((await configure(staged, 'delete', client)).status).toBe(503)
    isFailing = false
    expect((await configure(staged, 'get', client)).status).toBe(200)
    expect((await configure(staged, 'delete', client)).status).toBe(204)
    expect((await staged.flow.photos(access_token)).status).toBe(401)
  })
})

describe('How long a client lives', () => {
  const stage = registeringOn(inMemory)

  test('an owner who decides in the last minute still gets the client its tokens', async () => {
    const staged = stage()
    const client = await staged.register(notesApp)
    staged.clock.advance(hour - 1)
    const page = await staged.flow.ask(ofClient(client), 'alice')
    staged.clock.advance(599)
    const code = codeOf(await staged.flow.decide(page, 'approve', 'alice'))
    expect((await redeem(staged, client, code)).status).toBe(200)
  })

  test('90 days after its last use, noted once a day', async () => {
    const staged = stage()
    const client = await staged.register(notesApp)
    const { client_id } = client.body
    const tokens = await getTokens(staged, client)
    staged.clock.advance(29 * day)
    const refreshed = await refresh(staged, client, tokens.body.refresh_token)
    expect(refreshed.status).toBe(200)
    staged.clock.advance(90 * day - 1)
    expect(await storedClient(staged, client_id)).toBeDefined()
    staged.clock.advance(1)
    expect(await storedClient(staged, client_id)).toBeUndefined()
    const again = await staged.register(notesApp)
    expect(again.body.client_id).toBe(client_id)
  })
})

describe('Who may register', () => {
  const stage = registeringOn(inMemory)

  test('not by a token beside a second Authorization header', async () => {
    const good = generateClientSecret()
    const { app } = stage({ initialAccessToken: good.client_secret_hash })
    const [right, wrong] = [`Bearer ${good.client_secret}`, 'Bearer wrong']
    const body = JSON.stringify(notesApp)
    const statusOf = async (...values: readonly string[]) => {
      const named = values.flatMap((value) => ['Authorization', value])
      const headers = ['Content-Type', 'application/json', ...named]
      return (await rawRequest(app, { method: 'POST', path: '/register', headers, body })).status
    }
    expect([await statusOf(right), await statusOf(right, wrong), await statusOf(wrong, right)]).toEqual([
      201, 401, 401,
    ])
  })

  test('by a function: only true allows', async () => {
    const verify = async (token: string) => {
      if (token === 'down') throw new OAuthError('temporarily_unavailable', 'down', 'Try again.')
      return JSON.parse(token)
    }
    const { register } = stage({ initialAccessToken: verify })
    const as = async (token: string) =>
      (await register(notesApp, { Authorization: `Bearer ${token}` })).status
    expect([await as('true'), await as('false'), await as('1'), await as('down')]).toEqual([
      201, 401, 401, 503,
    ])
  })

  test('a network that registers too often gets 429, a holder of a token does not', async () => {
    const networks = { registration: { attempts: 2 } }
    const open = stage({}, { limits: { networks } })
    const outcomes = await Promise.all([1, 2, 3].map(() => open.register(notesApp)))
    const refused = outcomes.filter(({ status }) => status !== 201)
    expect(refused.map(outcomeOf)).toEqual(['429 temporarily_unavailable'])
    const token = generateClientSecret()
    const closed = stage({ initialAccessToken: token.client_secret_hash }, { limits: { networks } })
    for (let round = 0; round < 5; round++) {
      const headers = { Authorization: `Bearer ${token.client_secret}` }
      expect((await closed.register(notesService, headers)).status).toBe(201)
    }
  })

  test.each([
    ['a network', 100, '192.0.2.1'],
    ['a /48 of IPv6', 1600, '2001:db8:0::/48'],
  ])('of %s are %i in ten minutes by default', async (_what, most, full) => {
    const seconds: number[] = []
    let hits = most - 1
    // As if all but one had come.
    const stores = () => ({
      init: ({ windowMs }: { windowMs: number }) => void seconds.push(windowMs / 1000),
      increment: async (key: string) => ({ totalHits: key === full ? ++hits : 1, resetTime: undefined }),
      decrement: async () => {},
      resetKey: async () => {},
    })
    const { register, app } = stage({}, { limits: { networks: { stores } } })
    app.set('trust proxy', 'loopback')
    const address = full.replace('::/48', '::1')
    const statuses: number[] = []
    for (let time = 0; time < 2; time++)
      statuses.push((await register(notesApp, { 'X-Forwarded-For': address })).status)
    expect([statuses, seconds.includes(600)]).toEqual([[201, 429], true])
  })

  test('failures of a client with a secret count for its network, which then refuses the client [store-34]', async () => {
    const { register, flow } = stage({}, { limits: { networks: { clients: { attempts: 3 } } } })
    const { client_id, client_secret } = (await register(notesService)).body
    const come = async () => {
      const form = { grant_type: 'refresh_token', refresh_token: 'none' }
      const headers = { Authorization: basic(client_id, client_secret) }
      return outcomeOf(await flow.submit('/token', form, undefined, headers))
    }
    for (let round = 0; round < 3; round++) expect(await come()).toBe('400 invalid_grant')
    for (let round = 0; round < 3; round++) expect(await come()).toBe('429 temporarily_unavailable')
    expect(
      (await flow.request(nightlyReport, { grant_type: 'client_credentials', scope: 'photos:read' })).status,
    ).toBe(200)
  })

  test('a page that loads its client configuration endpoint uses up nothing of a network [store-31]', async () => {
    const staged = stage({}, { limits: { networks: { clients: { attempts: 3 } } } })
    const client = await staged.register(notesService)
    const { pathname, search } = new URL(client.body.registration_client_uri)
    for (let round = 0; round < 6; round++)
      expect((await request(staged.app).get(`${pathname}${search}`)).status).toBe(401)
    const token = 'guess'
    for (let round = 0; round < 3; round++)
      expect((await configure(staged, 'get', client, { token })).status).toBe(401)
    expect((await configure(staged, 'get', client, { token })).status).toBe(429)
  })

  test('an update counts as a registration of its network, reading and deleting do not', async () => {
    const staged = stage({}, { limits: { networks: { registration: { attempts: 2, seconds: 60 } } } })
    const client = await staged.register(notesService)
    const metadata = { ...notesService, client_id: client.body.client_id }
    expect((await configure(staged, 'put', client, { metadata })).status).toBe(200)
    const refused = await configure(staged, 'put', client, { metadata })
    expect([refused.status, refused.get('Retry-After')]).toEqual([429, expect.any(String)])
    expect((await configure(staged, 'get', client)).status).toBe(200)
    expect((await configure(staged, 'delete', client)).status).toBe(204)
  })
})

describe('What the host sees', () => {
  const stage = registeringOn(inMemory)

  test('a link to this server leads to no site of such a client before the owner has agreed [registration-11]', async () => {
    const staged = stage()
    const client = await staged.register(notesApp)
    const refused = await staged.flow.ask({ ...ofClient(client), scope: 'unknown' }, 'alice')
    expect(refused.headers).not.toHaveProperty('location')
    expect(refused.text).toContain('an app that nobody here has checked')
    const page = await staged.flow.ask(ofClient(client), 'alice')
    expect((await staged.flow.decide(page, 'deny', 'alice')).get('Location')).toMatch(/error=access_denied/)
  })

  test('scripts of other origins may register, and manage what they have registered', async () => {
    const staged = stage()
    const client = await staged.register(notesService, { Origin: 'https://app.example' })
    expect(client.get('Access-Control-Allow-Origin')).toBe('*')
    for (const [path, methods] of [
      ['/register', 'POST'],
      ['/register/client', 'GET, HEAD, PUT, DELETE'],
    ] as const) {
      const preflight = await request(staged.app)
        .options(path)
        .set({ Origin: 'https://app.example', 'Access-Control-Request-Method': 'POST' })
      expect([preflight.status, preflight.get('Access-Control-Allow-Methods')]).toEqual([204, methods])
    }
  })

  test('a client whose scopes the server has lost keeps what is left; one that has none left has ended', async () => {
    const before = stage()
    const both = await before.register({ ...notesApp, scope: 'photos:read photos:print' })
    const gone = await before.register({ ...notesApp, scope: 'reports:write' })
    const after = stage(
      {},
      { store: before.store, scopes: { 'photos:read': 'See your photos' }, clients: [] },
    )
    expect((await after.flow.ask(ofClient(both), 'alice')).status).toBe(200)
    expect((await after.flow.ask(ofClient(gone), 'alice')).status).toBe(400)
    expect(faultsIn(after.failures)).toEqual([])
  })

  test('a confidential client that the host moves to its own clients keeps its tokens, and a secret without an end', async () => {
    const staged = stage()
    const client = await staged.register(notesService)
    const { access_token, refresh_token } = (await getTokens(staged, client)).body
    const { registration } = await storedClient(staged, client.body.client_id)
    const { store, clock } = staged
    const after = stage({}, { clients: [registration], store, clock: clock.read })
    expect((await after.flow.photos(access_token)).status).toBe(200)
    expect((await refresh(after, client, refresh_token)).status).toBe(200)
    expect(outcomeOf(await configure(after, 'delete', client))).toBe('401 invalid_token')
    clock.advance(91 * day)
    expect((await getTokens(after, client)).status).toBe(200)
    expect(outcomeOf(await configure(after, 'get', client))).toBe('401 invalid_token')
  })

  test('a client that the host disables while it changes itself stays disabled', async () => {
    const base = memoryStore()
    const host = stage({}, { store: base })
    let isChanging = false
    // The host is faster than the write of the client.
    const store = but(base, {
      async write(key, ...words) {
        if (isChanging && key.startsWith('client:')) {
          isChanging = false
          await host.oauth.disableClient(key.slice('client:'.length))
        }
        return base.write(key, ...words)
      },
    })
    const staged = stage({}, { store })
    const client = await staged.register(notesService)
    const metadata = { ...notesService, client_id: client.body.client_id }
    isChanging = true
    expect(outcomeOf(await configure(staged, 'put', client, { metadata }))).toBe('401 invalid_token')
    expect(await storedClient(host, client.body.client_id)).toMatchObject({
      registration: { disabled: true },
    })
    expect((await staged.flow.ask(ofClient(client), 'alice')).status).toBe(400)
  })

  test('the store failing: temporarily unavailable, for the registration and for the look-up', async () => {
    const failing = async () => Promise.reject(new Error('down'))
    const staged = stage({}, { store: but(memoryStore(), { read: failing, write: failing }) })
    expect(outcomeOf(await staged.register(notesApp))).toBe('503 temporarily_unavailable')
    const body = { client_id: `dynamic_${'A'.repeat(43)}`, grant_type: 'authorization_code', code: 'x' }
    expect(outcomeOf(await staged.flow.submit('/token', body))).toBe('400 temporarily_unavailable')
  })
})

describe('A client with keys of its own', () => {
  // Stands for a method with assertions: a request with the kid of a registered key is of the client.
  const byKid: ClientAuthenticationMethod = {
    name: 'private_key_jwt',
    credentialParameters: ['kid'],
    signingAlgorithms: ['ES256'],
    mistakeIn: (credential) => (JSON.stringify(credential).includes('"d":') ? 'must be public.' : undefined),
    read({ body }) {
      const [clientId, kid] = [body.get('client_id'), body.get('kid')]
      return clientId === undefined || kid === undefined ? undefined : { clientId, credential: kid }
    },
    verify: async (client, kid) => JSON.stringify(client?.credentials ?? {}).includes(`"${kid}"`),
  }
  const stage = (bend: Partial<AuthorizationServerOptions> = {}) =>
    registeringOn(inMemory)(
      { grantTypes: ['client_credentials'] },
      {
        ...bend,
        plugins: withPlugins([{ name: 'host-methods', clientAuthenticationMethods: [byKid] }], bend.plugins),
      },
    )
  const machine = {
    token_endpoint_auth_method: 'private_key_jwt',
    grant_types: ['client_credentials'],
    scope: 'reports:write',
    jwks: { keys: [{ kty: 'EC', kid: 'first' }] },
  }
  const grant = ({ flow }: RegisteringStage, client_id: string, kid: string) =>
    flow.submit('/token', { grant_type: 'client_credentials', scope: 'reports:write', client_id, kid })

  test('registers them by value or by URI, without a secret', async () => {
    const staged = stage()
    const client = await staged.register(machine)
    expect(client.status).toBe(201)
    expect(client.body).toMatchObject(machine)
    expect(client.body).not.toHaveProperty('client_secret')
    expect(client.body).not.toHaveProperty('client_secret_expires_at')
    expect((await grant(staged, client.body.client_id, 'first')).status).toBe(200)
    expect(outcomeOf(await grant(staged, client.body.client_id, 'second'))).toBe('401 invalid_client')
    const { jwks: _jwks, ...others } = machine
    const byUri = await staged.register({ ...others, jwks_uri: 'https://machine.example/keys' })
    expect(byUri.body).toMatchObject({ ...others, jwks_uri: 'https://machine.example/keys' })
  })

  test('replaces its keys, and may change to a secret and back', async () => {
    const staged = stage()
    const client = await staged.register(machine)
    const { client_id } = client.body
    const rotated = { ...machine, client_id, jwks: { keys: [{ kty: 'EC', kid: 'second' }] } }
    expect((await configure(staged, 'put', client, { metadata: rotated })).body).toMatchObject(rotated)
    expect(outcomeOf(await grant(staged, client_id, 'first'))).toBe('401 invalid_client')
    expect((await grant(staged, client_id, 'second')).status).toBe(200)
    const bySecret = { ...machine, client_id, token_endpoint_auth_method: 'client_secret_post' }
    const changed = await configure(staged, 'put', client, { metadata: bySecret })
    expect(changed.body).toMatchObject({ client_secret: expect.any(String) })
    expect(changed.body).not.toHaveProperty('jwks')
    expect(outcomeOf(await grant(staged, client_id, 'second'))).toContain('invalid_')
    const back = await configure(staged, 'put', client, { metadata: rotated })
    expect(back.body).not.toHaveProperty('client_secret_expires_at')
    expect((await grant(staged, client_id, 'second')).status).toBe(200)
  })

  test('is refused for keys that are missing, twofold, private or without TLS', async () => {
    const { register } = stage()
    for (const [member, bend] of [
      ['jwks', { jwks: undefined }],
      ['jwks', { jwks_uri: 'https://machine.example/keys' }],
      ['jwks', { jwks: { keys: [{ kid: 'x', d: 'private' }] } }],
      ['jwks_uri', { jwks: undefined, jwks_uri: 'http://machine.example/keys' }],
      ['jwks_uri', { jwks: undefined, jwks_uri: 'https:keys' }],
    ] as const) {
      const refused = await register({ ...machine, ...bend })
      expect([member, outcomeOf(refused)]).toEqual([member, '400 invalid_client_metadata'])
      expect(refused.body.error_description).toMatch(new RegExp(`${member}(?!.*machine)`))
    }
  })

  // A stack overflow would look like a fault of the server, and ring its alarm.
  test.each([33, 30_000])(
    'is refused for a member with %i levels, known or not, without a fault [registration-9]',
    async (levels) => {
      const { register, failures } = stage()
      const nested = '['.repeat(levels) + ']'.repeat(levels)
      const { jwks: _jwks, ...others } = machine
      const known = JSON.stringify({ ...others, jwks: 0 }).replace('"jwks":0', `"jwks":${nested}`)
      for (const body of [known, `{"x":${nested},${JSON.stringify(machine).slice(1)}`])
        expect(outcomeOf(await register(body))).toBe('400 invalid_request')
      expect(faultsIn(failures)).toEqual([])
    },
  )
})
