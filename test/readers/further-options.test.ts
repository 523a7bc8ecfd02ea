import { createHash } from 'node:crypto'
import { createAuthorizationServer, memoryStore } from '../../lib/index'
import { application, canonicalOptions } from '../support/flows/application'
import { nightlyReport, photoBook } from '../support/flows/clients'
import { authorizationRequest } from '../support/flows/flow'
import { type Maker, mistakesOf } from '../support/mistakes-of'

const javascript: Maker = { make: createAuthorizationServer }
const mistakesIn = (bend: object) =>
  mistakesOf(javascript, { ...canonicalOptions, ...bend }).map(({ path, message }) => `${path} ${message}`)

describe('The option cors', () => {
  const app = 'https://app.example'

  test.each([
    ...'https://app.example:8443 http://localhost:5173 http://[::1]:5173 https://xn--bcher-kva.example'.split(
      ' ',
    ),
    ...'capacitor://localhost chrome-extension://abcdefghijklmnop'.split(' '),
  ])('takes the origin %s', (origin) => {
    expect(mistakesIn({ cors: { origins: [origin] } })).toEqual([])
  })

  test.each([
    ...'* null app.example https://app.example/ https://app.example/path https://app.example:443'.split(' '),
    ...'https://APP.example https://bücher.example https://*.example https://alice@app.example'.split(' '),
    ...'https://app.example?x https:// file://'.split(' '),
    'https://app.example, https://other.example',
    '',
    7,
  ])('refuses %s, which no browser sends as the origin of one site', (origin) => {
    expect(mistakesIn({ cors: { origins: [app, origin] } })).toEqual([
      expect.stringMatching(/^cors\.origins\[1\] must be an origin as a browser sends it/),
    ])
  })

  test.each([[null], [[]], [app]])('refuses the list %j', (origins) => {
    expect(mistakesIn({ cors: { origins } })).toEqual([
      expect.stringMatching(/^cors\.origins .*must be a list of at least one origin:/),
    ])
  })

  test('has no credentials', () => {
    expect(mistakesIn({ cors: { origins: [app], credentials: true } })).toEqual([
      expect.stringMatching(/^cors\.credentials /),
    ])
  })
})

describe('The option authorizations', () => {
  test.each<[string, object, string]>([
    ['a path without a slash', { authorizations: { path: 'apps' } }, 'authorizations.path'],
    ['the path of another endpoint', { authorizations: { path: '/token' } }, 'authorizations.path'],
    ['another member', { authorizations: { paths: '/apps' } }, 'authorizations.paths'],
    ['a script', { authorizations: { manageAt: 'javascript:alert(1)' } }, 'authorizations.manageAt'],
    ['another host', { authorizations: { manageAt: '//evil.example/' } }, 'authorizations.manageAt'],
    ['no login', { authorizations: {}, resourceOwner: undefined }, 'resourceOwner'],
    [
      'a page of the host without the page',
      { authorizations: { manageAt: '/me' }, pages: { connected: () => {} } },
      'pages.connected',
    ],
    [
      'an endpoint of its name',
      {
        authorizations: {},
        plugins: [
          {
            name: 'host-endpoints',
            endpoints: [{ kind: 'page', name: 'authorizations', path: '/x', handle: () => {} }],
          },
        ],
      },
      'authorizations.path',
    ],
    [
      'a store without an index',
      { authorizations: {}, store: { ...memoryStore(), index: undefined } },
      'store',
    ],
  ])('refuses %s', (_what, bend, path) => {
    expect(mistakesIn(bend)).toContainEqual(expect.stringMatching(new RegExp(`^${path} `)))
  })

  test.each<[string, object | boolean, string, string, number]>([
    ['true: the page at its usual path', true, '', '/authorizations', 200],
    ['{}: the page below the issuer', {}, '/oauth', '/authorizations', 200],
    ['a path: the page there', { path: '/apps' }, '', '/apps', 200],
    ['manageAt alone: no page', { manageAt: '/me' }, '', '/authorizations', 404],
    ['both', { path: '/apps', manageAt: 'https://example.com/me' }, '', '/apps', 200],
    ['false', false, '', '/authorizations', 404],
  ])('is %s', async (_what, authorizations, below, path, status) => {
    const { flow } = application(
      { authorizations, issuer: `http://localhost${below}` },
      { mount: (app, oauth) => app.use(below || '/', oauth.router()) },
    )
    expect((await flow.open(below + path, 'alice')).status).toBe(status)
    const asked = new URLSearchParams(JSON.parse(JSON.stringify(authorizationRequest(photoBook))))
    const { text } = await flow.open(`${below}/authorize?${asked.toString()}`, 'alice')
    const link = /<a href="([^"]*)" target="_blank" rel="noopener">Connected/.exec(text)?.[1]
    const place =
      typeof authorizations === 'object' && 'manageAt' in authorizations && authorizations.manageAt
    expect(link).toBe(authorizations === false ? undefined : place || below + path)
  })

  test('has no page where nobody logs in, and leaves the name of the page to hosts without it', () => {
    const { issuer, scopes } = canonicalOptions
    const oauth = createAuthorizationServer({
      issuer,
      scopes,
      clients: [nightlyReport.registration],
      authorizations: true,
    })
    expect(() => oauth.endpoint('authorizations')).toThrow('the endpoints are')
    const own = { kind: 'page', name: 'authorizations', path: '/authorizations', handle: () => {} }
    expect(
      mistakesIn({
        authorizations: { manageAt: '/authorizations' },
        plugins: [{ name: 'host-endpoints', endpoints: [own] }],
      }),
    ).toEqual([])
  })
})

describe('The option pages', () => {
  const colour = "must be a colour such as '#3a56d4'."
  const logo = "pages.service.logo must be an https URL, or a path of this server such as '/logo.svg'."
  const languages =
    'pages.languages must be a list of languages of the pages, the first for people who read none of the others: en, de, fr, es, ja, ar.'
  const inEnglish = (texts: unknown) => ({ texts: { en: texts } })

  test.each<[object, string]>([
    ...[[], ['pt'], ['en', 'DE'], 'en', {}, null].map((given): [object, string] => [
      { languages: given },
      languages,
    ]),
    [{ texts: 'en' }, 'pages.texts must be an object.'],
    [{ texts: { nl: {} } }, 'pages.texts.nl is not known here; the known names are ar, de, en, es, fr, ja.'],
    [inEnglish({ consents: {} }), 'pages.texts.en.consents is not known here. Did you mean consent?'],
    [
      inEnglish({ consent: { alow: 'x' } }),
      'pages.texts.en.consent.alow is not known here. Did you mean allow?',
    ],
    [inEnglish({ consent: { allow: '' } }), 'pages.texts.en.consent.allow must be a text.'],
    [inEnglish({ consent: { allow: () => 'x' } }), 'pages.texts.en.consent.allow must be a text.'],
    ...['x', '{} and {}', () => '{}'].map((title): [object, string] => [
      inEnglish({ consent: { title } }),
      'pages.texts.en.consent.title must be a text with one {}, in the place of the name.',
    ]),
    [
      inEnglish({ error: { explanations: { other: 'x' } } }),
      'pages.texts.en.error.explanations.other must be an object.',
    ],
    [{ texts: JSON.parse('{ "en": { "__proto__": {} } }') }, 'pages.texts.en.__proto__ is not known here'],
    ...[
      'http://a.example/l.png',
      '//a.example/l.png',
      '/\\a.example',
      'logo.png',
      'javascript:alert(1)',
      '',
      1,
    ].map((given): [object, string] => [{ service: { logo: given } }, logo]),
    ...['red', '#fff', '#123456;}'].map((accent): [object, string] => [
      { service: { colors: { accent } } },
      `pages.service.colors.accent ${colour}`,
    ]),
    [
      { service: { colors: { accent: '#ffcc00' } } },
      'pages.service.colors.accent must have a contrast of at least 4.5 to the colour of its card, #ffffff; it has 1.5.',
    ],
    [
      { service: { colors: { background: '#333333' } } },
      'pages.service.colors.background must have a contrast of at least 4.5 to the colour of its text, #171a21; it has 1.4.',
    ],
    [
      { service: { colors: { dark: { accent: '#0b6b4f' } } } },
      'pages.service.colors.dark.accent must have a contrast of at least 4.5 to the colour of its card, #16191f; it has 2.7.',
    ],
    [
      { service: { colors: { dark: { dark: {} } } } },
      'pages.service.colors.dark.dark is not known here; the known names are accent, background.',
    ],
  ])('%j is refused', (pages, mistake) => {
    expect(mistakesIn({ pages })).toEqual([expect.stringContaining(mistake)])
  })

  test('replaces single texts, and its colours stand in the one stylesheet that the policy allows', async () => {
    const { flow } = application({
      pages: {
        texts: { en: { consent: { allow: 'Connect', title: 'Connect {}?' } } },
        service: { colors: { accent: '#0B6B4F', dark: { accent: '#5ad1a8' } } },
      },
    })
    const { text, headers } = await flow.ask(authorizationRequest(photoBook), 'alice')
    expect(text).toMatch(/<title>Connect Photo Book\?<[^]*>Cancel<[^]*>Connect</)
    const [, style = ''] = /<style>([^]*)<\/style>/.exec(text) ?? []
    for (const color of ['accent: #0B6B4F', 'on-accent: #ffffff', 'accent: #5ad1a8', 'on-accent: #000000'])
      expect(style).toContain(`--${color};`)
    const digest = createHash('sha256').update(style).digest('base64')
    expect(headers['content-security-policy']).toContain(`style-src 'sha256-${digest}';`)
  })
})

describe('The option resources', () => {
  const uri = 'https://api.example/mcp'
  const scopes = ['photos:read', 'photos:print']
  const list = "must be a list of scopes, such as ['notes:read'], at least one."
  const absolute = 'must be an absolute URI without a fragment, such as https://api.example.com/mcp.'
  const host = 'must name its host after //, without a user name and password.'
  const page = 'must be the URL of a page, such as https://example.com/docs/api.'
  const lifetime = 'must be whole seconds, 1 to 3600, lifetimes.accessToken of the server.'

  test.each<[string, unknown, string, string]>([
    ['/mcp', { scopes }, '', absolute],
    [`${uri}#`, { scopes }, '', absolute],
    ['https://api.example/ü', { scopes }, '', absolute],
    ['https:api.example', { scopes }, '', host],
    ['https://me:pw@api.example', { scopes }, '', host],
    [uri, 7, '', 'must be an object.'],
    [uri, { scopes: 'a b' }, '.scopes', list],
    [uri, { scopes: [] }, '.scopes', list],
    [uri, { scopes: ['a b'] }, '.scopes', list],
    [
      uri,
      { scopes: ['z'] },
      '.scopes',
      'must hold scopes of this server: photos:read, photos:print, reports:write.',
    ],
    [uri, { scopes, accessTokenLifetime: 0 }, '.accessTokenLifetime', lifetime],
    [uri, { scopes, accessTokenLifetime: 3601 }, '.accessTokenLifetime', lifetime],
    [uri, { scopes, name: '' }, '.name', 'must be a text.'],
    [uri, { scopes, documentation: 'javascript:alert(1)' }, '.documentation', page],
    [uri, { scopes, documentation: '/docs' }, '.documentation', page],
    [uri, { scopes, scope: 'a' }, '.scope', 'is not known here'],
  ])('%s with %j is refused', (key, given, at, message) => {
    expect(mistakesIn({ resources: { [key]: given } })).toContainEqual(
      expect.stringContaining(`resources["${key}"]${at} ${message}`),
    )
  })

  // RFC 3986 6.2.2.1: the case of scheme and host means nothing, and no path is that of the root.
  test.each([
    [uri, 'HTTPS://API.Example/mcp', true],
    ['https://api.example', 'https://api.example/', true],
    ['https://api.example?x=1', 'https://api.example/?x=1', true],
    ['http://[2001:db8::1]', 'http://[2001:DB8::1]/', true],
    ['urn:example:notes', 'URN:example:notes', true],
    [uri, 'https://api.example/MCP', false],
    [uri, 'https://api.example/mcp/', false],
    ['https://api.example/', 'https://api.example:443/', false],
    ['https://api.example/a', 'https://api.example/%61', false],
    ['https://api.example/%2f', 'https://api.example/%2F', false],
    ['https://api.example/a/../b', 'https://api.example/b', false],
    ['https://api.example/?', 'https://api.example/', false],
    ['https://api.example', 'https://api.example.', false],
    ['urn:example:notes', 'urn:EXAMPLE:notes', false],
  ])('%s and %s name one resource: %s', (one, other, same) => {
    const mistakes = mistakesIn({ resources: { [one]: { scopes }, [other]: { scopes } } })
    expect(mistakes.some((mistake) => mistake.startsWith(`resources["${other}"] `))).toBe(same)
  })
})

test.each<[object, string]>([
  ...[0, -1, 1.5, '5', Number.NaN, Infinity, null, 1_000_001].map((attempts): [object, string] => [
    { attempts },
    'limits.openRequests.attempts must be a whole number, 1 to 1000000.',
  ]),
  [{ attempt: 3 }, 'limits.openRequests.attempt is not known here. Did you mean attempts?'],
])('The limit %j is refused', (openRequests, mistake) => {
  expect(mistakesIn({ limits: { openRequests } })).toEqual([expect.stringContaining(mistake)])
})

const secondsCure = 'limits.networks.clients.seconds must be a whole number, 1 to 86400.'
test.each([0, 86_401, '60'])('A limit in %j seconds is refused', (seconds) => {
  expect(mistakesIn({ limits: { networks: { clients: { seconds } } } })).toEqual([secondsCure])
})

describe('The metadata of a resource', () => {
  const uri = 'https://api.example/mcp'
  const resources = { [uri]: { scopes: ['photos:read', 'photos:print'], name: 'Notes' } }

  test.each<[unknown, string]>([
    [null, 'members'],
    [7, 'members'],
    [['resource_name'], 'members'],
    [{ resource_name: 7 }, 'members'],
    [{ resource_name: '' }, 'members'],
    [{ x: { y: 1 } }, 'members'],
    [{ resource: 'https://evil.example' }, 'members.resource'],
    [{ authorization_servers: ['https://evil.example'] }, 'members.authorization_servers'],
    [{ bearer_methods_supported: ['query'] }, 'members.bearer_methods_supported'],
    [{ resource_documentation: 'docs' }, 'members.resource_documentation'],
    [{ resource_policy_uri: ['https://a.example'] }, 'members.resource_policy_uri'],
    [{ resource_tos_uri: 'javascript:alert(1)' }, 'members.resource_tos_uri'],
    [{ scopes_supported: 'photos:read' }, 'members.scopes_supported'],
    [{ scopes_supported: [] }, 'members.scopes_supported'],
    [{ scopes_supported: ['a b'] }, 'members.scopes_supported'],
    [{ scopes_supported: ['photos:read', 'c'] }, 'members.scopes_supported'],
    // The consent page would show another name.
    [{ resource_name: 'My notes' }, 'members.resource_name'],
  ])('cannot have the members %j', (members, path) => {
    const oauth = createAuthorizationServer({ ...canonicalOptions, resources })
    const make = (given: unknown) => Reflect.apply(oauth.protectedResource, undefined, [uri, given])
    expect(mistakesOf({ make }, members).map((mistake) => mistake.path)).toEqual([path])
  })
})
