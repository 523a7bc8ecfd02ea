import { MemoryStore } from 'express-rate-limit'
import { whoami } from '../../docs/examples/whoami'
import type * as suite from '../support/whole-suite'
import {
  type AuthorizationServerOptions,
  ConfigurationError,
  createAuthorizationServer,
  generateClientSecret,
  implicit,
  memoryStore,
} from '../../lib/index'
import { deviceAuthorization } from '../../lib/paths/devices'
import { mac } from '../../lib/paths/mac'
import { hub } from '../support/assertions/jwt'
import { signedFormat } from '../support/flows/signed-format'
import { setStage } from '../support/flows/stage'
import { issuesIn, mistakesWith, pathsWith } from '../support/mistakes'
import { optionsWith, phone } from '../support/registrations'

const signed = signedFormat('signed')

const bearer = { name: 'own', scheme: 'Own', read: () => undefined }
const voucher = { name: 'urn:example:voucher', parameters: ['voucher'], handle: async () => ({}) }

const noText = [null, 7, {}, [], ''] as const
const noObject = [null, 7, 'on', true, []] as const
const noFunction = [null, 7, true, {}, '/login'] as const
const noDeadline = [null, '1', {}, NaN, Infinity, -1, 0, 61] as const
const noPath = 'token / /a?b /a#b /tökén /a/../b /./a //a /% /a|b /%2e/a'.split(' ')
const noScheme = ['cursor', [], ['cursor:'], ['Cursor'], ['http'], ['javascript']].map((schemes) => ({
  schemes,
}))
const noImplication = ['photos.read', [], [7], ['photos.read photos.print']].map((implied) => ({
  'photos.write': implied,
}))
const noSeconds = (least: number, most = 315_360_000) => [null, '60', NaN, Infinity, 1.5, least - 1, most + 1]
const seconds = (least: number, most = 315_360_000) => `must be whole seconds, ${least} to ${most}.`
const deadline = 'must be seconds, more than 0 and at most 60.'
const callable = 'must be a function.'
const yesOrNo = 'must be true or false.'
const object = 'must be an object.'
const functions = { read() {}, write() {}, remove() {}, add() {}, list: true }

/** Options but `issuer` and `clients`, the cure, and values that are wrong for each of them. */
const table: readonly (readonly [options: string, cure: string, wrong: readonly unknown[]])[] = [
  [
    'resourceOwner maintenance skipConsent choices stillAllowed verifyDigest logOut pages.consent pages.error pages.connected clock',
    callable,
    noFunction,
  ],
  [
    'refreshTokenExpiresIn refreshTokenRotation offlineAccess narrowScope explainRefusals',
    yesOrNo,
    [null, 7, 'no', {}],
  ],
  ['storeDeadline closeDeadline bodyDeadline', deadline, noDeadline],
  [
    'lifetimes.authorizationRequest lifetimes.accessToken lifetimes.refreshToken lifetimes.grant',
    seconds(1),
    noSeconds(1),
  ],
  ['lifetimes.authorizationCode', seconds(1, 600), noSeconds(1, 600)],
  ['lifetimes.refreshTokenGrace', seconds(0, 300), noSeconds(0, 300)],
  ['guards', object, noObject],
  [
    'limits.clientAuthentication limits.issuing limits.networks dynamicRegistration',
    'must be false, or an object: {} has every default.',
    noObject,
  ],
  ['limits.openRequests', 'must be false, or an object such as { attempts: 100, seconds: 600 }.', noObject],
  ['limits.singleUses', 'must be false, or an object such as { attempts: 60000, seconds: 60 }.', noObject],
  [
    'paths.authorization paths.token paths.revocation paths.introspection',
    "must be a path such as '/token', as a URL contains it: without query, fragment, '..' and characters that a URL encodes.",
    [...noText, '/a b', '/a\n', ...noPath],
  ],
  [
    'scopes',
    "must be an object of scope and description, such as { 'photos:read': 'See your photos' }.",
    [null, 7, 'photos.read', [], ['photos.read'], {}],
  ],
  ['defaultScope', 'must be a text.', noText],
  [
    'resources',
    "must be an object of URIs and their scopes, such as { 'https://api.example.com/mcp': { scopes: ['notes:read'] } }.",
    [null, 7, 'https://api.example', [], {}],
  ],
  ['defaultResource', 'must be one of resources.', noText],
  [
    'implies',
    "must map scopes to lists of scopes, such as { 'notes:write': ['notes:read'] }.",
    [null, 7, 'photos.read', [], ...noImplication, { 'photos write': ['photos.read'] }],
  ],
  [
    'login',
    "must be a path such as '/login', or a function.",
    [
      null,
      7,
      '',
      'login',
      '/login#top',
      '//a.example/login',
      '/\\a.example/login',
      'https://a.example/login',
    ],
  ],
  [
    'store',
    'must have the functions read, write, remove, add and list, as redisStore({ url }) and memoryStore() have.',
    [null, 7, 'memory', {}, [], memoryStore, functions],
  ],
  ['plugins', 'must be a list of plug-ins.', [null, 7, 'voucher', {}]],
  ['pkce', "must be 'public', 'all' or 'none'.", [null, true, '', 'S256', 'Public', ['public']]],
  [
    'redirectUris',
    "must be 'any', 'https or loopback', or { schemes: ['com.example.app'] } with the schemes of apps in lower case, without colons.",
    [null, 7, '', 'https', ['any'], {}, ...noScheme, { schemes: ['cursor'], hosts: [] }],
  ],
  ['counters', 'must be a store, such as redisStore({ url }).', [null, 7, 'redis', {}, { add: () => 1 }]],
  ['tokenType', 'must be one of bearer.', [...noText, 'Mac', 'Bearer']],
  [
    'limits.selfRegisteredClients',
    'must be false or a whole number, 1 to 1000.',
    [null, '50', true, {}, NaN, 0, 1.5, 1001],
  ],
  [
    'cors',
    "must be true, false, or an object such as { origins: ['https://app.example'] }.",
    [null, 7, '*', [], ['https://app.example']],
  ],
  [
    'errorUri',
    'must be an absolute URL without a fragment, such as https://example.com/docs/errors.',
    [...noText, 'errors', '/errors', 'https://a.example/#x', 'https://a.example/é', 'https://a.example/"'],
  ],
  ['authorizations rememberConsent', 'must be true, false or an object.', [null, 7, 'yes', []]],
]
const options = table.flatMap(([names, cure, wrong]) =>
  names.split(' ').map((name) => ({ name, cure, wrong })),
)

const [ofToken] = implicit().responseTypes

const oneOfEach: AuthorizationServerOptions & Required<Omit<AuthorizationServerOptions, 'login'>> = {
  ...optionsWith(),
  authorizations: { path: '/apps', manageAt: '/account' },
  rememberConsent: { seconds: 1 },
  resourceOwner: () => 'alice',
  defaultScope: 'photos.read',
  resources: {
    'https://api.example.com/mcp': {
      scopes: ['photos.read'],
      accessTokenLifetime: 1,
      name: 'Photos',
      documentation: 'https://example.com/docs#photos',
    },
  },
  defaultResource: 'HTTPS://API.example.com/mcp',
  implies: { 'photos.write': ['photos.read'] },
  guards: { realm: 'photos', attributes: { acr_values: 'mfa' }, authInfo: true, cors: true },
  login: '/login',
  logOut: () => {},
  store: memoryStore(),
  counters: memoryStore(),
  tokenType: 'mac',
  paths: { authorization: '/ask', token: '/tokens', revocation: '/forget', introspection: '/ask-about' },
  dynamicRegistration: {
    initialAccessToken: generateClientSecret().client_secret_hash,
    maximumClients: 1,
    scope: 'photos.read',
    grantTypes: ['authorization_code'],
    unusedLifetime: 60,
    lifetime: 172_800,
    clientSecretLifetime: 60,
    registrationPath: '/clients',
    clientConfigurationPath: '/clients/own',
  },
  lifetimes: {
    authorizationRequest: 1,
    authorizationCode: 600,
    accessToken: 1,
    refreshToken: 1,
    refreshTokenGrace: 0,
    grant: 1,
  },
  refreshTokenExpiresIn: true,
  refreshTokenRotation: false,
  offlineAccess: true,
  narrowScope: true,
  limits: {
    clientAuthentication: { clientAndAddress: { attempts: 1, seconds: 86_400 }, client: false },
    openRequests: { attempts: 1, seconds: 86_400 },
    networks: { authorization: false, clients: { attempts: 1_000_000 }, stores: () => new MemoryStore() },
    issuing: { client: { attempts: 1_000_000 }, owner: false },
    singleUses: { attempts: 1, seconds: 86_400 },
    selfRegisteredClients: false,
  },
  pkce: 'all',
  redirectUris: 'any',
  plugins: [
    mac({ hosts: ['api.example.com'] }),
    { name: 'host-formats', accessTokenFormats: [signed] },
    { name: 'host-endpoints', endpoints: [whoami] },
    implicit({ redirectBy: 'page' }),
    { name: 'code-token', responseTypes: [{ ...ofToken, name: 'code token' }] },
    {
      name: 'host-methods',
      clientAuthenticationMethods: [{ name: 'sealed', read: () => undefined, verify: async () => false }],
    },
    { name: 'resource', metadata: {} },
    { name: 'voucher', open: () => ({}) },
  ],
  storeDeadline: 0.1,
  closeDeadline: 5,
  bodyDeadline: 60,
  cors: { origins: ['https://app.example'] },
  maintenance: () => false,
  errorUri: 'https://photos.example/errors',
  skipConsent: () => false,
  choices: () => undefined,
  stillAllowed: () => true,
  verifyDigest: () => false,
  pages: { consent: () => undefined, error: () => undefined, connected: () => undefined },
  explainRefusals: false,
  clock: () => 0,
}

/** An option by its path, such as `lifetimes.accessToken`. */
function optionAt(path: string, value: unknown): Readonly<Record<string, unknown>> {
  const [group = '', key] = path.split('.')
  return key === undefined ? { [group]: value } : { [group]: { [key]: value } }
}

const groups = ['paths', 'lifetimes', 'limits', 'pages']
const pathsOf = (given: object): readonly string[] =>
  Object.entries(given).flatMap(([key, value]) =>
    groups.includes(key) ? Object.keys(value).map((inner) => `${key}.${inner}`) : [key],
  )

test.each(options)('the option $name is reported with its path, and: it $cure', ({ name, cure, wrong }) => {
  for (const value of wrong)
    expect([value, mistakesWith({ clients: [], ...optionAt(name, value) })]).toEqual([
      value,
      [{ path: name, message: cure }],
    ])
})

test.each([
  ['endpoints', 'endpoints'],
  ['clientAuthenticationMethods', 'methods'],
  ['responseTypes', 'response types, such as implicit()'],
  ['grantTypes', 'grant types, such as password({ verify })'],
  ['tokenTypes', 'token types, such as mac({ hosts })'],
  ['accessTokenFormats', 'access token formats'],
])('%s of a plug-in are a list of %s', (part, what) => {
  for (const wrong of [null, 7, 'x', {}])
    expect(mistakesWith({ clients: [], plugins: [{ name: 'a', [part]: wrong }] })).toEqual([
      { path: `plugins[0].${part}`, message: `must be a list of ${what}.` },
    ])
})

test.each<[part: string, row: object, members: string]>([
  ['responseTypes', { ...ofToken }, 'name grantTypes mode approve'],
  ['grantTypes', voucher, 'name parameters handle'],
  ['tokenTypes', bearer, 'name scheme read'],
  ['accessTokenFormats', signed, 'name encode decode'],
])('each of %s is an object with all it needs, and each mistake has its own path', (part, row, members) => {
  const having = (each: unknown) => ({ plugins: [{ name: 'a', [part]: [each] }] })
  for (const wrong of [null, 7, 'x', [], implicit, Promise.resolve(row)])
    expect(mistakesWith(having(wrong))).toEqual([
      { path: `plugins[0].${part}[0]`, message: 'must be an object, not a promise or a list.' },
    ])
  for (const member of members.split(' '))
    for (const value of [undefined, 7, ''])
      expect(pathsWith(having({ ...row, [member]: value }))).toEqual([`plugins[0].${part}[0].${member}`])
})

describe('options', () => {
  it('are all in the tables of these tests', () => {
    const elsewhere = ['issuer', 'clients']
    expect([...options.map(({ name }) => name), ...elsewhere].toSorted()).toEqual(
      pathsOf(oneOfEach).toSorted(),
    )
  })

  it('that are right have no mistake, one of each at their limits', () => {
    expect(issuesIn(oneOfEach)).toEqual([])
    expect(
      issuesIn({
        ...oneOfEach,
        login: () => undefined,
        lifetimes: { refreshTokenGrace: 300, authorizationCode: 1 },
        limits: { clientAuthentication: false, networks: false, issuing: false, openRequests: false },
        clients: [],
        redirectUris: { schemes: ['cursor', 'com.example.app'] },
      }),
    ).toEqual([])
  })

  it.each(['issuer', 'clients', 'scopes'])('need %s', (key) => {
    const { [key]: _without, ...others } = { ...optionsWith() } as Record<string, unknown>
    expect(issuesIn(others)).toContainEqual({
      path: key,
      message: expect.stringMatching(/^is missing: it must /),
    })
  })

  it.each([[undefined], [null], ['http://localhost'], [7], [[]], [() => ({})]])(
    'that are %j are no object',
    (given) => {
      expect(issuesIn(given)).toEqual([{ path: 'options', message: 'must be an object.' }])
    },
  )

  it('that are wrong appear in one error, one line each', () => {
    const wrong: Record<string, unknown> = {}
    for (const { name, wrong: values } of options)
      for (const [key, value] of Object.entries(optionAt(name, values[0])))
        wrong[key] = groups.includes(key) ? Object.assign({}, wrong[key], value) : value
    const issues = issuesIn({ ...wrong, issuer: 7, clients: 7, misspelt: 1 })
    expect(new Set(issues.map((mistake) => mistake.path))).toEqual(
      new Set([...pathsOf(oneOfEach), 'misspelt']),
    )
    const error = new ConfigurationError('subject', issues)
    expect(error.message.split('\n')).toHaveLength(issues.length + 1)
  })

  it('that are wrong are reported under the name of their function', () => {
    expect(() => createAuthorizationServer(optionsWith({ issuer: '' }))).toThrow(
      'createAuthorizationServer() cannot work with these options:\n  - issuer must be the URL of this server, such as https://example.com or http://localhost:3000.',
    )
  })

  it.each([
    ['Issuer', '. Did you mean issuer? The'],
    ['client', '. Did you mean clients? The'],
    ['lifeTimes', '. Did you mean lifetimes? The'],
    ['store_deadline', '. Did you mean storeDeadline? The'],
    ['resourceOwners', '. Did you mean resourceOwner? The'],
    ['constructor', '; the'],
    ['toString', '; the'],
  ])('do not know %s, say which name was meant, and which names they know', (name, meant) => {
    const [mistake, ...more] = mistakesWith({ [name]: undefined })
    expect(more).toEqual([])
    expect(mistake).toEqual({
      path: name,
      message: expect.stringContaining(
        `is not known here${meant} known names are authorizations, bodyDeadline, choices, clients,`,
      ),
    })
    for (const key of Object.keys(oneOfEach)) expect(mistake?.message).toContain(key)
  })

  it.each(groups)('in the group %s are all known, and the group is an object', (group) => {
    expect(mistakesWith({ clients: [], [group]: { misspelt: 1 } })).toEqual([
      { path: `${group}.misspelt`, message: expect.stringContaining('is not known here') },
    ])
    for (const value of [null, 7, true, [], 'all'])
      expect(mistakesWith({ clients: [], [group]: value })).toEqual([
        { path: group, message: 'must be an object.' },
      ])
  })

  it('take undefined for left out', () => {
    const { issuer, clients, scopes, resourceOwner } = optionsWith()
    const nothing = Object.fromEntries(Object.keys(oneOfEach).map((key) => [key, undefined]))
    const emptyGroups = Object.fromEntries(groups.map((group) => [group, {}]))
    for (const left of [nothing, emptyGroups])
      expect(issuesIn({ ...left, issuer, clients, scopes, resourceOwner })).toEqual([])
  })
})

const mended = "must have its path as a URL parser writes it, without '.' and '..' segments."
const insecure = 'must use https unless its host is loopback.'
const example = 'such as https://example.com or http://localhost:3000.'

describe('the option issuer', () => {
  it.each([
    'https://photos.example',
    'https://photos.example/',
    'https://photos.example/a/b//',
    'https://photos.example:8443',
    'https://localhost',
    'http://localhost:3000',
    'http://127.0.0.1',
    'http://[::1]:3000/auth',
  ])('takes %s', (issuer) => {
    expect(mistakesWith({ issuer })).toEqual([])
  })

  it.each<readonly [unknown, string]>([
    ...[null, 7, true, {}, [], '', new URL('https://photos.example')].map(
      (issuer) => [issuer, `must be the URL of this server, ${example}`] as const,
    ),
    ...[
      'photos.example',
      '/auth',
      '//photos.example',
      'https://',
      'https://photos example',
      'photos:auth',
    ].map((issuer) => [issuer, `must be an absolute URL, ${example}`] as const),
    ['http://photos.example', insecure],
    ['http://localhost.evil.example', insecure],
    ['http://127.0.0.1.evil.example', insecure],
    ['ftp://localhost', insecure],
    ['https://photos.example/a/../b', mended],
    ['https://photos.example/./b', mended],
    ['https://photos.example/%2e%2e/b', mended],
    ['https://photos.example?', 'must not have a query or a fragment.'],
    ['https://photos.example/?a=1', 'must not have a query or a fragment.'],
    ['https://photos.example#', 'must not have a query or a fragment.'],
    ['https://user@photos.example', 'must not hold a user name or password.'],
    ['https://:secret@photos.example', 'must not hold a user name or password.'],
  ])('refuses %j: it %s', (issuer, message) => {
    expect(mistakesWith({ issuer })).toEqual([{ path: 'issuer', message }])
  })

  // RFC 9207 2.4: clients compare it exactly, and it stands in every answer as it is here.
  it.each([
    ' https://photos.example',
    'https://photos.example ',
    'https://photos.example\n',
    'https:photos.example',
    'https:/photos.example',
    'https:\\\\photos.example',
    'https:///photos.example',
    'https://photos.example/\u00e9',
  ])('refuses %j, which only a browser mends', (issuer) => {
    expect(pathsWith({ issuer })).toEqual(['issuer'])
  })

  it('reports every mistake in it', () => {
    expect(mistakesWith({ issuer: 'http://user@photos.example?#' })).toHaveLength(3)
  })
})

type Bend = Readonly<Record<string, unknown>>
const tenYears = 10 * 365 * 24 * 3600
const everyScope = { ...optionsWith().scopes }

describe('options that belong together, or only look right, are refused', () => {
  it.each<[string, Bend, readonly string[]]>([
    ...[
      'photos.print',
      'photos.read photos.print',
      'photos.read  photos.write',
      ' photos.read',
      'PHOTOS.READ',
    ].map(
      (defaultScope) =>
        [
          'a default scope that the server does not have',
          { defaultScope },
          ['defaultScope must hold scopes of this server: photos.read, photos.write.'],
        ] as [string, Bend, string[]],
    ),
    [
      'two endpoints at one path',
      { paths: { token: '/authorize' } },
      ['paths.token must differ from paths.authorization.'],
    ],
    [
      'one path for two',
      { paths: { revocation: '/token' } },
      ['paths.revocation must differ from paths.token.'],
    ],
    [
      'one path for two others',
      { paths: { token: '/x', introspection: '/x' } },
      ['paths.introspection must differ from paths.token.'],
    ],
    [
      'the name of an extension of the package',
      { plugins: [{ name: 'pkce', metadata: {} }] },
      ['plugins[0].name is "pkce", which another plug-in, or the server itself, has already.'],
    ],
    [
      'a name twice',
      { plugins: ['a', 'b', 'a'].map((name) => ({ name, responseModes: [] })) },
      ['plugins[2].name is "a", which another plug-in has already.'],
    ],
    [
      'the owner in place of the function that finds the owner',
      { resourceOwner: 'alice', plugins: [deviceAuthorization()] },
      ['resourceOwner must be a function.'],
    ],
    [
      'pages of two features, and nobody who logs in',
      { resourceOwner: undefined, clients: [], authorizations: {}, plugins: [deviceAuthorization()] },
      [
        'resourceOwner is missing: people log in before they see /device and /authorizations, so resourceOwner must return who is logged in.',
      ],
    ],
    [
      'a deadline longer than a timer can keep',
      { storeDeadline: 60.001 },
      ['storeDeadline must be seconds, more than 0 and at most 60.'],
    ],
    [
      'a lifetime that leads to times that no store can keep',
      { lifetimes: { accessToken: tenYears + 1 } },
      [`lifetimes.accessToken must be whole seconds, 1 to ${tenYears}.`],
    ],
  ])('%s: %j', (_what, bend, problems) => {
    expect(mistakesWith(bend).map(({ path, message }) => `${path} ${message}`)).toEqual(problems)
  })

  it.each(['a b', '', 'a"b', 'a\\b', 'é', 'a\tb'])('%j is no scope token', (token) => {
    expect(mistakesWith({ scopes: { ...everyScope, [token]: 'Something' } })).toEqual([
      { path: 'scopes', message: expect.stringContaining(`names "${token}", which is not a scope token`) },
    ])
  })

  it.each<[string, Bend, readonly string[]]>([
    ['scopes', { scopes: null }, ['scopes']],
    ['a scope of a client', { scopes: { 'a b': 'x' }, clients: [{ ...phone, scope: 'a b' }] }, ['scopes']],
    [
      'another option, and a scope that a client cannot have',
      {
        plugins: [{ name: 'host-response-types', responseTypes: 7 }],
        clients: [{ ...phone, scope: 'photos.print' }],
      },
      ['plugins[0].responseTypes', 'clients[0].scope'],
    ],
  ])('are reported once: wrong %s', (_what, bend, paths) => {
    expect(pathsWith(bend)).toEqual(paths)
  })
})

describe('where NODE_ENV is production', () => {
  /** What this does there. */
  function inProduction<Result>(act: () => Result, environment = 'production'): Result {
    const before = process.env['NODE_ENV']
    process.env['NODE_ENV'] = environment
    try {
      return act()
    } finally {
      process.env['NODE_ENV'] = before
    }
  }

  it('a store is needed, and reported together with every other mistake', () => {
    expect(inProduction(() => mistakesWith({}))).toEqual([
      {
        path: 'store',
        message:
          'must survive restarts and be shared by all processes, because NODE_ENV is production: use storeFrom(process.env) with STORE_URL, or allow memory: memoryStore({ allowInProduction: true }).',
      },
    ])
    expect(inProduction(() => pathsWith({ issuer: 'x', pkce: 'x' }))).toEqual(['issuer', 'pkce', 'store'])
    expect(inProduction(() => mistakesWith({ store: {} }))).toHaveLength(1)
  })

  it.each(['development', 'test', ''])('none is needed where it is %j', (environment) => {
    expect(inProduction(() => mistakesWith({}), environment)).toEqual([])
  })

  const onStore = { issuer: 'http://localhost', store: memoryStore() }
  const jwt = { audience: 'https://photos.example', jwks: { keys: [hub.jwk] } }
  const byKeys = { issuer: hub.issuer, jwt }
  const plugin = { name: 'test', open: () => ({}) }
  const counting = { plugins: [{ ...plugin, openInGuard: () => ({}) }] }
  // Each with a package of its own, because a process is warned once.
  it.each<[string, number, (fresh: typeof suite) => unknown]>([
    ['a server', 0, (fresh) => fresh.createAuthorizationServer(optionsWith({ store: onStore.store }))],
    ['a guard on a store', 0, (fresh) => fresh.createBearerGuard({ ...onStore, ...counting })],
    ['a guard that counts nothing', 0, (fresh) => fresh.createBearerGuard({ ...byKeys, plugins: [plugin] })],
    ['a guard whose plug-in may count', 1, (fresh) => fresh.createBearerGuard({ ...byKeys, ...counting })],
    [
      'one whose host says which counters it means',
      0,
      (fresh) => fresh.createBearerGuard({ ...byKeys, ...counting, counters: onStore.store }),
    ],
  ])('counters without a store are warned of, by %s: %i times [store-10]', (_who, times, make) => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    jest.isolateModules(() => {
      const fresh: typeof suite = require('../support/whole-suite')
      inProduction(() => make(fresh))
    })
    const given = warn.mock.calls.filter((call) => JSON.stringify(call).includes('EAS_COUNTERS_IN_MEMORY'))
    warn.mockRestore()
    expect(given).toHaveLength(times)
  })
})

it('What the host does to its options afterwards changes nothing', async () => {
  const scopes: Record<string, string> = { 'photos:read': 'See', 'photos:print': 'Print' }
  const redirect_uris = ['https://book.example/callback']
  const book = { client_id: 'book', client_type: 'public', redirect_uris, scope: 'photos:read' } as const
  const { flow } = setStage({ scopes, clients: [book], pkce: 'none' })
  scopes['admin'] = 'Everything'
  redirect_uris.push('javascript:alert(1)')
  const { body } = await flow.open('/.well-known/oauth-authorization-server')
  expect(body.scopes_supported).toEqual(['photos:read', 'photos:print'])
  const asked = { client_id: 'book', response_type: 'code', redirect_uri: 'javascript:alert(1)' }
  const outcome = await flow.ask(asked, 'alice')
  expect(outcome.status).toBeGreaterThanOrEqual(400)
  expect(outcome.headers).not.toHaveProperty('location')
})
