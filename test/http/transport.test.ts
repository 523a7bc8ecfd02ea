import request from 'supertest'
import { authorizationRequest } from '../support/rooms/consent-form'
import { hostWith } from '../support/rooms/host'
import { statusOf } from '../support/rooms/status'
import { warningsOf } from '../support/rooms/warnings'

const issuer = 'https://photos.example'

describe('transport', () => {
  it('is refused in plain at both endpoints (EPT-5)', async () => {
    const { app, failures } = hostWith({ issuer })
    const token = await request(app).post('/token').type('form').send({})
    expect(token.status).toBe(400)
    expect(token.body).toEqual({
      error: 'invalid_request',
      error_description: 'This endpoint must be used over TLS.',
    })
    const page = await request(app).get('/authorize').query(authorizationRequest)
    expect(page.status).toBe(400)
    expect(page.headers).not.toHaveProperty('location')
    expect(failures.map(({ reason }) => reason)).toEqual(['tls_required', 'tls_required'])
  })

  it('is refused before anything is read: the secret has crossed the network, but goes no further', async () => {
    const find = jest.fn(async () => undefined)
    const { app } = hostWith({ issuer, clients: { find } })
    await request(app).post('/token').auth('photo-printer', 'secret').type('form').send({})
    expect(find).not.toHaveBeenCalled()
  })

  it('is believed of a proxy that the host trusts', async () => {
    const { app } = hostWith({ issuer })
    app.set('trust proxy', true)
    expect(
      await statusOf(
        request(app).get('/authorize').query(authorizationRequest).set('X-Forwarded-Proto', 'https'),
      ),
    ).toBe(200)
    expect(
      await statusOf(
        request(app).get('/authorize').query(authorizationRequest).set('X-Forwarded-Proto', 'http'),
      ),
    ).toBe(400)
  })

  it('is ignored without a trusted proxy', async () => {
    const { app } = hostWith({ issuer })
    expect(
      await statusOf(
        request(app).get('/authorize').query(authorizationRequest).set('X-Forwarded-Proto', 'https'),
      ),
    ).toBe(400)
  })

  it.each(['http://localhost', 'http://127.0.0.1:3000', 'http://[::1]:3000'])(
    'may be plain at %s',
    async (loopback) => {
      expect(
        await statusOf(
          request(hostWith({ issuer: loopback }).app)
            .get('/authorize')
            .query(authorizationRequest),
        ),
      ).toBe(200)
    },
  )
})

const refused = (headers: Record<string, string>, trust = 'false') =>
  warningsOf(`
    const oauth = createAuthorizationServer({ ...options, issuer: 'https://photos.example', limits: { networks: false } })
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
        /^EAS_TLS_REQUIRED The server refused a request .*X-Forwarded-Proto says that a proxy ended TLS.*app\.set\('trust proxy'/,
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

describe('A proxy that ends TLS and is not trusted', () => {
  const warningsAt = (paths: readonly string[]) =>
    warningsOf(`
      process.env.NODE_ENV = 'development'
      const oauth = createAuthorizationServer({ ...options, issuer: '${issuer}' })
      const headers = { 'X-Forwarded-For': '192.0.2.1', 'X-Forwarded-Proto': 'https' }
      await serve(express().use(oauth.router()), async (url) => {
        for (const path of ${JSON.stringify(paths)}) await fetch(url + path, { headers })
        await fetch(url + '/token', { method: 'POST', headers })
      })
    `).map(({ code, message }) => `${code} ${message}`)

  it('causes one warning, which names the consequences and the setting', () => {
    expect(warningsAt(['/authorize', '/authorize'])).toEqual([
      expect.stringMatching(
        /^EAS_TRUST_PROXY .*count as one network, and .* https issuer refuses them as plain HTTP\. Set trust proxy/,
      ),
    ])
  })

  it('causes one warning, too, when a client is refused before the network counts', () => {
    expect(warningsAt([])).toEqual([expect.stringMatching(/^EAS_(?:TLS_REQUIRED|TRUST_PROXY) .*trust proxy/)])
  })
})

it('a stranger who sends X-Forwarded-For alone does not silence EAS_TLS_REQUIRED', () => {
  const codes = warningsOf(`
    const oauth = createAuthorizationServer({ ...options, issuer: 'https://photos.example' })
    await serve(express().use(oauth.router()), async (url) => {
      await fetch(url + '/authorize', { headers: { 'X-Forwarded-For': '192.0.2.1' } })
      await fetch(url + '/authorize', { headers: { 'X-Forwarded-Proto': 'https' } })
    })
  `).map(({ code }) => code)
  expect(codes).toEqual(['EAS_TRUST_PROXY', 'EAS_TLS_REQUIRED'])
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
          'A request arrived at localhost:4000, but the issuer is http://localhost:3000. Clients look for the endpoints at the issuer, and compare the issuer with the one they know. Set the option issuer to the URL under which clients reach this server.',
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
