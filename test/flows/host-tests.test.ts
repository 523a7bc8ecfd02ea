import express, { type Express } from 'express'
import request from 'supertest'
import {
  createAuthorizationServer,
  generateClientSecret,
  memoryStore,
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type RefusalEvent,
} from 'express-authorization-server'
import { approve, expectRefused, mintToken, testClock } from 'express-authorization-server/testing'

const redirectUri = 'http://127.0.0.1:4000/callback'
const { client_secret, client_secret_hash } = generateClientSecret()
const album = {
  client_id: 'album',
  client_type: 'public',
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  scope: 'photos:read photos:write',
} as const
const desk = {
  ...album,
  client_id: 'desk',
  client_type: 'confidential',
  client_secret_hashes: [client_secret_hash],
  may_introspect: true,
} as const

interface Host {
  readonly app: Express
  readonly oauth: AuthorizationServer
}

/** The application of a host, with a login that is a cookie. */
function host(options: Partial<AuthorizationServerOptions> = {}): Host {
  const oauth = createAuthorizationServer({
    issuer: 'http://localhost',
    scopes: { 'photos:read': 'See your photos', 'photos:write': 'Add photos' },
    clients: [album, desk, { ...album, client_id: 'old', disabled: true }],
    resourceOwner: ({ headers }) => /owner=(\w+)/.exec(headers.cookie ?? '')?.[1],
    store: memoryStore(),
    ...options,
  })
  const app = express()
  app.post('/login', (_request, response) => void response.cookie('owner', 'ada').sendStatus(204))
  app.use(oauth.router())
  app.get('/photos', oauth.bearerGuard('photos:read'), ({ oauth: access }, response) => {
    response.json({ of: access?.subject, by: access?.clientId })
  })
  app.get('/open', (_request, response) => void response.sendStatus(404))
  return { app, oauth }
}

const photos = (app: Express, token: string) => request(app).get('/photos').auth(token, { type: 'bearer' })
const form = (app: Express, path: string, fields: object) =>
  request(app).post(path).auth('desk', client_secret).type('form').send(fields)

describe('mintToken', () => {
  test('issues a token that the guard takes, introspection knows and revocation ends', async () => {
    const { app, oauth } = host()
    const minted = await mintToken(oauth, { subject: 'ada', clientId: 'desk', scope: 'photos:read' })
    expect(minted).toEqual({
      access_token: expect.any(String),
      token_type: 'bearer',
      expires_in: 3600,
      scope: 'photos:read',
    })
    expect((await photos(app, minted.access_token)).body).toEqual({ of: 'ada', by: 'desk' })
    const token = minted.access_token
    const { body } = await form(app, '/introspect', { token })
    expect(body).toMatchObject({ active: true, sub: 'ada', client_id: 'desk', scope: 'photos:read' })
    await form(app, '/revoke', { token }).expect(200)
    await photos(app, token).expect(401)
  })

  test("is a token of the client's own without a subject, and of its whole scope without a scope", async () => {
    const { app, oauth } = host()
    const { access_token, scope } = await mintToken(oauth, { clientId: 'desk' })
    expect(scope).toBe('photos:read photos:write')
    expect((await photos(app, access_token)).body).toEqual({ by: 'desk' })
  })

  test.each([
    ['a client that is not registered', { clientId: 'nobody' }, 'No client "nobody" is registered'],
    ['a disabled client', { clientId: 'old' }, 'No client "old" is registered, or it is disabled'],
    ['a scope beyond that of the client', { clientId: 'album', scope: 'admin' }, 'not open to the client'],
    ['a subject that is empty', { clientId: 'album', subject: '' }, 'The subject must be a text'],
  ])('refuses %s', async (_what, wanted, message) => {
    await expect(mintToken(host().oauth, wanted)).rejects.toThrow(message)
  })
})

describe('approve', () => {
  test.each([
    ['a public client', { clientId: 'album' }],
    ['a confidential client', { clientId: 'desk', clientSecret: client_secret }],
  ])('leads %s through login and consent page to tokens', async (_what, client) => {
    const { app } = host()
    const agent = request.agent(app)
    await agent.post('/login')
    const { code, tokens } = await approve(agent, { ...client, redirectUri, scope: 'photos:read' })
    expect(tokens).toMatchObject({ scope: 'photos:read', refresh_token: expect.any(String) })
    expect((await photos(app, tokens.access_token)).body).toEqual({ of: 'ada', by: client.clientId })
    expect(code).not.toBe('')
  })

  test('reads the fields of a consent page that the host renders', async () => {
    const { app } = host({
      pages: {
        consent: (_request, response, { fields }) =>
          void response.send(
            `<form method="post">${Object.entries(fields)
              .map(([name, value]) => `<input value="${value}" name="${name}" type="hidden">`)
              .join('')}</form>`,
          ),
      },
    })
    const agent = request.agent(app).set('Cookie', 'owner=ada')
    const { tokens } = await approve(agent, { clientId: 'album', redirectUri, scope: 'photos:read' })
    expect(tokens.scope).toBe('photos:read')
  })

  const asked = { clientId: 'album', redirectUri, scope: 'photos:read' }
  test.each([
    ['no owner is logged in', {}, asked, 'log the agent in first'],
    ['the scope is refused', {}, { ...asked, scope: 'admin' }, 'error=invalid_scope'],
    [
      'the client is unknown',
      {},
      { ...asked, clientId: 'nobody' },
      /^The authorization endpoint sent no redirect\. The answer was 400: ! This request cannot go on The app is not known here, or is blocked\. Nothing was shared\..* The client is not known here\. Reference invalid_request \S+ The server refused the request for the reason client_unknown\.$/,
    ],
    [
      'the secret is wrong',
      {},
      { ...asked, clientId: 'desk', clientSecret: 'wrong' },
      'The token endpoint refused the code. The answer was 401: {"error":"invalid_client"',
    ],
    [
      'the page of the host shows no fields',
      {
        pages: {
          consent: (_request: unknown, response: express.Response) =>
            void response.send('<style>p { color: red }</style><p>Load&lt;ing'),
        },
      },
      asked,
      /must have view\.fields in its HTML for approve\(\) to find them\. The answer was 200: Load<ing$/,
    ],
  ])('says what came instead where %s', async (why, options, wanted, message) => {
    const agent = request.agent(host(options).app)
    if (why !== 'no owner is logged in') await agent.post('/login')
    await expect(approve(agent, wanted)).rejects.toThrow(message)
  })
})

describe('testClock', () => {
  test('lets a token expire at its second, and not before', async () => {
    const clock = testClock()
    const { app, oauth } = host({ clock, store: memoryStore({ clock }) })
    const { access_token } = await mintToken(oauth, { subject: 'ada', clientId: 'album' })
    clock.advance(3599)
    expect((await photos(app, access_token)).status).toBe(200)
    clock.advance(1)
    expectRefused(await photos(app, access_token), 'token_invalid')
  })
})

describe('expectRefused', () => {
  const refusals: [string, string, (host: Host) => PromiseLike<request.Response>][] = [
    [
      'a guard with too little scope',
      'token_scope_insufficient',
      async ({ app, oauth }) =>
        photos(app, (await mintToken(oauth, { clientId: 'album', scope: 'photos:write' })).access_token),
    ],
    [
      'the token endpoint',
      'grant_type_unknown',
      ({ app }) => form(app, '/token', { grant_type: 'urn:example:none' }),
    ],
    [
      'the authorization endpoint by redirect',
      'scope_not_allowed',
      ({ app }) =>
        request(app)
          .get('/authorize')
          .query({ response_type: 'code', client_id: 'desk', redirect_uri: redirectUri, scope: 'admin' }),
    ],
    [
      'the authorization endpoint by a page',
      'client_unknown',
      ({ app }) => request(app).get('/authorize').query({ client_id: 'nobody' }),
    ],
  ]

  test.each(refusals)('knows why %s refused', async (_who, reason, ask) => {
    const served = host()
    // What a listener of the host hears is the same word.
    const recorded: RefusalEvent[] = []
    const response = await ask(served)
    served.oauth.events.on('refused', (event) => recorded.push(event))
    await ask(served)
    expect(recorded.map((event) => event.reason)).toEqual([reason])
    expectRefused(response, reason)
    expect(() => expectRefused(response, 'another_reason')).toThrow(
      `refused for the reason ${reason}, and not for another_reason`,
    )
  })

  test('knows the answer to a request without a token, which is no event', async () => {
    const { app } = host()
    const response = await request(app).get('/photos')
    expectRefused(response, 'token_missing')
    expect(() => expectRefused(response, 'token_invalid')).toThrow('for the reason token_missing')
  })

  test('fails for what the suite did not refuse', async () => {
    const { app, oauth } = host()
    const { access_token } = await mintToken(oauth, { subject: 'ada', clientId: 'album' })
    const passed = await photos(app, access_token)
    expect(() => expectRefused(passed, 'token_missing')).toThrow(
      'The request was not refused: the status is 200',
    )
    const other = await request(app).get('/open')
    expect(() => expectRefused(other, 'token_missing')).toThrow('not refused by the authorization server')
  })

  test('fails where something around the suite spoiled the answer', async () => {
    const { status, headers, body } = await photos(host().app, 'x')
    const { 'www-authenticate': _challenge, ...others } = headers
    expect(() => expectRefused({ status, headers: others, body }, 'token_invalid')).toThrow(
      'has no WWW-Authenticate header',
    )
    expect(() => expectRefused({ status, headers, body: { error: 'oops' } }, 'token_invalid')).toThrow(
      'refused with invalid_token, but the answer shows oops',
    )
  })
})
