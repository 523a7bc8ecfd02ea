import { whoami } from '../../docs/examples/whoami'
import {
  createBearerGuard,
  implicit,
  mac,
  memoryStore,
  type PlugIn,
  type PlugInServer,
} from '../../lib/index'
import { signedFormat } from '../support/flows/signed-format'
import { issuesIn, mistakesWith, pathsWith } from '../support/rooms/mistakes'
import { type Maker, mistakesOf } from '../support/rooms/mistakes-of'
import { optionsWith, printer } from '../support/rooms/registrations'

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
const responseType = (name: string) => ({ ...implicit(), name })
const withParts = (parts: unknown, name = 'test') => ({ name, open: () => parts, openInGuard: () => parts })
const publishing = (name: string) => ({ name, publishedSubject: () => 'x' })
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

const methods = (...clientAuthenticationMethods: readonly unknown[]) => ({ clientAuthenticationMethods })
const notPlugIns = [
  null,
  7,
  'test',
  {},
  { name: 'test' },
  { name: '', open: () => ({}) },
  { open: () => ({}) },
]

describe('a server takes', () => {
  it.each<[string, Bend]>([
    ...['https://a.example/grants/x', 'urn:ietf:params:oauth:grant-type:x', 'password', 'x:y'].map(
      (name) => [`the grant type ${name}`, { grantTypes: [grantType(name)] }] as [string, Bend],
    ),
    ...['token', 'code id_token token', 'none', 'x_1'].map(
      (name) => [`the response type ${name}`, { responseTypes: [responseType(name)] }] as [string, Bend],
    ),
    ['two token types whose names differ in case', { tokenTypes: [signed, { ...own, name: 'MAC' }] }],
    ['a usual token type', { tokenTypes: [signed], tokenType: 'mac' }],
    ['two formats', { accessTokenFormats: [format, signedFormat('other')] }],
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
    [
      'a registration for the implicit grant',
      {
        responseTypes: [implicit()],
        clients: [{ ...printer, grant_types: ['implicit'], response_types: ['token'] }],
      },
    ],
    ['endpoints with names and paths of their own', { endpoints: [whoami, registration] }],
  ])('%s', (_what, bend) => {
    expect(mistakesWith(bend)).toEqual([])
  })
})

const noUri = (name: string) =>
  `grantTypes[1].name is "${name}", but must be an absolute URI, such as https://example.com/oauth/grants/voucher.`
const oddType = (name: string) =>
  `responseTypes[1].name is "${name}", but must be letters, digits and _; several values, each once, with one space between two.`

describe('a server refuses, with the path and the cure', () => {
  it.each<[Bend, readonly string[]]>([
    ...['x', 'grants/x', '/x', 'https://', 'urn:é', 'urn:a b', 'PASSWORD', '__proto__', 'constructor'].map(
      (name) => [{ grantTypes: [grantType('urn:x:1'), grantType(name)] }, [noUri(name)]] as [Bend, string[]],
    ),
    ...['authorization_code', 'refresh_token', 'client_credentials', 'implicit', 'urn:x:1'].map(
      (name) =>
        [
          { grantTypes: [grantType('urn:x:1'), grantType(name)] },
          [`grantTypes[1].name is "${name}", which another grant type has already.`],
        ] as [Bend, string[]],
    ),
    ...[' token', 'token ', 'code  token', 'code\ttoken', 'code-token', 'tökn', 'token token', 'a\n'].map(
      (name) => [{ responseTypes: [implicit(), responseType(name)] }, [oddType(name)]] as [Bend, string[]],
    ),
    ...[['code'], ['token', 'token'], ['code token', 'token code']].map(
      (names) =>
        [
          { responseTypes: names.map(responseType) },
          [
            `responseTypes[${names.length - 1}].name is "${names.at(-1)}", which another response type has already. The order of the values does not count.`,
          ],
        ] as [Bend, string[]],
    ),
    ...['two words', 'a/b', 'é', 'a"b', 'https://a.example/ b'].map(
      (name) =>
        [
          { tokenTypes: [{ ...own, name }] },
          [`tokenTypes[0].name is "${name}", but must be letters, digits and . _ -, or an absolute URI.`],
        ] as [Bend, string[]],
    ),
    ...['two words', 'a"b', 'a,b', 'é'].map(
      (scheme) =>
        [
          { tokenTypes: [{ ...own, scheme }] },
          [`tokenTypes[0].scheme is "${scheme}", which is not the name of an HTTP authentication scheme.`],
        ] as [Bend, string[]],
    ),
    [
      { tokenTypes: [{ ...own, name: 'bearer' }] },
      ['tokenTypes[0].name is "bearer", which another token type has already.'],
    ],
    [
      { tokenTypes: [signed, { ...own, scheme: 'mac' }] },
      ['tokenTypes[1].scheme is "mac", which another token type has already. Letter case does not count.'],
    ],
    [{ tokenTypes: [signed], tokenType: 'hotk' }, ['tokenType must be one of bearer, mac.']],
    [
      { accessTokenFormats: [format, format] },
      ['accessTokenFormats[1].name is "signed", which another format has already.'],
    ],
    [
      { accessTokenFormats: [signedFormat('opaque')] },
      ['accessTokenFormats[0].name is "opaque", which stands for tokens without a format.'],
    ],
    [
      { accessTokenFormats: [format], plugIns: [withParts({ accessTokenFormats: [format] })] },
      ['plugIns[0].accessTokenFormats[0].name is "signed", which another format has already.'],
    ],
    // A guard could read it, and a server could not write it.
    [
      { accessTokenFormats: [reader] },
      ['accessTokenFormats must be a list of access token formats, each with name, encode and decode.'],
    ],
    ...[
      [{ name: 'query', carrier: 'form' }, 'has "query", which the server has already.'] as const,
      [
        { name: 'Form', carrier: 'form' },
        "must be a list of response modes: name, and carrier 'form'.",
      ] as const,
      [
        { name: 'x', carrier: 'pigeon' },
        "must be a list of response modes: name, and carrier 'form'.",
      ] as const,
    ].map(
      ([mode, message]) =>
        [{ plugIns: [withParts({ responseModes: [mode] })] }, [`plugIns[0].responseModes ${message}`]] as [
          Bend,
          string[],
        ],
    ),
    ...notPlugIns.map(
      (plugIn) =>
        [{ plugIns: [plugIn] }, ['plugIns[0] must be a plug-in: name and open, optionally openInGuard.']] as [
          Bend,
          string[],
        ],
    ),
    ...[undefined, null, 7, [], Promise.resolve({})].map(
      (parts) =>
        [
          { plugIns: [withParts(parts)] },
          ['plugIns[0] must return an object of lists, such as { grantTypes }, and not a promise.'],
        ] as [Bend, string[]],
    ),
    [
      { plugIns: [withParts({}), withParts({})] },
      ['plugIns[1].name is "test", which another plug-in has already.'],
    ],
    [
      {
        dynamicRegistration: {},
        plugIns: [withParts({ endpoints: [{ ...whoami, name: 'registration', path: '/x' }] })],
      },
      [
        'dynamicRegistration.registrationPath belongs to the endpoint registration, whose name plugIns[0].endpoints[0] has.',
      ],
    ],
    [
      { extensions: [publishing('a')], plugIns: [withParts({ extensions: [publishing('b')] })] },
      ['plugIns[0].extensions[0].publishedSubject is a function that another extension has already.'],
    ],
    ...['authorization', 'token', 'revocation', 'introspection'].map(
      (name) =>
        [
          { endpoints: [{ ...whoami, name }] },
          [`endpoints[0].name is "${name}", which another endpoint has already.`],
        ] as [Bend, string[]],
    ),
    [{ endpoints: [{ ...whoami, path: '/token' }] }, ['endpoints[0].path must differ from paths.token.']],
    [
      { endpoints: [whoami], paths: { introspection: '/whoami' } },
      ['endpoints[0].path must differ from paths.introspection.'],
    ],
    [
      { endpoints: [whoami, { ...whoami, name: 'me' }] },
      ['endpoints[1].path must differ from endpoints[0].path.'],
    ],
  ])('%j', (bend, problems) => {
    expect(problemsOf(bend)).toEqual(problems)
  })

  it.each<[string, unknown, string]>([
    ['null', null, ''],
    ['a text', 'sealed', ''],
    ['a list', [], ''],
    ['no name', { ...sealed, name: undefined }, '.name'],
    ['an empty name', { ...sealed, name: '' }, '.name'],
    ['a name with a space', { ...sealed, name: 'a b' }, '.name'],
    ['a name with a quote', { ...sealed, name: 'a"b' }, '.name'],
    ['a name of a prototype', { ...sealed, name: '__proto__' }, '.name'],
    ['the name of Basic', { ...sealed, name: 'client_secret_basic' }, '.name'],
    ['the name of the body', { ...sealed, name: 'client_secret_post' }, '.name'],
    ['the name of no method', { ...sealed, name: 'none' }, '.name'],
    ['the scheme of Basic', { ...sealed, scheme: 'Basic' }, '.scheme'],
    ['the scheme of Basic in other case', { ...sealed, scheme: 'BASIC' }, '.scheme'],
    ['an empty scheme', { ...sealed, scheme: '' }, '.scheme'],
    ['a scheme of two words', { ...sealed, scheme: 'Sealed wax' }, '.scheme'],
    ['a scheme that would end the header', { ...sealed, scheme: 'Sealed\r\nX: y' }, '.scheme'],
    ['a scheme that would add a challenge', { ...sealed, scheme: 'Sealed,Basic' }, '.scheme'],
    ['no read', { ...sealed, read: undefined }, '.read'],
    ['no verify', { ...sealed, verify: true }, '.verify'],
    ['a rule that is no function', { ...sealed, mistakeIn: /wax/ }, '.mistakeIn'],
    ['parameters in one text', { ...sealed, credentialParameters: 'seal' }, '.credentialParameters'],
    ['signed assertions by nothing named', { ...sealed, name: 'private_key_jwt' }, '.signingAlgorithms'],
    ['an empty list of algorithms', { ...sealed, signingAlgorithms: [] }, '.signingAlgorithms'],
    ['assertions without a signature', { ...sealed, signingAlgorithms: ['None'] }, '.signingAlgorithms'],
  ])('as a method of authentication %s', (_what, method, field) => {
    expect(pathsWith(methods(method))).toEqual([`clientAuthenticationMethods[0]${field}`])
  })

  it.each<[string, object, string]>([
    ['no name', { name: undefined }, '.name'],
    ['a name in capitals', { name: 'Whoami' }, '.name'],
    ['a name with a hyphen', { name: 'who-am-i' }, '.name'],
    ['the name of a prototype', { name: '__proto__' }, '.name'],
    ['no path', { path: undefined }, '.path'],
    ['a path that no URL has', { path: 'whoami' }, '.path'],
    ['a path with a query', { path: '/whoami?x' }, '.path'],
    ['a path that is well-known', { path: '/.well-known/openid-configuration' }, '.path'],
    ['another method', { method: 'PATCH' }, '.method'],
    ['no method at all', { method: [] }, '.method'],
    ['a method twice', { method: ['GET', 'GET'] }, '.method'],
    ['another method among others', { method: ['GET', 'PATCH'] }, '.method'],
    ['a method in small letters', { method: 'get' }, '.method'],
    ['a body of a DELETE', { method: ['GET', 'DELETE'], body: 'json' }, '.body'],
    ['another body', { method: 'POST', body: 'xml' }, '.body'],
    ['a body of a GET', { body: 'json' }, '.body'],
    ['a listing that is neither', { listed: 'no' }, '.listed'],
    ['origins of its own', { cors: { origins: ['https://app.example'] } }, '.cors'],
    ['another way of authentication', { clientAuthentication: true }, '.clientAuthentication'],
    ['a status that is no error', { errorStatus: { slow_down: 200 } }, '.errorStatus'],
    ['a status that is no number', { errorStatus: { slow_down: '400' } }, '.errorStatus'],
    ['metadata that no document can have', { metadata: { x: 7 } }, '.metadata'],
    ['no handle', { handle: undefined }, '.handle'],
    ['a member that is not known', { handler: 7 }, '.handler'],
    ['a flag that is a text', { duringMaintenance: 'yes' }, '.duringMaintenance'],
    ['another kind', { kind: 'form' }, '.kind'],
    ['a page at another method', { kind: 'page', method: ['GET', 'PUT'] }, '.method'],
    ['a page for perhaps a login', { kind: 'page', login: 'maybe' }, '.login'],
    ['a page with a flag that is a text', { kind: 'page', fromOtherSites: 'yes' }, '.fromOtherSites'],
    ['a page without handle', { kind: 'page', handle: undefined }, '.handle'],
    ['a page with a body', { kind: 'page', body: 'form' }, '.body'],
  ])('an endpoint with %s', (_what, bend, field) => {
    expect(pathsWith({ endpoints: [{ ...whoami, ...bend }] })).toEqual([`endpoints[0]${field}`])
  })

  it.each([null, 7, 'whoami', []])('%j in place of an endpoint', (endpoint) => {
    expect(pathsWith({ endpoints: [endpoint] })).toEqual(['endpoints[0]'])
  })

  const parts = ['atAuthorizationRequest', 'atTokenRequest', 'atResourceRequest', 'introspect', 'access']
  const lists = ['authorizationParameters', 'tokenParameters', 'credentialParameters', 'exposedHeaders']
  it.each<[string, Bend]>([
    ...[...parts, ...lists, 'prepare', 'atTokenResponse', 'publishedSubject'].flatMap((part) =>
      [7, null, 'x', {}, [7]].map((wrong) => ['extensions', { name: 'x', [part]: wrong }] as [string, Bend]),
    ),
    // No error could name such a parameter.
    ...['größe', 'a"b', 'a\\b', 'a b', ''].map(
      (name) => ['extensions', { name: 'x', tokenParameters: [name] }] as [string, Bend],
    ),
    ['extensions', { name: 'x', exposedHeaders: ['a b'] }],
    ['tokenTypes', { ...own, challenge: {} }],
    ['tokenTypes', { ...own, opaque: 'yes' }],
    ['tokenTypes', { ...own, exposedHeaders: [''] }],
    ['grantTypes', { ...grantType('urn:x:1'), refreshTokens: 'no' }],
    ['grantTypes', { ...grantType('urn:x:1'), publicClients: 0 }],
    ...[{ a: 1 }, { a: [1] }, { a: null }, 'a', ['a']].map(
      (metadata) => ['grantTypes', { ...grantType('urn:x:1'), metadata }] as [string, Bend],
    ),
    ['accessTokenFormats', { name: 'x' }],
    ['accessTokenFormats', { ...format, name: '' }],
  ])('%s with %j', (option, part) => {
    // A guard has no grant types.
    for (const problems of option === 'grantTypes' ? [problemsOf] : [problemsOf, ofGuard])
      expect(problems({ [option]: [part] })).toEqual([expect.stringMatching(`^${option} must be a list of`)])
  })
})

describe('a plug-in', () => {
  it.each([
    ['grantTypes', [grantType('urn:x:1'), grantType('x')], 'grantTypes[1].name'],
    ['endpoints', [{ ...whoami, path: 'x' }], 'endpoints[0].path'],
    ['extensions', [{ name: 'pkce' }], 'extensions[0].name'],
    ['responseTypes', [responseType('token token')], 'responseTypes[0].name'],
    ['tokenTypes', [{ ...signed, scheme: 'a b' }], 'tokenTypes[0].scheme'],
    ['clientAuthenticationMethods', [{ ...sealed, name: 7 }], 'clientAuthenticationMethods[0].name'],
    ['grantTypes', 7, 'grantTypes'],
  ])('has %s by the rules of the option, and its path is named', (key, list, path) => {
    expect(pathsWith({ plugIns: [withParts({}, 'first'), withParts({ [key]: list })] })).toEqual([
      `plugIns[1].${path}`,
    ])
  })

  it.each([
    ['grantTypes', grantType('urn:x:1')],
    ['extensions', { name: 'a' }],
    ['responseTypes', responseType('token')],
    ['clientAuthenticationMethods', sealed],
    ['endpoints', whoami],
    ['tokenTypes', signed],
  ])('may use no name of %s twice, among options and plug-ins', (key, part) => {
    const parts = { [key]: [part] }
    expect(pathsWith({ ...parts, plugIns: [withParts(parts)] })).toContain(`plugIns[0].${key}[0].name`)
    expect(pathsWith({ plugIns: [withParts(parts, 'a'), withParts(parts, 'b')] })).toContain(
      `plugIns[1].${key}[0].name`,
    )
  })

  it('that cannot be opened, or has a hook for guards that is none, is named beside every other mistake', () => {
    const open = () => {
      throw new TypeError('The key is missing.')
    }
    const plugIns = [withParts({}), { name: 'b', open }, { ...withParts({}, 'c'), openInGuard: 7 }]
    expect(problemsOf({ pkce: 'x', plugIns })).toEqual([
      'plugIns[1] cannot be opened: The key is missing.',
      'plugIns[2] must be a plug-in: name and open, optionally openInGuard.',
      expect.stringMatching(/^pkce /),
    ])
    const [mistake = ''] = problemsOf({ plugIns: [withParts({ endpoint: [] })] })
    expect(mistake).toMatch(/^plugIns\[0\]\.endpoint is not known here\. Did you mean endpoints\?/)
  })

  it('is opened by a guard only for what guards know, by the same rules', () => {
    const forServers = { name: 'test', open: () => 7 }
    const wrong = { tokenTypes: [{ ...signed, name: 'a b' }], grantTypes: [] }
    expect(ofGuard({ plugIns: [forServers], accessTokenFormats: [reader] })).toEqual([])
    expect(ofGuard({ plugIns: [withParts(wrong)] })).toEqual([
      expect.stringMatching(/^plugIns\[0\]\.tokenTypes\[0\]\.name /),
      expect.stringMatching(/^plugIns\[0\]\.grantTypes /),
    ])
    expect(ofGuard({ plugIns: [withParts(7), 7] })).toEqual([
      expect.stringMatching(/^plugIns\[0\] /),
      expect.stringMatching(/^plugIns\[1\] /),
    ])
  })

  it('sees the issuer, URLs below it, the time, the storage, and what a new record needs', () => {
    const store = memoryStore()
    const seen: unknown[] = []
    const look = (server: PlugInServer) => {
      const { issuer, storage } = server
      seen.push(issuer, server.urlOf('/push'), server.now(), server.random(3).length, storage === store)
      seen.push(server.context().now, server.context().lifetimes.authorizationRequest)
      return {}
    }
    const plugIn: PlugIn = { name: 'test', open: look }
    const issuer = 'http://localhost/oauth'
    expect(issuesIn(optionsWith({ issuer, store, clock: () => 7999, plugIns: [plugIn] }))).toEqual([])
    expect(seen).toEqual([issuer, `${issuer}/push`, 7, 3, true, 7, 600])
  })

  it.each<[string, (server: PlugInServer) => unknown]>([
    ['findClient', (server) => server.findClient('a')],
    ['find', (server) => server.find('a')],
    ['commit', (server) => server.commit('a', () => ({ action: 'none', outcome: 1 }))],
    ['counters.add', (server) => server.counters.add('a', 1, 1)],
    ['counters.useOnce', (server) => server.counters.useOnce('a', 1, 'b')],
  ])('may use %s in requests only', (member, use) => {
    const open = (server: PlugInServer) => {
      void use(server)
      return {}
    }
    expect(problemsOf({ plugIns: [{ name: 'test', open }] })).toEqual([
      `plugIns[0] cannot be opened: ${member}() needs the running server: call it in a request, and not in open().`,
    ])
  })
})

describe('all mistakes are reported at once, and none that only follows from another:', () => {
  it.each<[string, Bend, readonly string[]]>([
    [
      'methods of one name, and of one scheme in whatever case',
      methods({ ...sealed, scheme: 'Sealed' }, sealed, { ...sealed, name: 'other', scheme: 'SEALED' }),
      ['clientAuthenticationMethods[1].name', 'clientAuthenticationMethods[2].scheme'],
    ],
    [
      'a faulty method, and a client of it',
      { ...methods({ name: 'sealed', scheme: 'a b' }), clients: [client] },
      [
        'clientAuthenticationMethods[0].scheme',
        'clientAuthenticationMethods[0].read',
        'clientAuthenticationMethods[0].verify',
      ],
    ],
    [
      'a client of a method that the server does not have',
      { clients: [client] },
      ['clients[0].credentials.sealed', 'clients[0].token_endpoint_auth_method'],
    ],
    [
      'a client of a response type that the server does not have',
      { clients: [{ ...printer, grant_types: ['implicit'], response_types: ['token'] }] },
      ['clients[0].grant_types', 'clients[0].response_types'],
    ],
    [
      'three endpoints',
      {
        endpoints: [{ ...whoami, name: 7, method: 'PATCH' }, whoami, { ...whoami, name: 7, method: 'PATCH' }],
      },
      [
        'endpoints[0].name',
        'endpoints[0].method',
        'endpoints[1].path',
        'endpoints[2].name',
        'endpoints[2].path',
        'endpoints[2].method',
      ],
    ],
    [
      'two endpoints of one name',
      { endpoints: [whoami, { ...whoami, path: '/other' }] },
      ['endpoints[1].name'],
    ],
    [
      'extensions that publish subjects',
      { extensions: [publishing('a'), publishing('b')] },
      ['extensions[1].publishedSubject'],
    ],
  ])('%s', (_what, bend, paths) => {
    expect(pathsWith(bend)).toEqual(paths)
  })
})
