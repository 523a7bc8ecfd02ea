import { warningsOf } from './support/rooms/warnings'

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

  it.each([
    ['before', 'oauth.clientAuthentication(); oauth.token()'],
    ['after', 'oauth.token(); oauth.clientAuthentication()'],
    ["by the host's own Passport", 'oauth.token(); oauth.strategies'],
    ['by the router', 'oauth.router()'],
  ])('is not given when client authentication is mounted, too: %s', (_how, mounting) => {
    expect(codesOf(`const oauth = createAuthorizationServer(options); ${mounting}`)).toEqual([])
  })

  it('is given once, and holds no process open', () => {
    const twice = `for (let i = 0; i < 2; i++) createAuthorizationServer(options).token()`
    expect(codesOf(twice)).toEqual(['EAS_NO_CLIENT_AUTHENTICATION'])
  })
})

const mounted = (issuer: string, path: string, request: string) =>
  warningsOf(`
    const oauth = createAuthorizationServer({ ...options, issuer: '${issuer}' })
    await serve(express().use('${path}', oauth.router()), (url) => fetch(url + '${request}'))
  `)

describe('EAS_MOUNT_PATH', () => {
  it('is given when the router answers elsewhere than the issuer says', () => {
    expect(mounted('http://localhost/auth', '/', '/token')).toEqual([
      {
        name: 'AuthorizationServerWarning',
        code: 'EAS_MOUNT_PATH',
        message:
          'oauth.router() is mounted at "" but the issuer\'s path is "/auth": app.use("/auth", oauth.router()), or change the issuer.',
      },
    ])
    expect(mounted('http://localhost', '/auth', '/auth/authorize')).toEqual([
      expect.objectContaining({
        code: 'EAS_MOUNT_PATH',
        message: expect.stringContaining('app.use("/", oauth.router())'),
      }),
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
  it('is given when something breaks and nobody listens, with what broke', () => {
    expect(broken('', 'await decide(url)')).toEqual([
      {
        name: 'AuthorizationServerWarning',
        code: 'EAS_FAILURE',
        message: expect.stringMatching(
          /^unexpected: Error: session store[^]*\. Listen to oauth\.events for 'failure'\.$/,
        ),
      },
    ])
  })

  it('is given once for each reason', () => {
    const codes = broken('', 'await decide(url); await decide(url); await token(url); await token(url)')
    expect(codes.map(({ message }) => message.split(':')[0])).toEqual(['unexpected', 'store_unavailable'])
  })

  it('is not given when somebody listens', () => {
    expect(broken(`oauth.events.on('failure', () => undefined)`, 'await decide(url)')).toEqual([])
  })

  it('is not given for a mere refusal', () => {
    expect(broken('', 'await refuse(url)')).toEqual([])
  })
})
