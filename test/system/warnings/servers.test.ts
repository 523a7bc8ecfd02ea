import { startRedis, type RedisServer } from '../../support/redis-server'
import { warningsOf } from '../../support/warnings'

const codesOf = async (program: string, alone = false) =>
  (await warningsOf(program, { alone })).map(({ code }) => code)

/** Each warning as a line. */
const linesOf = async (program: string) =>
  (await warningsOf(program)).map(({ code, message }) => `${code} ${message}`)

describe('EAS_SKIP_CONSENT', () => {
  const local = "'http://localhost:5173/callback'"
  const asked = (uri: string, more = "skipConsent: () => { throw new Error('asked') }") =>
    linesOf(`
      const client = { client_id: 'wall', client_type: 'public', scope: 'a', redirect_uris: [${uri}] }
      const oauth = createAuthorizationServer({
        ...options, resourceOwner: () => 'alice', pkce: 'none', clients: [client], ${more}
      })
      const asking = new URLSearchParams({ response_type: 'code', client_id: 'wall', scope: 'a', redirect_uri: ${uri} })
      await serve(express().use(oauth.router()), async (url) => {
        for (let i = 0; i < 2; i++) await (await fetch(url + '/authorize?' + asking, { redirect: 'manual' })).text()
      })
    `)

  it.each([local, "'http://127.0.0.1/callback'"])(
    'is given once, with the cure, for a public client at %s',
    async (uri) => {
      expect(await asked(uri)).toEqual([
        expect.stringMatching(
          /^EAS_SKIP_CONSENT The consent page appears because the server does not ask skipConsent about wall: .* https redirection URI, in development too/,
        ),
      ])
    },
  )

  const inProduction =
    "store: memoryStore({ allowInProduction: true }), skipConsent: (process.env.NODE_ENV = 'production', () => false)"
  it.each([
    ['the option is missing', local, ''],
    ['the server runs in production', local, inProduction],
    ['the client has a scheme of its own', "'com.example.desk:/callback'", undefined],
    ['the server asks about the client', "'https://localhost:5173/callback'", 'skipConsent: () => false'],
  ])('is not given when %s', async (_when, uri, more) => {
    expect(await asked(uri, more)).toEqual([])
  })
})

describe('EAS_MOUNT_PATH', () => {
  const mounted = ([issuer, path, request, prefix = '']: readonly [string, string, string, string?]) =>
    linesOf(`
      const oauth = createAuthorizationServer({ ...options, issuer: '${issuer}' })
      const headers = ${prefix === '' ? '{}' : `{ 'X-Forwarded-Prefix': '${prefix}' }`}
      await serve(express().use('${path}', oauth.router()), (url) => fetch(url + '${request}', { headers }))
    `)

  it.each([
    [
      ['http://localhost/auth', '/', '/token'],
      'oauth.router() is mounted at "" but the issuer\'s path is "/auth". If a proxy removes the prefix "/auth", the router is mounted correctly: let the proxy send X-Forwarded-Prefix: /auth, and this warning ends. Otherwise, use app.use("/auth", oauth.router()), or change the issuer.',
    ],
    [
      ['http://localhost', '/auth', '/auth/authorize'],
      'oauth.router() is mounted at "/auth" but the issuer\'s path is "". Use app.use("/", oauth.router()), or change the issuer.',
    ],
    [
      ['http://localhost/api/auth', '', '/token', '/api'],
      expect.stringContaining('is mounted at "" but the issuer\'s path is "/api/auth"'),
    ],
  ] as const)(
    'is given when the router answers elsewhere than the issuer says: %j',
    async (place, message) => {
      const [line = ''] = await mounted(place)
      expect([line.slice(0, 14), line.slice(15)]).toEqual(['EAS_MOUNT_PATH', message])
    },
  )

  it.each([
    ['it answers there', 'http://localhost/auth', '/auth', '/auth/token', ''],
    ['the issuer ends in a slash', 'http://localhost/auth/', '/auth', '/auth/token', ''],
    ['it passes a request on', 'http://localhost/auth', '/', '/other', ''],
    ['a proxy has taken the path away', 'http://localhost/api/auth', '', '/token', '/api/auth'],
    ['a proxy has taken a part of it away', 'http://localhost/api/auth', '/auth', '/auth/token', '/api'],
  ])('is not given when %s', async (_when, issuer, path, request, prefix) => {
    expect(await mounted([issuer, path, request, prefix])).toEqual([])
  })
})

describe('EAS_MOUNTED_TWICE', () => {
  const passedOn = (mounting: string, environment = 'development') =>
    linesOf(`
      process.env.NODE_ENV = '${environment}'
      const served = { ...options, store: memoryStore({ allowInProduction: true }) }
      const oauth = createAuthorizationServer(served)
      const between = (request, response, next) => next()
      const app = express()
      ${mounting}
      await serve(app, async (url) => {
        for (const path of ['/', '/', '/auth/', '/.well-known/oauth-authorization-server']) await (await fetch(url + path)).text()
      })
    `)

  it.each([
    ['two routers of one server', 'app.use(oauth.router(), between, oauth.router())'],
    ['one router twice', 'const router = oauth.router(); app.use(router).use(between).use(router)'],
    ['one in an application inside', 'app.use(oauth.router()).use(express().use(oauth.router()))'],
  ])('is given once for %s at one path', async (_what, mounting) => {
    expect(await passedOn(mounting)).toEqual([
      'EAS_MOUNTED_TWICE oauth.router() is mounted twice at "/". The first one answers every request, before the middlewares between the two. Remove one.',
    ])
  })

  it.each([
    ['the router is mounted once', 'app.use(between, oauth.router())', undefined],
    ['the paths differ', "app.use(oauth.router()).use('/auth', oauth.router())", undefined],
    [
      'two servers share a path',
      'app.use(oauth.router(), createAuthorizationServer(served).router())',
      undefined,
    ],
    ['the server runs in production', 'app.use(oauth.router(), oauth.router())', 'production'],
  ])('is not given when %s', async (_when, mounting, environment) => {
    expect(await passedOn(mounting, environment)).toEqual([])
  })
})

describe('EAS_FAILURE', () => {
  const broken = (
    requests: string,
    { listening = '', faults = "[new Error('session store')]" }: { listening?: string; faults?: string } = {},
  ) =>
    linesOf(`
      const clients = { find: async (id) => { if (id === 'x') throw new Error('database') } }
      const faults = ${faults}
      let asked = 0
      const resourceOwner = async () => { throw faults[asked++ % faults.length] }
      const oauth = createAuthorizationServer({ ...options, clients, resourceOwner })
      ${listening}
      const app = express().use(oauth.router())
      app.use((error, request, response, next) => response.end())
      await serve(app, async (url) => {
        const decide = () => fetch(url + '/authorize', { method: 'POST', body: new URLSearchParams({ authorization_request: 'x', decision: 'deny' }) })
        const token = () => fetch(url + '/token', { method: 'POST', body: new URLSearchParams({ client_id: 'x' }) })
        const refuse = () => fetch(url + '/authorize?client_id=nobody')
        for (const ask of [${requests}]) await ask()
      })
    `)

  it('is given once for each reason, with its cause', async () => {
    expect(await broken('decide, decide, token, token')).toEqual([
      expect.stringMatching(
        /^EAS_FAILURE unexpected: Error: session store[^]*\. Listen for 'failure' at oauth\.events, or at events of the guard\.$/,
      ),
      expect.stringMatching(/^EAS_FAILURE store_unavailable:/),
    ])
  })

  it('is given once for each fault of a resourceOwner, however often it throws that', async () => {
    const faults =
      "[new Error('session store'), new TypeError('no cookie'), new Error('session store'), 'text', new Error('database')]"
    const lines = await broken('...Array.from({ length: 10 }, () => decide)', { faults })
    expect(lines.map((line) => line.split('\n')[0])).toEqual([
      'EAS_FAILURE unexpected: Error: session store',
      'EAS_FAILURE unexpected: TypeError: no cookie',
      'EAS_FAILURE unexpected: Error: The thrown value is not an error.',
      'EAS_FAILURE unexpected: Error: database',
    ])
  })

  it('is given for 50 faults at most, because what a host throws may differ each time', async () => {
    const faults = 'Array.from({ length: 60 }, (_, index) => new Error(`fault ${index}`))'
    expect(await broken('...faults.map(() => decide)', { faults })).toHaveLength(50)
  })

  it.each([
    ['with a listener', 'decide', { listening: "oauth.events.on('failure', () => undefined)" }],
    ['for a mere refusal', 'refuse', {}],
  ])('is not given %s', async (_when, requests, more) => {
    expect(await broken(requests, more)).toEqual([])
  })
})

describe('What a store finds around it', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis({ own: true, extraArguments: ['--maxmemory-policy', 'allkeys-lru'] })
  })
  afterAll(() => redis.stop())

  it.each([
    [
      'is a warning of the server that works with it',
      'const oauth = make(redisStore({ url })); await found(); await oauth.close()',
      ['EAS_REDIS_EVICTION'],
    ],
    [
      'is a warning of a guard by itself',
      "const guard = suite.createBearerGuard({ issuer: 'http://localhost', store: redisStore({ url }) }); await found(); await guard.close()",
      ['EAS_REDIS_EVICTION'],
    ],
    [
      'is given once per process, however many stores find it',
      `const stores = [redisStore({ url }), redisStore({ url })]
      const servers = stores.map(make)
      for (const store of stores) await store.check()
      await Promise.all(servers.map((oauth) => oauth.close()))`,
      ['EAS_REDIS_EVICTION'],
    ],
    ['is not given after close(), which lets the process end', 'await make(redisStore({ url })).close()', []],
    [
      'holds no process open while it cannot be looked at',
      "make(redisStore({ client: { call: async () => { throw new Error('ECONNREFUSED') } } }))",
      [],
    ],
  ])('%s', async (_what, program, codes) => {
    const source = `
      const make = (store) => createAuthorizationServer({ ...options, store })
      const url = '${redis.url}'
      const found = () => new Promise((resolve) => process.once('warning', resolve))
      ${program}
    `
    expect(await codesOf(source, true)).toEqual(codes)
  })
})
