import { warningsOf } from '../support/rooms/warnings'

const refused = (headers: Record<string, string>, trust = 'false') =>
  warningsOf(`
    const oauth = createAuthorizationServer({ ...options, issuer: 'https://photos.example', rateLimit: false })
    const app = express().set('trust proxy', ${trust}).use(oauth.router())
    const headers = ${JSON.stringify(headers)}
    await serve(app, async (url) => {
      for (const path of ['/token', '/token', '/authorize']) await fetch(url + path, { method: 'POST', headers })
    })
  `).map(({ code, message }) => `${code} ${message}`)

describe('EAS_TLS_REQUIRED', () => {
  it('is given once when a proxy that ended TLS is not trusted, and names the setting', () => {
    expect(refused({ 'X-Forwarded-Proto': 'https' })).toEqual([
      expect.stringMatching(
        /^EAS_TLS_REQUIRED A request was refused .*X-Forwarded-Proto says that a proxy ended TLS.*app\.set\('trust proxy'/,
      ),
    ])
  })

  it('names it, too, when the proxy says nothing', () => {
    expect(refused({})).toEqual([
      expect.stringMatching(/^EAS_TLS_REQUIRED .*send X-Forwarded-Proto.*app\.set\('trust proxy'/),
    ])
  })

  it('is not given when the proxy is trusted', () => {
    expect(refused({ 'X-Forwarded-Proto': 'https' }, '1')).toEqual([])
  })
})

describe('EAS_ISSUER_HOST', () => {
  interface Asking {
    readonly issuer?: string
    readonly headers: Record<string, string>
    readonly path?: string
    readonly method?: string
  }
  // `http.request`, because `fetch` sets Host and Origin by itself.
  const asked = (...askings: readonly Asking[]) =>
    warningsOf(`
      const { request } = require('node:http')
      for (const { issuer, headers, path = '/token', method = 'POST' } of ${JSON.stringify(askings)}) {
        const oauth = createAuthorizationServer({ ...options, issuer: issuer ?? 'http://localhost:3000' })
        const app = express().set('trust proxy', 1).use(oauth.router())
        const ask = (url) => new Promise((resolve, reject) => {
          request(url + path, { method, headers }, (response) => response.resume().on('end', resolve)).on('error', reject).end()
        })
        await serve(app, async (url) => { for (let i = 0; i < 3; i++) await ask(url) })
      }
    `)
  const codesAt = (...askings: readonly Asking[]) => asked(...askings).map(({ code }) => code)
  const remote = 'https://photos.example'

  it('is given once, and names both', () => {
    expect(asked({ headers: { Host: 'localhost:4000' } })).toEqual([
      {
        name: 'AuthorizationServerWarning',
        code: 'EAS_ISSUER_HOST',
        message:
          'A request came in at localhost:4000, but the issuer is http://localhost:3000. Clients look for the endpoints at the issuer and compare it with the one they know: set the option issuer to the URL under which they reach this server.',
      },
    ])
  })

  it.each([
    ['at the authorization endpoint', { path: '/authorize', headers: { Host: 'photos.test:3000' } }],
    [
      'for metadata',
      { path: '/.well-known/oauth-authorization-server', headers: { Host: 'localhost:4000' } },
    ],
  ])('is given for a request %s', (_where, asking) => {
    expect(codesAt({ ...asking, method: 'GET' })).toEqual(['EAS_ISSUER_HOST'])
  })

  const proxied = { Host: 'app:8080', 'X-Forwarded-Proto': 'https' }
  const ownPage = { ...proxied, 'Sec-Fetch-Site': 'same-origin' }

  it('is given by what a page of the server calls itself, behind any proxy', () => {
    const headers = { ...ownPage, Origin: 'https://www.photos.example' }
    expect(codesAt({ issuer: remote, headers: proxied }, { issuer: remote, headers })).toEqual([
      'EAS_ISSUER_HOST',
    ])
  })

  it('is not given at the issuer however it is written, by addresses, and where a proxy may have written the host', () => {
    const local = ['localhost:3000', 'LOCALHOST:3000', '127.0.0.1:41234', '[::1]:41234', '', 'a b']
    expect(
      asked(
        ...local.map((Host) => ({ headers: { Host } })),
        { issuer: 'http://localhost', headers: { Host: 'localhost:80' } },
        { headers: { Host: 'localhost:3000', 'Sec-Fetch-Site': 'cross-site', Origin: remote } },
        { issuer: remote, headers: proxied },
        { issuer: remote, headers: { ...ownPage, Origin: remote } },
        { issuer: remote, headers: { ...ownPage, Origin: 'null' } },
      ),
    ).toEqual([])
  })

  it('is not given for a request that is refused, because it is in plain where TLS is required', () => {
    expect(codesAt({ issuer: remote, headers: { Host: 'elsewhere.example' } })).toEqual(['EAS_TLS_REQUIRED'])
  })
})
