import { randomBytes } from 'node:crypto'
import express, { type RequestHandler } from 'express'
import request, { type Response } from 'supertest'
import { type AuthorizationServerOptions, createAuthorizationServer, memoryStore } from '../../lib/index'
import { deviceAuthorization } from '../../lib/paths/devices'
import { createBearerGuard } from '../../lib/paths/guards'
import { jwtAccessTokens, signingKeys } from '../../lib/paths/jwt'
import { redisStore } from '../../lib/paths/redis'
import { canonicalOptions, type Mount, mountAll } from '../support/flows/application'
import { photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, Flow, type RepeatedFields } from '../support/flows/flow'
import { mistakesIn } from '../support/mistakes-of'
import { waitUntil } from '../support/wait-until'

/** The warnings of this file, as `CODE text`, in order. */
const warned: string[] = []
const codesOf = (text: string) => warned.filter((warning) => warning.includes(text))

const usual = process.env['NODE_ENV']
beforeEach(() => {
  process.env['NODE_ENV'] = 'development'
  warned.length = 0
  jest.spyOn(process, 'emitWarning').mockImplementation((message, options) => {
    const code = typeof options === 'object' && options !== null && 'code' in options ? options.code : ''
    warned.push(`${String(code)} ${String(message)}`)
  })
})
afterEach(() => {
  process.env['NODE_ENV'] = usual
  jest.restoreAllMocks()
})

type Options = Partial<AuthorizationServerOptions>

function serve(options: Options = {}, mount = mountAll) {
  const oauth = createAuthorizationServer({ ...canonicalOptions, ...options })
  const app = express()
  mount(app, oauth)
  return { app, oauth, flow: new Flow(app) }
}

const routerAlone: Mount = (app, oauth) => app.use(oauth.router())

const asked = authorizationRequest(photoBook)

describe('a common mistake ends in a sentence with its cause and its cure', () => {
  test('1. the issuer of a guard is wrong: 127.0.0.1 for localhost', async () => {
    const store = memoryStore()
    const { flow } = serve({ store })
    const { accessToken } = await flow.tokens(photoBook)
    const guard = createBearerGuard({ issuer: 'http://127.0.0.1', store })
    const app = express().get('/photos', guard('photos:read'))
    expect((await new Flow(app).photos(accessToken)).status).toBe(401)
    await waitUntil('EAS_REFUSED is given', async () => codesOf('EAS_REFUSED').length > 0)
    const [warning = ''] = codesOf('EAS_REFUSED')
    expect(warning).toMatch(/invalid_token, token_invalid\. .*Give the guard exactly the issuer/)
    expect(warning).toContain('They differ only in the host')
    expect(warning).not.toContain(accessToken)
  })

  test.each<[string, boolean, string]>([
    ['missing', false, 'Mount the session middleware before oauth.router()'],
    ['behind the router', true, 'Mount the session middleware before oauth.router()'],
  ])('3. the session is %s: login_loop', async (_where, behind, cure) => {
    const session: RequestHandler = (req, _res, next) => next(void Object.assign(req, { session: {} }))
    const { app } = serve({ resourceOwner: () => undefined }, (host, oauth) => {
      host.use(oauth.router())
      if (behind) host.use(session)
    })
    const { status, text } = await request(app)
      .get('/authorize')
      .query({ ...asked, login_returns: '3.zzz' })
    expect(status).toBe(303)
    expect(text).toBe('')
    const now = Math.floor(Date.now() / 1000).toString(36)
    const page = await request(app)
      .get('/authorize')
      .query({ ...asked, login_returns: `3.${now}` })
    expect(page.status).toBe(400)
    expect(page.text).toContain('mount the session middleware before oauth.router()')
    expect(codesOf(cure)).toEqual([expect.stringMatching(/^EAS_REFUSED .*login_loop/)])
  })

  describe('3. resourceOwner reads a session, and the session middleware is missing', () => {
    const inSession = (req: object) => {
      const session: { readonly owner: string } = Reflect.get(req, 'session')
      return session.owner
    }

    test('EAS_FAILURE names the middleware', async () => {
      const { flow } = serve({ resourceOwner: inSession })
      expect((await flow.ask(asked)).get('Location')).toMatch(/error=server_error/)
      const [warning = '', ...more] = codesOf("reading 'owner'")
      expect(more).toEqual([])
      expect(warning).toMatch(
        /^EAS_FAILURE unexpected: .*reading 'owner'.*The request has no session.*mount the session middleware before oauth\.router\(\)/,
      )
    })

    test.each<[string, unknown, object | undefined]>([
      ['another error', new Error('database'), undefined],
      ['the same error with a session', new TypeError('Cannot read properties of undefined'), {}],
    ])('%s stays as the host threw it', async (_what, thrown, session) => {
      const causes: unknown[] = []
      const throws = () => {
        throw thrown
      }
      const { flow } = serve({ resourceOwner: throws }, (host, oauth) => {
        if (session !== undefined) host.use((req, _res, next) => next(void Object.assign(req, { session })))
        host.use(oauth.router())
        oauth.events.on('failure', ({ cause }) => causes.push(cause))
      })
      await flow.ask(asked)
      expect(causes).toEqual([thrown])
      expect(causes[0]).toBe(thrown)
    })
  })

  test('4. the proxy is not trusted: EAS_TLS_REQUIRED', async () => {
    const { app } = serve({ issuer: 'https://auth.example.com' })
    await request(app).get('/authorize').set('X-Forwarded-Proto', 'https').query(asked).expect(400)
    expect(codesOf('Express does not trust that proxy')).toEqual([
      expect.stringMatching(/^EAS_TLS_REQUIRED /),
    ])
    expect(warned).toHaveLength(1)
  })

  test('8. mounted twice, once at another path than the issuer: EAS_MOUNT_PATH', async () => {
    const { app } = serve({}, (host, oauth) => host.use('/auth', oauth.router()).use(oauth.router()))
    await request(app).get('/auth/authorize').query(asked)
    expect(codesOf('oauth.router() is mounted at "/auth"')).toEqual([
      expect.stringMatching(/^EAS_MOUNT_PATH /),
    ])
  })

  const oneScope = { scope: 'photos:read' }
  const resources = { 'https://api.example/': { scopes: ['photos:read'] } }
  const twoResources = { ...resources, 'https://api.example/notes': { scopes: ['photos:print'] } }

  test.each<[string, Options, (flow: Flow) => Promise<unknown>, string, RegExp]>([
    [
      '5. the redirection URI has a slash more',
      {},
      (flow) => flow.ask({ ...asked, redirect_uri: 'https://book.example/callback/' }, 'alice'),
      'They differ only in the slash at the end.',
      /redirect_uri_mismatch.*sent: ".*callback\/"; registered: ".*callback"/,
    ],
    [
      '9. a scope is misspelt in a request',
      {},
      (flow) => flow.ask({ ...asked, scope: 'photo:read' }, 'alice'),
      'scope of the request: "photo:read"; scope of the client: "photos:read"',
      /scope_not_allowed/,
    ],
    [
      '9. a refresh asks for more than was granted',
      {},
      async (flow) =>
        flow.refresh(photoBook, (await flow.tokens(photoBook, oneScope)).refreshToken, {
          scope: 'photos:read photos:print',
        }),
      'scope of the request: "photos:read", "photos:print"',
      /scope_exceeded/,
    ],
    [
      '9. a scope is one of another resource',
      { resources: twoResources, defaultResource: 'https://api.example/notes' },
      (flow) => flow.ask({ ...asked, scope: 'photos:print photos:read' }, 'alice'),
      'scope of the resource: "photos:print"',
      /scope_of_another_resource/,
    ],
    [
      '9. a token has too little scope for a guard',
      {},
      async (flow) => flow.photos((await flow.tokens(photoBook, { scope: 'photos:print' })).accessToken),
      'scope of the guard: "photos:read"; scope of the token: "photos:print"',
      /insufficient_scope, token_scope_insufficient/,
    ],
    [
      'a resource was not approved',
      { resources: twoResources },
      async (flow) => {
        const bend = { resource: 'https://api.example/', ...oneScope }
        const code = await flow.approve(photoBook, bend)
        return flow.redeem(photoBook, code, { resource: 'https://api.example/notes' })
      },
      'sent: "https://api.example/notes"; approved: "https://api.example/"',
      /invalid_target, resource_not_approved/,
    ],
    [
      '13. the verifier is wrong',
      {},
      async (flow) =>
        flow.redeem(photoBook, await flow.approve(photoBook), { code_verifier: 'w'.repeat(43) }),
      'Keep the code_verifier in the session',
      /pkce_verifier_wrong(?!.*www)/,
    ],
    [
      'a public client sends a secret',
      {},
      (flow) => flow.request(photoBook, { grant_type: 'refresh_token', client_secret: 'x' }),
      'A public client sends client_id in the form, and no secret',
      /client_not_authenticated/,
    ],
    [
      'a native app chooses its port',
      {},
      (flow) => flow.ask({ ...asked, redirect_uri: 'http://127.0.0.1:5173/callback' }, 'alice'),
      'loopback_redirect_uris takes any port',
      /redirect_uri_mismatch/,
    ],
    [
      'the plug-in of a grant type is off, or its name is misspelt',
      {},
      (flow) => flow.request(photoBook, { grant_type: 'device_code' }),
      'Read: sent: "device_code"; known: "authorization_code", "refresh_token", "client_credentials".',
      /unsupported_grant_type, grant_type_unknown.*Correct the grant_type, or add it to plugins/,
    ],
    [
      'the registration lacks the grant type',
      {},
      (flow) => flow.request(photoPrint, { grant_type: 'client_credentials' }),
      'Read: sent: "client_credentials".',
      /grant_type_not_registered.*Add this grant type to grant_types of the client/,
    ],
    [
      'the plug-in of pushed requests is off',
      {},
      (flow) => flow.ask({ client_id: 'photo-book', request_uri: 'urn:x' }, 'alice'),
      'pushedAuthorizationRequests() for request_uri, to the option plugins',
      /invalid_request, parameter_missing/,
    ],
    [
      'two processes have two secrets of deviceAuthorization()',
      { plugins: [deviceAuthorization()] },
      async (flow) => {
        const other = serve({ plugins: [deviceAuthorization()] })
        const { body } = await other.flow.open('/device', 'alice', { Accept: 'application/json' })
        return flow.submit('/device', { ...body.fields, user_code: 'BCDF-GHJK' }, 'alice')
      },
      'let all processes have one secret of deviceAuthorization()',
      /form_cross_site/,
    ],
    [
      'a parameter is missing',
      {},
      (flow) => flow.ask({}, 'alice'),
      'parameter: "client_id".',
      /parameter_missing/,
    ],
    [
      'a parameter comes twice',
      {},
      (flow) => flow.request(photoBook, { grant_type: ['refresh_token', 'refresh_token'] }),
      'parameter: "grant_type".',
      /parameter_malformed/,
    ],
    [
      'a consent page of the host leaves out its fields',
      {},
      (flow) => flow.submit('/authorize', { decision: 'approve' }, 'alice'),
      'post every field of view.fields',
      /./,
    ],
  ])('%s: EAS_REFUSED', async (_what, options, act, cure, reason) => {
    await act(serve(options, 'resources' in options ? routerAlone : mountAll).flow)
    expect(codesOf(cure)).toEqual([expect.stringMatching(new RegExp(`^EAS_REFUSED .*${reason.source}`))])
  })

  test.each<[string, string, readonly string[]]>([
    ['missing', '/login', ['/login']],
    ['there', '/login?tab=1', []],
  ])('the page of the login is %s: login_page_missing', async (_what, login, missing) => {
    const { app, flow } = serve({ login })
    if (missing.length === 0) app.get('/login', (_request, response) => void response.send('Log in'))
    await flow.open('/login')
    expect(codesOf('login_page_missing')).toEqual([])
    await flow.open(String((await flow.ask(asked)).get('Location')))
    expect(codesOf('login_page_missing')).toEqual(
      missing.map((path) =>
        expect.stringMatching(
          new RegExp(`^EAS_REFUSED .*Read: path: "${path}".*the host has no page there.*Add the page`),
        ),
      ),
    )
  })

  test.each<[string, object, string, RegExp]>([
    [
      '14. is behind',
      { clock: () => Date.now() - 300_000 },
      'Set the clocks by NTP',
      /until its beginning: (?:29|30)\d\. /,
    ],
    [
      '14. is ahead',
      { clock: () => Date.now() + 3_900_000 },
      'set the clocks by NTP',
      /since its end: (?:29|30)\d\. /,
    ],
    [
      '1. has another issuer',
      { issuer: 'http://localhost/' },
      'differ only in the slash',
      /sent: "http:\/\/localhost"; expected: "http:\/\/localhost\/"/,
    ],
  ])('a guard for JWTs %s', async (_what, bend, cure, read) => {
    const keys = signingKeys({ secrets: [randomBytes(32).toString('base64')] })
    const { flow, app: server } = serve(
      { resources, plugins: [keys, jwtAccessTokens({ keys })] },
      routerAlone,
    )
    const { body: jwks } = await request(server).get('/.well-known/jwks.json')
    const { body } = await flow.redeem(photoBook, await flow.approve(photoBook, oneScope))
    const guard = createBearerGuard({ issuer: canonicalOptions.issuer, resources, jwt: { jwks }, ...bend })
    await new Flow(express().get('/photos', guard('photos:read'))).photos(body.access_token)
    expect(codesOf(cure)).toEqual([expect.stringMatching(read)])
  })

  test('11. Redis is down: EAS_STORE_UNREACHABLE with the error of the connection', async () => {
    // Nothing listens at port 1.
    const { oauth } = serve({ store: redisStore({ url: 'redis://127.0.0.1:1' }) })
    await waitUntil('EAS_STORE_UNREACHABLE is given', async () => codesOf('EAS_STORE_UNREACHABLE').length > 0)
    expect(codesOf('ECONNREFUSED').join()).toMatch(/^EAS_STORE_UNREACHABLE Redis at 127\.0\.0\.1:1/)
    await oauth.close()
  })

  test('14. the clock of a guard is off: token_invalid names the seconds', async () => {
    const store = memoryStore()
    const { accessToken } = await serve({ store }).flow.tokens(photoBook)
    const clock = () => Date.now() + 7_200_000
    const guard = createBearerGuard({ issuer: canonicalOptions.issuer, store, clock })
    await new Flow(express().get('/photos', guard('photos:read'))).photos(accessToken)
    await waitUntil('EAS_REFUSED is given', async () => codesOf('EAS_REFUSED').length > 0)
    expect(codesOf('compare the clocks')).toEqual([
      expect.stringMatching(/token_invalid\. Read: seconds since its end: 3[56]\d\d\. /),
    ])
  })

  test('14. the clock returns seconds: the option clock, of a server and of its guards', () => {
    const clock = () => Math.floor(Date.now() / 1000)
    const mistakes = ['clock must return milliseconds since the epoch, as Date.now does; it returns seconds.']
    const { issuer } = canonicalOptions
    const jwt = { audience: 'https://api.example', jwks_uri: 'https://api.example/keys' }
    expect(mistakesIn(() => serve({ clock }))).toEqual(mistakes)
    expect(mistakesIn(() => createBearerGuard({ issuer, store: memoryStore(), clock }))).toEqual(mistakes)
    expect(mistakesIn(() => createBearerGuard({ issuer, jwt, clock }))).toEqual(mistakes)
  })

  test.each([0, 1_000_000_000, Date.parse('2100-01-01')])(
    'a clock of tests that stands at %d milliseconds is no mistake',
    (milliseconds) => {
      expect(mistakesIn(() => serve({ clock: () => milliseconds }))).toEqual([])
    },
  )

  test('nor is a clock that follows Date.now where tests set it', () => {
    jest.spyOn(Date, 'now').mockReturnValue(60_000)
    expect(mistakesIn(() => serve({ clock: () => Date.now() }))).toEqual([])
  })

  test.each([
    ['and the store has it still', 0, 'lifetimes.authorizationCode', /code_expired/],
    [
      'and the store has deleted it',
      61_000,
      'The code has expired (lifetimes.authorizationCode',
      /code_unknown/,
    ],
  ])('12. the code has expired, %s', async (_store, late, cure, reason) => {
    let now = Date.now()
    const start = now
    const store = memoryStore({ clock: () => start + (now > start ? late : 0) })
    const { flow } = serve({ clock: () => now, store })
    const code = await flow.approve(photoBook)
    now += 61_000
    expect((await flow.redeem(photoBook, code)).body).toMatchObject({ error: 'invalid_grant' })
    expect(codesOf(cure)).toEqual([expect.stringMatching(reason)])
    expect(warned.join()).not.toContain(code)
  })

  test('15. a script of another origin calls: origin_not_allowed', async () => {
    const { app } = serve({ cors: { origins: ['https://app.example'] } })
    await request(app).post('/token').set('Origin', 'http://localhost:5173').type('form').send({})
    expect(codesOf('origin: "http://localhost:5173"')).toEqual([
      expect.stringMatching(/^EAS_REFUSED .*origin_not_allowed.*option cors/),
    ])
  })
})

describe('15. a script of another origin calls a guard', () => {
  const app = 'http://localhost:5173'
  const called = async (cors: boolean, headers: Readonly<Record<string, string>>) => {
    const { app: host } = serve({}, (mounted, oauth) =>
      mounted.use('/photos', oauth.bearerGuard('photos:read', { cors })),
    )
    await request(host)
      .options('/photos')
      .set({ 'Access-Control-Request-Method': 'GET', ...headers })
    return codesOf('origin_not_allowed')
  }

  test('origin_not_allowed names the option cors of the guard', async () => {
    const own = await called(false, { Origin: app })
    expect(own).toEqual([
      expect.stringMatching(
        /^EAS_REFUSED .*protected resource.*origin: "http:\/\/localhost:5173".*Admit it by the option cors, as in bearerGuard\('photos:read', \{ cors/,
      ),
    ])
  })

  test.each<[string, boolean, Readonly<Record<string, string>>]>([
    ['the guard has the option', true, { Origin: app }],
    ['the script is of the host of the API', false, { Origin: 'http://api.example', Host: 'api.example' }],
    ['no script calls', false, {}],
  ])('nothing is said if %s', async (_when, cors, headers) => {
    expect(await called(cors, headers)).toEqual([])
  })
})

describe('an explanation of a refusal', () => {
  const refuse = async (options: Options = {}) => {
    const { flow } = serve(options)
    await flow.ask({ ...asked, redirect_uri: 'https://other.example' }, 'alice')
    await flow.ask({ ...asked, redirect_uri: 'https://other.example' }, 'alice')
    return codesOf('EAS_REFUSED')
  }

  test('says that a token of a revoked client is not in the store, and not that it has expired', async () => {
    const { flow, oauth } = serve({ authorizations: true })
    const { accessToken } = await flow.tokens(photoBook)
    await oauth.authorizations.revokeClient('photo-book')
    await flow.photos(accessToken)
    await waitUntil('EAS_REFUSED is given', async () => codesOf('EAS_REFUSED').length > 0)
    expect(codesOf('EAS_REFUSED')).toEqual([expect.stringContaining('issuer of this guard')])
  })

  test('comes once for each cause and server', async () => {
    expect(await refuse()).toHaveLength(1)
    expect(await refuse()).toHaveLength(2)
  })

  test('never comes in production, in tests, or with explainRefusals: false', async () => {
    expect(await refuse({ explainRefusals: false })).toEqual([])
    process.env['NODE_ENV'] = 'test'
    expect(await refuse({ explainRefusals: true })).toEqual([])
    process.env['NODE_ENV'] = 'production'
    expect(await refuse({ explainRefusals: true, store: memoryStore({ allowInProduction: true }) })).toEqual(
      [],
    )
  })

  test('holds no control characters and only the beginning of an unknown client_id', async () => {
    const { flow } = serve()
    await flow.ask({ ...asked, client_id: 'misplaced-secret' }, 'alice')
    await flow.ask({ ...asked, redirect_uri: 'https://a.example/\u001B[31m\n' }, 'alice')
    expect(codesOf('EAS_REFUSED')).toHaveLength(2)
    expect(warned.join()).toContain('"misp… (16 characters)"')
    expect(warned.join()).not.toMatch(/misplaced|\p{Cc}/u)
  })

  test.each([
    ['and the store has deleted it', 601_000, /authorization_request_not_open.*expired.*answered.*clocks/],
    ['and the store has it still', 0, /authorization_request_expired.*clocks/],
  ])('names expiry and clock for a consent page that is too old, %s', async (_store, late, sentence) => {
    let now = Date.now()
    const start = now
    const store = memoryStore({ clock: () => start + (now > start ? late : 0) })
    const { flow } = serve({ clock: () => now, store })
    const page = await flow.ask(asked, 'alice')
    now += 601_000
    expect((await flow.decide(page, 'approve', 'alice')).status).toBe(400)
    expect(codesOf('lifetimes.authorizationRequest')).toEqual([expect.stringMatching(sentence)])
  })
})

describe('a refusal says what is wrong', () => {
  const notes = 'https://api.example/notes'
  const photos = 'https://api.example/photos'
  const resources = { [notes]: { scopes: ['photos:print'] }, [photos]: { scopes: ['photos:read'] } }
  const withResources = (options: Options = {}) => serve({ resources, ...options }, routerAlone)
  const describedIn = ({ headers, body }: Response): string =>
    String(
      headers['location'] === undefined
        ? body.error_description
        : new URL(headers['location']).searchParams.get('error_description'),
    )

  test('a refresh without client_id names the parameter', async () => {
    const { flow } = serve()
    const { refreshToken } = await flow.tokens(photoBook)
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken }
    const { status, body } = await flow.submit('/token', form)
    expect([status, body]).toEqual([
      401,
      {
        error: 'invalid_client',
        error_description: 'The request names no client: the parameter client_id is missing.',
      },
    ])
  })

  test.each<[string, RepeatedFields, RegExp]>([
    [
      'the first scope that is not allowed',
      { scope: 'photos:read photos:Print' },
      /^The scope photos:Print /,
    ],
    ['a scope with a comma, which is one', { scope: 'photos:read,photos:print' }, /^The scope photos:read,/],
    ['no scope that is malformed', { scope: 'photos:read "photos:print"' }, /^The scope is malformed\.$/],
  ])('invalid_scope names %s', async (_what, bend, text) => {
    const { flow } = serve()
    expect(describedIn(await flow.ask({ ...asked, ...bend }, 'alice'))).toMatch(text)
    expect(codesOf('scope of the request: "').join()).toMatch(/^EAS_REFUSED .*scope_/)
  })

  test.each<[string, RepeatedFields, string]>([
    [
      'unknown',
      { resource: `${photos}/` },
      `sent: "${photos}/"; known: "${notes}", "${photos}". They differ`,
    ],
    ['malformed', { resource: 'photos' }, `sent: "photos"; known: "${notes}", "${photos}".`],
    ['missing', {}, `known: "${notes}", "${photos}".`],
  ])('invalid_target shows what was sent and what is known: %s', async (what, bend, read) => {
    const { flow } = withResources()
    const response = await flow.ask({ ...asked, scope: 'photos:read', ...bend }, 'alice')
    expect(describedIn(response)).not.toContain('photos')
    expect(codesOf(`invalid_target, resource_${what}. Read: ${read}`)).toHaveLength(1)
  })

  test('a token for another resource shows both resources, at each kind of guard', async () => {
    const keys = signingKeys({ secrets: [randomBytes(32).toString('base64')] })
    const { flow, oauth, app: server } = withResources({ plugins: [keys, jwtAccessTokens({ keys })] })
    const code = await flow.approve(photoBook, { resource: photos, scope: 'photos:read' })
    const { body: tokens } = await flow.redeem(photoBook, code)
    const jwks = (await request(server).get('/.well-known/jwks.json')).body
    const { issuer } = canonicalOptions
    const guards = [
      oauth.bearerGuard('', { resource: notes }),
      createBearerGuard({ issuer, jwt: { audience: notes, jwks } })(''),
      createBearerGuard({ issuer, resources: { [notes]: resources[notes] }, jwt: { jwks } })(''),
    ]
    for (const [index, guard] of guards.entries()) {
      expect((await new Flow(express().get('/photos', guard)).photos(tokens.access_token)).status).toBe(401)
      const shown = `Read: sent: "${photos}"; expected: "${notes}". They differ only in the path`
      expect(codesOf(`token_resource. ${shown}`)).toHaveLength(index + 1)
    }
  })
})
