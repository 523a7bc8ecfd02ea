import { whoami } from '../../docs/examples/whoami'
import { implicit, memoryStore, type Plugin, type PluginServer } from '../../lib/index'
import { dpop } from '../../lib/paths/dpop'
import { createBearerGuard } from '../../lib/paths/guards'
import { mac } from '../../lib/paths/mac'
import { signedFormat } from '../support/flows/signed-format'
import { issuesIn, mistakesWith, pathsWith } from '../support/mistakes'
import { type Maker, mistakesOf } from '../support/mistakes-of'
import { optionsWith, printer } from '../support/registrations'

type Bend = Readonly<Record<string, unknown>>
const problemsOf = (bend: Bend) => mistakesWith(bend).map(({ path, message }) => `${path} ${message}`)
const guard: Maker = { make: createBearerGuard }
const ofGuard = (options: object) =>
  mistakesOf(guard, { issuer: 'http://localhost', store: memoryStore(), ...options }).map(
    ({ path, message }) => `${path} ${message}`,
  )

const grantType = (name: string) => ({ name, parameters: [], handle: async () => ({}) })
const sealed = { name: 'sealed', read: () => undefined, verify: async () => false }
const own = { name: 'own', scheme: 'Own', read: () => undefined }
const signed = mac({ hosts: ['api.example.com'] })
const format = signedFormat('signed')
const reader = { name: 'signed', decode: (text: string) => format.decode(text) }
const responseType = (name: string) => ({ ...implicit().responseTypes[0], name })
const responseTypes = (...names: readonly string[]) => ({
  name: 'types',
  responseTypes: names.map(responseType),
})
const withParts = (parts: unknown, name = 'test') => ({ name, open: () => parts, openInGuard: () => parts })
const publishing = (name: string) => ({
  name,
  clientMembers: [{ name, mistakeIn: () => undefined, subjectFor: () => 'x' }],
})
const slideshow = { ...printer, grant_types: ['implicit'], response_types: ['token'] }
const client = { ...printer, token_endpoint_auth_method: 'sealed', credentials: { sealed: 'wax' } }
const registration = {
  name: 'registration',
  path: '/register',
  body: 'json',
  clientAuthentication: 'none',
  errorStatus: { invalid_token: 401 },
  metadata: { registration_note: 'x', registration_notes: ['y'], registration_open: true },
  handle: async () => ({ members: {} }),
}
class Sealed {
  readonly name = 'sealed'
  read() {
    return undefined
  }
  async verify() {
    return this.name === 'sealed'
  }
}

const methods = (...clientAuthenticationMethods: readonly unknown[]) => ({
  plugins: [{ name: 'host-methods', clientAuthenticationMethods }],
})
const notPlugins = [
  null,
  7,
  'test',
  {},
  { name: 'test' },
  { name: '', open: () => ({}) },
  { open: () => ({}) },
]

const second = (name: string) => ({
  plugins: [{ name: 'host-grant-types', grantTypes: [grantType('urn:x:1'), grantType(name)] }],
})
const typeNamed = (bend: object) => ({
  plugins: [{ name: 'host-token-types', tokenTypes: [{ ...own, ...bend }] }],
})
const ofPlugin = (parts: unknown) => ({ plugins: [withParts(parts)] })
const registering = { ...whoami, name: 'registration', path: '/x' }
const oddNames = [
  'x',
  'grants/x',
  '/x',
  'https://',
  'urn:é',
  'urn:a b',
  'PASSWORD',
  '__proto__',
  'constructor',
]
const takenNames = ['authorization_code', 'refresh_token', 'client_credentials', 'implicit', 'urn:x:1']
const oddTypes = [
  ' token',
  'token ',
  'code  token',
  'code\ttoken',
  'code-token',
  'tökn',
  'token token',
  'a\n',
]
const twice = [['code'], ['token', 'token'], ['code token', 'token code']]
const modes = [
  [{ name: 'query', carrier: 'form' }, 'name is "query", which the server has already.'],
  [{ name: 'Form', carrier: 'form' }, 'name must be lower-case letters, digits, _ and .'],
  [{ name: 'x', carrier: 'pigeon' }, "carrier must be 'form'."],
] as const

describe('a server takes', () => {
  it.each<readonly [string, Bend]>([
    [
      'grant types',
      {
        plugins: [
          {
            name: 'host-grant-types',
            grantTypes: ['https://a.example/grants/x', 'password', 'x:y'].map(grantType),
          },
        ],
      },
    ],
    ['response types', { plugins: [responseTypes('token', 'code id_token token', 'none', 'x_1')] }],
    [
      'two token types whose names differ in case',
      { plugins: [signed, { name: 'host-token-types', tokenTypes: [{ ...own, name: 'MAC' }] }] },
    ],
    ['a usual token type', { plugins: [signed], tokenType: 'mac' }],
    [
      'two formats',
      { plugins: [{ name: 'host-formats', accessTokenFormats: [format, signedFormat('other')] }] },
    ],
    ['a method', methods(sealed)],
    ['a method with a scheme', methods({ ...sealed, scheme: 'Sealed' })],
    ['a method that is named by a URI', methods({ ...sealed, name: 'https://a.example/sealed' })],
    ['a method with a rule for registrations', methods({ ...sealed, mistakeIn: () => undefined })],
    [
      'a method with algorithms',
      methods({ ...sealed, name: 'private_key_jwt', signingAlgorithms: ['ES256'] }),
    ],
    ['a method with fields of its own', methods({ ...sealed, seals: 7 })],
    ['a method that is an object of a class', methods(new Sealed())],
    ['a registration for a method of its own', { ...methods(sealed), clients: [client] }],
    ['a registration for the implicit grant', { plugins: [implicit()], clients: [slideshow] }],
    [
      'endpoints with names and paths of their own',
      { plugins: [{ name: 'host-endpoints', endpoints: [whoami, registration] }] },
    ],
  ])('%s', (_what, bend) => {
    expect(mistakesWith(bend)).toEqual([])
  })
})

describe('a server refuses, with the path and the cure', () => {
  type Row = readonly [Bend, string]
  it.each<Row>([
    ...oddNames.map((name): Row => [
      second(name),
      `plugins[0].grantTypes[1].name is "${name}", but must be an absolute URI, such as https://example.com/oauth/grants/voucher.`,
    ]),
    ...takenNames.map((name): Row => [
      second(name),
      `plugins[0].grantTypes[1].name is "${name}", which another grant type has already.`,
    ]),
    ...oddTypes.map((name): Row => [
      { plugins: [implicit(), responseTypes(name)] },
      `plugins[1].responseTypes[0].name is "${name}", but must be letters, digits and _; several values, each once, with one space between two.`,
    ]),
    ...twice.map((names): Row => [
      { plugins: [responseTypes(...names)] },
      `plugins[0].responseTypes[${names.length - 1}].name is "${names.at(-1)}", which another response type has already. The order of the values does not count.`,
    ]),
    ...['two words', 'a/b', 'é', 'a"b', 'https://a.example/ b'].map((name): Row => [
      typeNamed({ name }),
      `plugins[0].tokenTypes[0].name is "${name}", but must be letters, digits and . _ -, or an absolute URI.`,
    ]),
    ...['two words', 'a"b', 'a,b', 'é'].map((scheme): Row => [
      typeNamed({ scheme }),
      `plugins[0].tokenTypes[0].scheme is "${scheme}", which is not the name of an HTTP authentication scheme.`,
    ]),
    [
      typeNamed({ name: 'bearer' }),
      'plugins[0].tokenTypes[0].name is "bearer", which another token type has already.',
    ],
    [
      { plugins: [signed, { name: 'host-token-types', tokenTypes: [{ ...own, scheme: 'mac' }] }] },
      'plugins[1].tokenTypes[0].scheme is "mac", which another token type has already. Letter case does not count.',
    ],
    [{ plugins: [signed], tokenType: 'hotk' }, 'tokenType must be one of bearer, mac.'],
    [
      { plugins: [{ name: 'host-formats', accessTokenFormats: [format, format] }] },
      'plugins[0].accessTokenFormats[1].name is "signed", which another format has already.',
    ],
    [
      { plugins: [{ name: 'host-formats', accessTokenFormats: [signedFormat('opaque')] }] },
      'plugins[0].accessTokenFormats[0].name is "opaque", which stands for tokens without a format.',
    ],
    [
      {
        plugins: [
          { name: 'host-formats', accessTokenFormats: [format] },
          withParts({ accessTokenFormats: [format] }),
        ],
      },
      'plugins[1].accessTokenFormats[0].name is "signed", which another format has already.',
    ],
    // A guard could read it, and a server could not write it.
    [
      { plugins: [{ name: 'host-formats', accessTokenFormats: [reader] }] },
      'plugins[0].accessTokenFormats[0].encode is missing: it must be a function.',
    ],
    ...modes.map(([mode, message]): Row => [
      ofPlugin({ responseModes: [mode] }),
      `plugins[0].responseModes[0].${message}`,
    ]),
    ...notPlugins.map((plugin): Row => [
      { plugins: [plugin] },
      'plugins[0] must be a plug-in: an object with a name, and with open() or parts such as grantTypes or prepare().',
    ]),
    [{ plugins: [dpop] }, 'plugins[0] is a function that makes a plug-in: call it, as in plugins: [dpop()].'],
    [{ plugins: [dpop(), dpop()] }, 'plugins[1].name is "dpop", which another plug-in has already.'],
    ...[undefined, null, 7, [], Promise.resolve({})].map((parts): Row => [
      ofPlugin(parts),
      'plugins[0] must return an object of lists, such as { grantTypes }, and not a promise.',
    ]),
    [
      { plugins: [withParts({}), withParts({})] },
      'plugins[1].name is "test", which another plug-in has already.',
    ],
    [
      {
        dynamicRegistration: {},
        ...ofPlugin({ endpoints: [registering] }),
      },
      'dynamicRegistration.registrationPath belongs to the endpoint registration, whose name plugins[0].endpoints[0] has.',
    ],
    [
      { plugins: [publishing('a'), publishing('b')] },
      'plugins[1].clientMembers[0].subjectFor is a function that another member has already.',
    ],
    ...['authorization', 'token', 'revocation', 'introspection'].map((name): Row => [
      { plugins: [{ name: 'host-endpoints', endpoints: [{ ...whoami, name }] }] },
      `plugins[0].endpoints[0].name is "${name}", which another endpoint has already.`,
    ]),
    [
      { plugins: [{ name: 'host-endpoints', endpoints: [{ ...whoami, path: '/token' }] }] },
      'plugins[0].endpoints[0].path must differ from paths.token.',
    ],
    [
      { plugins: [{ name: 'host-endpoints', endpoints: [whoami] }], paths: { introspection: '/whoami' } },
      'plugins[0].endpoints[0].path must differ from paths.introspection.',
    ],
    [
      { plugins: [{ name: 'host-endpoints', endpoints: [whoami, { ...whoami, name: 'me' }] }] },
      'plugins[0].endpoints[1].path must differ from plugins[0].endpoints[0].path.',
    ],
  ])('%j', (bend, problem) => {
    expect(problemsOf(bend)).toEqual([problem])
  })

  // The field, values that are wrong for it, and what else the method or the endpoint has.
  type Fields = readonly [field: string, wrong: readonly unknown[], others: object]
  it.each<Fields>([
    [
      'name',
      [undefined, '', 'a b', 'a"b', '__proto__', 'client_secret_basic', 'client_secret_post', 'none'],
      {},
    ],
    // The scheme of Basic in any case, and what would end the header or add a challenge.
    ['scheme', ['Basic', 'BASIC', '', 'Sealed wax', 'Sealed\r\nX: y', 'Sealed,Basic'], {}],
    ['read', [undefined], {}],
    ['verify', [true], {}],
    ['mistakeIn', [/wax/], {}],
    ['credentialParameters', ['seal'], {}],
    ['signingAlgorithms', [[], ['None']], {}],
    ['signingAlgorithms', [undefined], { name: 'private_key_jwt' }],
  ])('the %s of a method of authentication: %j, beside %j', (field, values, others) => {
    for (const value of values)
      expect([value, pathsWith(methods({ ...sealed, ...others, [field]: value }))]).toEqual([
        value,
        [`plugins[0].clientAuthenticationMethods[0].${field}`],
      ])
  })

  const page = { kind: 'page' }
  it.each<Fields>([
    ['name', [undefined, 'Whoami', 'who-am-i', '__proto__'], {}],
    ['path', [undefined, 'whoami', '/whoami?x', '/.well-known/openid-configuration'], {}],
    ['method', ['PATCH', [], ['GET', 'GET'], ['GET', 'PATCH'], 'get'], {}],
    ['body', ['json'], {}],
    ['body', ['json'], { method: ['GET', 'DELETE'] }],
    ['body', ['xml'], { method: 'POST' }],
    ['listed', ['no'], {}],
    ['cors', [{ origins: ['https://app.example'] }], {}],
    ['clientAuthentication', [true], {}],
    ['errorStatus', [{ slow_down: 200 }, { slow_down: '400' }], {}],
    ['metadata', [{ x: 7 }], {}],
    ['duringMaintenance', ['yes'], {}],
    ['handle', [undefined], {}],
    ['handler', [7], {}],
    ['kind', ['form'], {}],
    ['method', [['GET', 'PUT']], page],
    ['login', ['maybe'], page],
    ['fromOtherSites', ['yes'], page],
    ['handle', [undefined], page],
    ['body', ['form'], page],
  ])('the %s of an endpoint: %j, beside %j', (field, values, others) => {
    for (const value of values)
      expect([
        value,
        pathsWith({
          plugins: [{ name: 'host-endpoints', endpoints: [{ ...whoami, ...others, [field]: value }] }],
        }),
      ]).toEqual([value, [`plugins[0].endpoints[0].${field}`]])
  })

  it.each([null, 7, 'whoami', []])('%j in place of an endpoint or a method', (part) => {
    expect(pathsWith({ plugins: [{ name: 'host-endpoints', endpoints: [part] }] })).toEqual([
      'plugins[0].endpoints[0]',
    ])
    expect(pathsWith(methods(part))).toEqual(['plugins[0].clientAuthenticationMethods[0]'])
  })

  const parts = ['authorize', 'issue', 'admit', 'describe']
  const lists = ['authorizationParameters', 'tokenParameters', 'credentialParameters', 'exposedHeaders']
  const named = grantType('urn:x:1')
  type Part = readonly [string, Bend]
  it.each<Part>([
    ...[...parts, ...lists, 'prepare', 'respond'].flatMap((part) =>
      [7, null, 'x', {}, [7]].map((wrong): Part => ['', { [part]: wrong }]),
    ),
    // No error could name such a parameter.
    ...['größe', 'a"b', 'a\\b', 'a b', ''].map((name): Part => ['', { tokenParameters: [name] }]),
    ['', { exposedHeaders: ['a b'] }],
    ['clientMembers', { name: 'a', mistakeIn: () => undefined, subjectFor: 'x' }],
    ['tokenTypes', { ...own, challenge: {} }],
    ['tokenTypes', { ...own, opaque: 'yes' }],
    ['tokenTypes', { ...own, exposedHeaders: [''] }],
    ['grantTypes', { ...named, refreshTokens: 'no' }],
    ['grantTypes', { ...named, publicClients: 0 }],
    ...[{ a: 1 }, { a: [1] }, { a: null }, 'a', ['a']].map((metadata): Part => [
      'grantTypes',
      { ...named, metadata },
    ]),
    ['accessTokenFormats', { name: 'x' }],
    ['accessTokenFormats', { ...format, name: '' }],
  ])('%s with %j', (list, part) => {
    const plugin = list === '' ? { name: 'x', ...part } : { name: 'x', [list]: [part] }
    const path = list === '' ? '' : `\\.${list}\\[0\\]`
    const isForGuards = ['tokenTypes', 'admit', 'describe'].some((each) => each in plugin)
    for (const problems of isForGuards ? [problemsOf, ofGuard] : [problemsOf])
      expect(problems({ plugins: [plugin] })[0]).toMatch(
        new RegExp(`^plugins\\[0\\]${path}\\.\\w+ (must be|is missing)`),
      )
  })
})

describe('a plug-in', () => {
  it.each([
    ['grantTypes', [grantType('urn:x:1'), grantType('x')], 'grantTypes[1].name'],
    ['endpoints', [{ ...whoami, path: 'x' }], 'endpoints[0].path'],
    ['responseTypes', [responseType('token token')], 'responseTypes[0].name'],
    ['tokenTypes', [{ ...own, scheme: 'a b' }], 'tokenTypes[0].scheme'],
    ['clientAuthenticationMethods', [{ ...sealed, name: 7 }], 'clientAuthenticationMethods[0].name'],
    ['grantTypes', 7, 'grantTypes'],
  ])('has %s by the same rules from open(), and their path is named', (key, list, path) => {
    expect(pathsWith({ plugins: [withParts({}, 'first'), withParts({ [key]: list })] })).toEqual([
      `plugins[1].${path}`,
    ])
  })

  it.each([
    ['grantTypes', grantType('urn:x:1')],
    ['responseTypes', responseType('token')],
    ['clientAuthenticationMethods', sealed],
    ['endpoints', whoami],
    ['tokenTypes', own],
  ])('may use no name of %s twice, whether it stands in the plug-in or comes from open()', (key, part) => {
    const parts = { [key]: [part] }
    for (const first of [{ name: 'a', ...parts }, withParts(parts, 'a')])
      expect(pathsWith({ plugins: [first, withParts(parts, 'b')] })).toContain(`plugins[1].${key}[0].name`)
  })

  it('has no name of the server itself, if it acts at a door', () => {
    expect(pathsWith({ plugins: [{ name: 'pkce', prepare: async () => 1 }] })).toEqual(['plugins[0].name'])
  })

  it('that cannot be opened, or has a hook for guards that is none, is named beside every other mistake', () => {
    const open = () => {
      throw new TypeError('The key is missing.')
    }
    const plugins = [withParts({}), { name: 'b', open }, { ...withParts({}, 'c'), openInGuard: 7 }]
    expect(problemsOf({ pkce: 'x', plugins })).toEqual([
      expect.stringMatching(/^pkce /),
      'plugins[1] cannot be opened: The key is missing.',
      'plugins[2] must be a plug-in: an object with a name, and with open() or parts such as grantTypes or prepare().',
    ])
    const [mistake = ''] = problemsOf({ plugins: [withParts({ endpoint: [] })] })
    expect(mistake).toMatch(/^plugins\[0\]\.endpoint is not known here\. Did you mean endpoints\?/)
  })

  it('is opened by a guard only for what guards know, by the same rules', () => {
    const forServers = { name: 'test', open: () => 7 }
    const wrong = { grantTypes: [], tokenTypes: [{ ...own, name: 'a b' }] }
    expect(
      ofGuard({ plugins: [{ name: 'host-formats', accessTokenFormats: [reader] }, forServers] }),
    ).toEqual([])
    expect(ofGuard({ plugins: [withParts(wrong)] })).toEqual([
      expect.stringMatching(/^plugins\[0\]\.grantTypes /),
      expect.stringMatching(/^plugins\[0\]\.tokenTypes\[0\]\.name /),
    ])
    expect(ofGuard({ plugins: [withParts(7), 7] })).toEqual([
      expect.stringMatching(/^plugins\[0\] /),
      expect.stringMatching(/^plugins\[1\] /),
    ])
  })

  it('sees the issuer, URLs below it, the time, the storage, and what a new record needs', () => {
    const store = Object.assign(memoryStore(), { place: 'the shelf' })
    const seen: unknown[] = []
    const look = (server: PluginServer) => {
      const { issuer, storage } = server
      seen.push(issuer, server.urlOf('/push'), server.now(), server.random(3).length, storage.place)
      seen.push(server.context().now, server.context().lifetimes.authorizationRequest)
      return {}
    }
    const plugin: Plugin = { name: 'test', open: look }
    const issuer = 'http://localhost/oauth'
    expect(issuesIn(optionsWith({ issuer, store, clock: () => 7999, plugins: [plugin] }))).toEqual([])
    expect(seen).toEqual([issuer, `${issuer}/push`, 7, 3, 'the shelf', 7, 600])
  })

  it.each<[string, (server: PluginServer) => unknown]>([
    ['findClient', (server) => server.findClient('a')],
    ['find', (server) => server.find('a')],
    ['commit', (server) => server.commit('a', () => ({ action: 'none', outcome: 1 }))],
    ['counters.add', (server) => server.counters.add('a', 1, 1)],
    ['counters.useOnce', (server) => server.counters.useOnce('a', 1, 'b')],
  ])('may use %s in requests only', (member, use) => {
    const open = (server: PluginServer) => {
      void use(server)
      return {}
    }
    expect(problemsOf({ plugins: [{ name: 'test', open }] })).toEqual([
      `plugins[0] cannot be opened: ${member}() needs the running server: call it in a request, and not in open().`,
    ])
  })
})

describe('all mistakes are reported at once, and none that only follows from another:', () => {
  it.each<[string, Bend, readonly string[]]>([
    [
      'methods of one name, and of one scheme in whatever case',
      methods({ ...sealed, scheme: 'Sealed' }, sealed, { ...sealed, name: 'other', scheme: 'SEALED' }),
      ['plugins[0].clientAuthenticationMethods[1].name', 'plugins[0].clientAuthenticationMethods[2].scheme'],
    ],
    [
      'a faulty method, and a client of it',
      { ...methods({ name: 'sealed', scheme: 'a b' }), clients: [client] },
      [
        'plugins[0].clientAuthenticationMethods[0].scheme',
        'plugins[0].clientAuthenticationMethods[0].read',
        'plugins[0].clientAuthenticationMethods[0].verify',
      ],
    ],
    [
      'a client of a method that the server does not have',
      { clients: [client] },
      ['clients[0].credentials.sealed', 'clients[0].token_endpoint_auth_method'],
    ],
    [
      'a client of a response type that the server does not have',
      { clients: [slideshow] },
      ['clients[0].grant_types', 'clients[0].response_types'],
    ],
    [
      'three endpoints',
      {
        plugins: [
          {
            name: 'host-endpoints',
            endpoints: [
              { ...whoami, name: 7, method: 'PATCH' },
              whoami,
              { ...whoami, name: 7, method: 'PATCH' },
            ],
          },
        ],
      },
      [
        'plugins[0].endpoints[0].name',
        'plugins[0].endpoints[0].method',
        'plugins[0].endpoints[1].path',
        'plugins[0].endpoints[2].name',
        'plugins[0].endpoints[2].path',
        'plugins[0].endpoints[2].method',
      ],
    ],
    [
      'two endpoints of one name',
      { plugins: [{ name: 'host-endpoints', endpoints: [whoami, { ...whoami, path: '/other' }] }] },
      ['plugins[0].endpoints[1].name'],
    ],
    [
      'members that publish subjects',
      { plugins: [publishing('a'), publishing('b')] },
      ['plugins[1].clientMembers[0].subjectFor'],
    ],
  ])('%s', (_what, bend, paths) => {
    expect(pathsWith(bend)).toEqual(paths)
  })
})
