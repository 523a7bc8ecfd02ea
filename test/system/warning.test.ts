import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { warningCodes } from '../../lib/protocol/warning-code'
import { bundled } from '../support/bundled'
import { startRedis, type RedisServer } from '../support/redis-server'
import { warningsOf } from '../support/rooms/warnings'

const codesOf = (program: string) => warningsOf(program).map(({ code }) => code)

describe('EAS_NO_CLIENT_AUTHENTICATION', () => {
  it('is given when oauth.token() is mounted alone', () => {
    expect(warningsOf(`createAuthorizationServer(options).token()`)).toEqual([
      {
        name: 'AuthorizationServerWarning',
        code: 'EAS_NO_CLIENT_AUTHENTICATION',
        message:
          'oauth.token() is mounted without client authentication: mount oauth.clientAuthentication(), or a strategy of oauth.strategies, before it.',
      },
    ])
  })

  it("is not given when client authentication is mounted before, after, by the host's own Passport or by the router", () => {
    const mountings = [
      'oauth.clientAuthentication(); oauth.token()',
      'oauth.token(); oauth.clientAuthentication()',
      'oauth.token(); oauth.strategies',
      'oauth.router()',
    ]
    const programs = mountings.map(
      (mounting) => `{ const oauth = createAuthorizationServer(options); ${mounting} }`,
    )
    expect(codesOf(programs.join('\n'))).toEqual([])
  })

  it('is given once, and holds no process open', () => {
    const twice = `for (let i = 0; i < 2; i++) createAuthorizationServer(options).token()`
    expect(codesOf(twice)).toEqual(['EAS_NO_CLIENT_AUTHENTICATION'])
  })
})

const asked = (registration: string, more = "skipConsent: () => { throw new Error('asked') }") =>
  warningsOf(`
    const client = { client_id: 'wall', client_type: 'public', scope: 'a', ...${registration} }
    const oauth = createAuthorizationServer({
      ...options, resourceOwner: () => 'alice', pkce: 'none', clients: [client], ${more}
    })
    const asking = new URLSearchParams({ response_type: 'code', client_id: 'wall', scope: 'a', redirect_uri: client.redirect_uris[0] })
    await serve(express().use(oauth.router()), async (url) => {
      for (let i = 0; i < 2; i++) await (await fetch(url + '/authorize?' + asking, { redirect: 'manual' })).text()
    })
  `).map(({ code, message }) => `${code} ${message}`)

describe('EAS_SKIP_CONSENT', () => {
  it.each(['http://localhost:5173/callback', 'http://127.0.0.1/callback'])(
    'is given once, with the cure, for a public client at %s',
    (uri) => {
      expect(asked(`{ redirect_uris: ['${uri}'] }`)).toEqual([
        expect.stringMatching(
          /^EAS_SKIP_CONSENT The consent page appears because the server does not ask skipConsent about wall: .* https redirection URI, in development too/,
        ),
      ])
    },
  )

  it.each([
    ['the option is missing', `{ redirect_uris: ['http://localhost:5173/callback'] }`, ''],
    [
      'the server runs in production',
      `{ redirect_uris: ['http://localhost:5173/callback'] }`,
      `store: memoryStore({ allowInProduction: true }), counters: suite.memoryCounters(), skipConsent: (process.env.NODE_ENV = 'production', () => false)`,
    ],
    ['the client has a scheme of its own', `{ redirect_uris: ['com.example.desk:/callback'] }`, undefined],
    [
      'the server asks about the client',
      `{ redirect_uris: ['https://localhost:5173/callback'] }`,
      'skipConsent: () => false',
    ],
  ])('is not given when %s', (_when, registration, more) => {
    expect(asked(registration, more)).toEqual([])
  })
})

const mounted = (issuer: string, path: string, request: string) =>
  warningsOf(`
    const oauth = createAuthorizationServer({ ...options, issuer: '${issuer}' })
    await serve(express().use('${path}', oauth.router()), (url) => fetch(url + '${request}'))
  `)

const forwarded = (prefix: string, path: string) =>
  warningsOf(`
    const oauth = createAuthorizationServer({ ...options, issuer: 'http://localhost/api/auth' })
    await serve(express().use('${path}', oauth.router()), (url) =>
      fetch(url + '${path}/token', { headers: { 'X-Forwarded-Prefix': '${prefix}' } }))
  `).map(({ code }) => code)

describe('EAS_MOUNT_PATH', () => {
  it('is given when the router answers elsewhere than the issuer says', () => {
    expect(mounted('http://localhost/auth', '/', '/token')).toEqual([
      {
        name: 'AuthorizationServerWarning',
        code: 'EAS_MOUNT_PATH',
        message:
          'oauth.router() is mounted at "" but the issuer\'s path is "/auth". If a proxy removes the prefix "/auth", the router is mounted correctly: let the proxy send X-Forwarded-Prefix: /auth, and this warning ends. Otherwise, use app.use("/auth", oauth.router()), or change the issuer.',
      },
    ])
    expect(mounted('http://localhost', '/auth', '/auth/authorize')).toEqual([
      expect.objectContaining({
        code: 'EAS_MOUNT_PATH',
        message:
          'oauth.router() is mounted at "/auth" but the issuer\'s path is "". Use app.use("/", oauth.router()), or change the issuer.',
      }),
    ])
  })

  it('is not given behind a proxy that says what it has taken away, and is where that is not the rest of the path', () => {
    expect([forwarded('/api/auth', ''), forwarded('/api', '/auth'), forwarded('/api', '')]).toEqual([
      [],
      [],
      ['EAS_MOUNT_PATH'],
    ])
  })

  it.each([
    ['it answers there', 'http://localhost/auth', '/auth', '/auth/token'],
    ['the issuer ends in a slash', 'http://localhost/auth/', '/auth', '/auth/token'],
    ['it passes a request on', 'http://localhost/auth', '/', '/other'],
  ])('is not given when %s', (_when, issuer, path, request) => {
    expect(mounted(issuer, path, request)).toEqual([])
  })
})

const passedOn = (mounting: string, environment = 'development') =>
  warningsOf(`
    process.env.NODE_ENV = '${environment}'
    const served = { ...options, counters: suite.memoryCounters(), store: memoryStore({ allowInProduction: true }) }
    const oauth = createAuthorizationServer(served)
    const between = (request, response, next) => next()
    const app = express()
    ${mounting}
    await serve(app, async (url) => {
      for (const path of ['/', '/', '/auth/', '/.well-known/oauth-authorization-server']) await (await fetch(url + path)).text()
    })
  `).map(({ code, message }) => `${code} ${message}`)

describe('EAS_MOUNTED_TWICE', () => {
  it.each([
    ['two routers of one server', 'app.use(oauth.router(), between, oauth.router())'],
    ['one router twice', 'const router = oauth.router(); app.use(router).use(between).use(router)'],
    ['one in an application inside', 'app.use(oauth.router()).use(express().use(oauth.router()))'],
  ])('is given once for %s at one path', (_what, mounting) => {
    expect(passedOn(mounting)).toEqual([
      'EAS_MOUNTED_TWICE oauth.router() is mounted twice at "/". The first one answers every request, before the middlewares between the two. Remove one.',
    ])
  })

  it.each<[string, string, string | undefined]>([
    ['the router is mounted once', 'app.use(between, oauth.router())', undefined],
    ['the paths differ', "app.use(oauth.router()).use('/auth', oauth.router())", undefined],
    [
      'two servers share a path',
      'app.use(oauth.router(), createAuthorizationServer(served).router())',
      undefined,
    ],
    ['the server runs in production', 'app.use(oauth.router(), oauth.router())', 'production'],
  ])('is not given when %s', (_when, mounting, environment) => {
    expect(passedOn(mounting, environment)).toEqual([])
  })
})

const broken = (listening: string, requests: string) =>
  warningsOf(`
    const clients = { find: async (id) => { if (id === 'x') throw new Error('database') } }
    const oauth = createAuthorizationServer({ ...options, clients, resourceOwner: () => { throw new Error('session store') } })
    ${listening}
    const app = express().use(oauth.router())
    app.use((error, request, response, next) => response.end())
    const decide = (url) => fetch(url + '/authorize', { method: 'POST', body: new URLSearchParams({ authorization_request: 'x', decision: 'deny' }) })
    const token = (url) => fetch(url + '/token', { method: 'POST', body: new URLSearchParams({ client_id: 'x' }) })
    const refuse = (url) => fetch(url + '/authorize?client_id=nobody')
    await serve(app, async (url) => { ${requests} })
  `)

describe('EAS_FAILURE', () => {
  it('is given for a failure without listeners, with its cause', () => {
    expect(broken('', 'await decide(url)')).toEqual([
      {
        name: 'AuthorizationServerWarning',
        code: 'EAS_FAILURE',
        message: expect.stringMatching(
          /^unexpected: Error: session store[^]*\. Listen for 'failure' at oauth\.events, or at events of the guard\.$/,
        ),
      },
    ])
  })

  it('is given once for each fault of a resourceOwner that throws, however often it throws that', () => {
    const faults = warningsOf(`
      const faults = [new Error('session store'), new TypeError('no cookie'), new Error('session store'), 'text', new Error('database')]
      let request = 0
      const resourceOwner = async () => { throw faults[request++ % faults.length] }
      const oauth = createAuthorizationServer({ ...options, resourceOwner })
      const app = express().use(oauth.router())
      app.use((error, request, response, next) => response.end())
      const decide = (url) => fetch(url + '/authorize', { method: 'POST', body: new URLSearchParams({ authorization_request: 'x', decision: 'deny' }) })
      await serve(app, async (url) => { for (let i = 0; i < 2 * faults.length; i++) await decide(url) })
    `)
    expect(faults.map(({ code, message }) => `${code} ${message.split('\n')[0]}`)).toEqual([
      'EAS_FAILURE unexpected: Error: session store',
      'EAS_FAILURE unexpected: TypeError: no cookie',
      'EAS_FAILURE unexpected: Error: The thrown value is not an error.',
      'EAS_FAILURE unexpected: Error: database',
    ])
  })

  it('is given for 50 faults at most, because what a host throws may differ each time', () => {
    const program = `
      const { warnOnce } = require(WARNING)
      for (let i = 0; i < 100; i++) warnOnce('EAS_FAILURE', 'x', 'fault ' + i)
    `.replace('WARNING', JSON.stringify(bundled(join(__dirname, '../../lib/audit/warning.ts'))))
    expect(codesOf(program)).toHaveLength(50)
  })

  it('is given once for each reason', () => {
    const codes = broken('', 'await decide(url); await decide(url); await token(url); await token(url)')
    expect(codes.map(({ message }) => message.split(':')[0])).toEqual(['unexpected', 'store_unavailable'])
  })

  it('is not given with a listener', () => {
    expect(broken(`oauth.events.on('failure', () => undefined)`, 'await decide(url)')).toEqual([])
  })

  it('is not given for a mere refusal', () => {
    expect(broken('', 'await refuse(url)')).toEqual([])
  })
})

describe('What a store finds around it', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis({ own: true, extraArguments: ['--maxmemory-policy', 'allkeys-lru'] })
  })
  afterAll(() => redis.stop())

  const around = (program: string) =>
    warningsOf(`
      const { createBearerGuard, redisStore } = suite
      const make = (store) => createAuthorizationServer({ ...options, store })
      const url = '${redis.url}'
      const found = () => new Promise((resolve) => process.once('warning', resolve))
      ${program}
    `).map(({ code }) => code)

  it('is a warning of the server that works with it', () => {
    expect(around(`const oauth = make(redisStore({ url })); await found(); await oauth.close()`)).toEqual([
      'EAS_REDIS_EVICTION',
    ])
  })

  it('is a warning of a guard by itself', () => {
    const program = `const guard = createBearerGuard({ issuer: 'http://localhost', store: redisStore({ url }) }); await found(); await guard.close()`
    expect(around(program)).toEqual(['EAS_REDIS_EVICTION'])
  })

  it('is given once per process, however many stores find it', () => {
    const program = `
      const stores = [redisStore({ url }), redisStore({ url })]
      const servers = stores.map(make)
      for (const store of stores) await store.check()
      await Promise.all(servers.map((oauth) => oauth.close()))
    `
    expect(around(program)).toEqual(['EAS_REDIS_EVICTION'])
  })

  it('is not given after close(), which lets the process end', () => {
    expect(around(`await make(redisStore({ url })).close()`)).toEqual([])
  })

  it('holds no process open while it cannot be looked at', () => {
    const client = `{ call: async () => { throw new Error('ECONNREFUSED') } }`
    expect(around(`make(redisStore({ client: ${client} }))`)).toEqual([])
  })
})

const read = (path: string) => readFileSync(join(__dirname, '../..', path), 'utf8')

test('the page of warnings explains every code, and no other', () => {
  const explained = [...read('docs/warnings.md').matchAll(/^## (EAS_[A-Z_]+)$/gm)].map(
    ([, code = '']) => code,
  )
  expect(explained.toSorted()).toEqual(warningCodes.toSorted())
})
