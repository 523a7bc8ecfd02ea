import { warningsOf } from '../../support/warnings'

const photos = 'https://photos.example'
const callback = 'https://a.example/cb'
const client = `{ client_id: 'a', client_type: 'public', redirect_uris: ['${callback}'], scope: 'a' }`
const ownPage = (policy: string) =>
  `consent: (_request, response) => response.set('Cross-Origin-Opener-Policy', '${policy}').send('mine')`

interface Story {
  readonly options?: string
  /** What the host does before the router. */
  readonly before?: string
  /** Requests: method, path and headers. */
  readonly asks: readonly (readonly [string, string, Readonly<Record<string, string>>?])[]
}

// `http.request`, because `fetch` sets Host and Origin by itself. Each request comes twice: a warning is given once.
const warned = async ({ options = '', before = '', asks }: Story) => {
  const warnings = await warningsOf(`
    const { request } = require('node:http')
    const app = express()
    ${before}
    app.use(createAuthorizationServer({ ...options, ${options} }).router())
    const ask = (url, [method, path, headers = {}]) => new Promise((resolve, reject) => {
      request(url + path, { method, headers }, (response) => response.resume().on('end', resolve)).on('error', reject).end()
    })
    await serve(app, async (url) => {
      for (const each of ${JSON.stringify(asks)}) for (let i = 0; i < 2; i++) await ask(url, each)
    })
  `)
  return warnings.map(({ code, message }) => `${code} ${message}`)
}

const token = (headers: Readonly<Record<string, string>> = {}) => ['POST', '/token', headers] as const
const page = (headers: Readonly<Record<string, string>> = {}) => ['GET', '/authorize', headers] as const
const forwarded = { 'X-Forwarded-For': '192.0.2.1' }
const proto = { 'X-Forwarded-Proto': 'https' }
const atPhotos = `issuer: '${photos}'`
const trust = (value: string) => `app.set('trust proxy', ${value})`
const helmet = "app.use(require('helmet')())"
const popup = (pages: string) =>
  `clients: [${client}], resourceOwner: () => 'alice', pkce: 'none', pages: { ${pages} }`
const asked = (site: string) =>
  ['GET', '/authorize?response_type=code&client_id=a&scope=a', { 'Sec-Fetch-Site': site }] as const
const broken =
  "{ increment: async () => { throw new Error('no route') }, decrement: async () => {}, resetKey: async () => {} }"

test.each<[string, Story, readonly RegExp[]]>([
  [
    'a proxy that is not trusted',
    { asks: [token(forwarded)] },
    [/^EAS_TRUST_PROXY A request has the header X-For/],
  ],
  [
    'every proxy is trusted',
    { before: trust('true'), asks: [token(forwarded)] },
    [/^EAS_TRUST_PROXY Express trusts/],
  ],
  ['one proxy is trusted', { before: trust('1'), asks: [token(forwarded)] }, []],
  ['loopback is trusted', { before: trust("'loopback'"), asks: [token(forwarded)] }, []],
  ['no proxy', { asks: [token()] }, []],
  ['no limit', { options: 'limits: { networks: { clients: false } }', asks: [token(forwarded)] }, []],
  [
    'a proxy that ended TLS and is not trusted',
    { options: `${atPhotos}, limits: { networks: false }`, asks: [token(proto), page(proto)] },
    [/^EAS_TLS_REQUIRED .*X-Forwarded-Proto says that a proxy ended TLS.*app\.set\('trust proxy'/],
  ],
  [
    'a proxy that says nothing',
    { options: `${atPhotos}, limits: { networks: false }`, asks: [token(), page()] },
    [/^EAS_TLS_REQUIRED .*send X-Forwarded-Proto.*app\.set\('trust proxy'/],
  ],
  [
    'a proxy that ended TLS and is trusted',
    { options: `${atPhotos}, limits: { networks: false }`, before: trust('1'), asks: [token(proto)] },
    [],
  ],
  [
    'both at once: one warning names the consequences',
    { options: atPhotos, asks: [page({ ...forwarded, ...proto }), token({ ...forwarded, ...proto })] },
    [
      /^EAS_TRUST_PROXY .*count as one network, and .* https issuer refuses them as plain HTTP\. Set trust proxy/,
    ],
  ],
  [
    'a stranger sends X-Forwarded-For alone, which silences nothing',
    { options: atPhotos, asks: [page(forwarded), page(proto)] },
    [/^EAS_TRUST_PROXY /, /^EAS_TLS_REQUIRED /],
  ],
  [
    'the store of a limit fails, and requests pass',
    { options: `limits: { networks: { stores: () => (${broken}) } }`, asks: [token()] },
    [/^EAS_RATE_LIMIT_STORE The option limits\.networks cannot count, so requests pass uncounted: no route$/],
  ],
  [
    'a host that is not that of the issuer',
    { options: "issuer: 'http://localhost:3000'", asks: [token({ Host: 'localhost:4000' })] },
    [/^EAS_ISSUER_HOST A request arrived at localhost:4000, but the issuer is http:\/\/localhost:3000\. /],
  ],
  [
    'the metadata at another host',
    { asks: [['GET', '/.well-known/oauth-authorization-server', { Host: 'photos.test:3000' }]] },
    [/^EAS_ISSUER_HOST /],
  ],
  [
    'a page of the server at another origin, behind any proxy',
    {
      options: atPhotos,
      before: trust('1'),
      asks: [
        token({ ...proto, Host: 'app:8080' }),
        token({ ...proto, 'Sec-Fetch-Site': 'same-origin', Origin: 'https://www.photos.example' }),
      ],
    },
    [/^EAS_ISSUER_HOST /],
  ],
  [
    'the host of the issuer however it is written, and addresses',
    {
      options: "issuer: 'http://localhost:3000'",
      asks: ['localhost:3000', 'LOCALHOST:3000', '127.0.0.1:41234', '[::1]:41234', '', 'a b'].map((Host) =>
        token({ Host }),
      ),
    },
    [],
  ],
  [
    'a page of another site, and an origin that is null',
    {
      options: atPhotos,
      before: trust('1'),
      asks: ['cross-site', 'same-origin'].map((site) =>
        token({
          ...proto,
          Host: 'app:8080',
          'Sec-Fetch-Site': site,
          Origin: site === 'cross-site' ? callback : 'null',
        }),
      ),
    },
    [],
  ],
  [
    'a login that cuts popups',
    { before: helmet, options: popup('popups: true'), asks: [asked('same-origin')] },
    [/^EAS_OPENER_POLICY .*: same-origin, .*send the page of the login, and the/],
  ],
  [
    'a consent page of the host that cuts popups',
    { options: popup(`popups: true, ${ownPage('same-origin')}`), asks: [asked('none')] },
    [/^EAS_OPENER_POLICY .*: same-origin, .*the page of the option pages\.consent/],
  ],
  ['popups without a policy', { options: popup('popups: true'), asks: [asked('same-origin')] }, []],
  [
    'popups at an own page that lets them be',
    { options: popup(`popups: true, ${ownPage('unsafe-none')}`), asks: [asked('none')] },
    [],
  ],
  ['no popups', { before: helmet, options: popup(''), asks: [asked('same-origin')] }, []],
  [
    'popups and a request of a client',
    { before: helmet, options: popup('popups: true'), asks: [asked('cross-site')] },
    [],
  ],
])('A host is warned once of what it does wrong, and of nothing else: %s', async (_what, story, expected) => {
  expect(await warned(story)).toEqual(expected.map((one) => expect.stringMatching(one)))
})
