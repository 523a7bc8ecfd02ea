import { runInNewContext } from 'node:vm'
import { ConfigurationError, type ConfigurationIssue } from '../../lib/primitives/configuration-error'
import {
  type AuthenticationMethodDescription,
  hasCredentialFor,
  hasCredentials,
  isBcryptHash,
  isSecretHash,
} from '../../lib/protocol/client'
import { largestMembers } from '../../lib/protocol/parameters'
import {
  anyCapabilities,
  parseClient,
  parseStoredClient,
  registrationOf,
  type ServerCapabilities,
} from '../../lib/protocol/parse-client'
import {
  canonicalResponseType,
  isResponseTypeName,
  responseTypeNamed,
} from '../../lib/protocol/response-types'
import { capabilities as usual, clientWith, registration } from '../support/client'

type Bend = Readonly<Record<string, unknown>>

const methods: readonly AuthenticationMethodDescription[] = [
  { name: 'sealed' },
  { name: 'picky', mistakeIn: (value) => (value === 'wax' ? undefined : 'must be wax.') },
  { name: 'broken', mistakeIn: () => JSON.parse('of the host: secret') },
]
const capabilities: ServerCapabilities = { ...usual, authenticationMethods: methods }

/** What is made of a registration of any content, and its mistakes as sentences. */
function read(source: unknown, rules: ServerCapabilities = capabilities) {
  const issues: ConfigurationIssue[] = []
  const client = parseClient(source, '', issues, rules)
  return { client, problems: issues.map(({ path, message }) => `${path} ${message}`), issues }
}
const bent = (bend: Bend, rules?: ServerCapabilities) => read({ ...registration, ...bend }, rules)
const beginning = (...problems: readonly string[]) =>
  problems.map((problem) => expect.stringContaining(problem))

const [hash = ''] = registration.client_secret_hashes
const second = 'sha256:9hAk1Mj7tNc1nGqGSjnuEZG8x0PQg3gGZQXp3X8y8Gk'
const open = { client_type: 'public', client_secret_hashes: undefined }
const native = { ...open, loopback_redirect_uris: true }
const machine = { redirect_uris: undefined, response_types: [], grant_types: ['client_credentials'] }
const loopback = { ...native, redirect_uris: ['http://127.0.0.1/callback'] }
const shown = {
  client_name: 'Photo printer',
  description: 'Prints your photos.',
  client_uri: 'https://printer.example/',
  logo_uri: 'https://printer.example/logo.svg',
  policy_uri: 'https://printer.example/privacy',
  tos_uri: 'https://printer.example/terms',
}

describe('a registration', () => {
  test('is completed with the defaults, frozen, and keeps nothing that the host can change', () => {
    const redirect_uris = ['https://a.example/']
    const { client, problems } = bent({ redirect_uris })
    redirect_uris.push('https://evil.example/')
    expect(problems).toEqual([])
    expect(client).toEqual({
      ...registration,
      redirect_uris: ['https://a.example/'],
      response_types: ['code'],
      scope: ['photos.read', 'photos.write'],
      may_introspect: false,
      token_type: undefined,
      credentials: {},
      disabled: false,
      token_endpoint_auth_method: undefined,
      client_name: undefined,
      loopback_redirect_uris: false,
      dynamic_redirect_query: false,
      insecure_redirect_uris: false,
      members: {},
    })
    expect(Object.isFrozen(client)).toBe(true)
  })

  test.each<[string, Bend, Bend]>([
    ['a token type', { token_type: 'stamped' }, { token_type: 'stamped' }],
    [
      'no grant types',
      { grant_types: undefined },
      { grant_types: ['authorization_code'], response_types: ['code'] },
    ],
    ['a machine', { ...machine, response_types: undefined }, { response_types: [], redirect_uris: [] }],
    ['a public client', open, {}],
    ['a public client that was issued a secret', { client_type: 'public' }, {}],
    ['several redirect URIs', { redirect_uris: ['https://a.example/', 'printer:/callback'] }, {}],
    ['several secrets, for a rotation', { client_secret_hashes: [hash, second] }, {}],
    ['one method', { token_endpoint_auth_method: 'client_secret_post' }, {}],
    ['undefined for left out', { client_name: undefined, logo_uri: undefined }, {}],
    ['null, as databases have it', { client_name: null, logo_uri: null, client_secret: null }, {}],
    ['the right to introspect', { may_introspect: true }, { may_introspect: true }],
    ['what the owner is shown', shown, shown],
    ['a loopback address', loopback, {}],
    ['the other one, with a port', { ...native, redirect_uris: ['http://[::1]:8080/callback'] }, {}],
    ['one beside others', { ...native, redirect_uris: ['https://a.example/', 'http://127.0.0.1/'] }, {}],
    ['a partial URI', { dynamic_redirect_query: true }, {}],
    ['plain http', { insecure_redirect_uris: true, redirect_uris: ['http://a.example/'] }, {}],
    ['no opt-in, as databases have it', { insecure_redirect_uris: null }, { insecure_redirect_uris: false }],
  ])('may have %s', (_what, bend, expected) => {
    const { client, problems } = bent(bend)
    expect(problems).toEqual([])
    expect(client).toMatchObject(expected)
  })

  test.each<[Bend, ...string[]]>([
    [{ client_id: undefined }, 'client_id is missing: it must be a text'],
    [{ client_id: '' }, 'client_id must be a text'],
    [{ client_id: 'a\nb' }, 'client_id must be a text without control characters'],
    [{ client_type: undefined }, "client_type is missing: it must be 'confidential'"],
    [{ client_type: 'trusted' }, "'confidential' or 'public'"],
    [{ ...machine, client_type: undefined }, 'client_type is missing'],
    [{ grant_types: ['authorization_code', 'password'] }, 'lists "password"'],
    [{ grant_types: 'refresh_token' }, 'grant_types must be a list'],
    [{ response_types: ['code', 'token'] }, 'lists "token"'],
    [{ client_secret_hashes: ['hunter2'] }, 'never the secret'],
    [{ client_secret_hashes: [hash, 'hunter2'] }, 'never the secret'],
    [{ client_secret_hashes: [undefined] }, 'client_secret_hashes[0] is missing: it must be a digest'],
    [{ client_secret_hashes: undefined }, 'client_secret_hashes '],
    [{ client_secret_hashes: [] }, 'client_secret_hashes '],
    [{ token_endpoint_auth_method: 'private_key_jwt' }, 'client_secret_basic, client'],
    [{ token_endpoint_auth_method: 'none' }, 'token_endpoint_auth_method cannot be'],
    [{ client_type: 'public', token_endpoint_auth_method: 'none' }, 'token_endpoint_auth_method cannot be'],
    [{ ...open, token_endpoint_auth_method: 'client_secret_basic' }, 'token_endpoint_auth_method cannot be'],
    [{ scope: undefined }, 'scope is missing: it must list'],
    [{ scope: '' }, 'must list what the client may ask for'],
    [{ scope: 'photos.read  photos.write' }, 'one space between two'],
    [{ scope: 'photos.read videos' }, 'it has photos.read, photos.write, profile.'],
    [{ client_name: 'a\u0000b' }, 'client_name must be a text without control characters'],
    [{ description: 7 }, 'description must be a text'],
    [{ client_uri: 'javascript:alert(1)' }, 'client_uri must be an http or https URL'],
    [{ logo_uri: '/logo.svg' }, 'logo_uri must be an http or https URL'],
    [{ policy_uri: 'https://' }, 'policy_uri must be an http or https URL'],
    [{ tos_uri: 'data:text/html,x' }, 'tos_uri must be an http or https URL'],
    [{ redirect_uri: 'https://a.example/' }, 'redirect_uri is not known here. Did you mean redirect_uris?'],
    [{ clientName: 'x' }, 'Did you mean client_name?'],
    [{ client_secret_hash: 'x' }, 'Did you mean client_secret_hashes?'],
    [{ redirect_uris: ['/callback'] }, 'redirect_uris[0] must be an absolute URI'],
    [{ redirect_uris: ['https://a.example/#x'] }, 'redirect_uris[0] must not have a fragment'],
    [{ redirect_uris: ['https://a.example/', 'http://b.example/'] }, 'redirect_uris[1] must use https'],
    [{ redirect_uris: ['http://a.example/'], insecure_redirect_uris: false }, 'insecure_redirect_uris'],
    [{ redirect_uris: 'https://a.example/' }, 'redirect_uris must be a list of URIs'],
    [{ redirect_uris: undefined }, 'redirect_uris must hold at least one URI'],
    [{ ...open, redirect_uris: [] }, 'redirect_uris must hold at least one URI'],
    [
      { ...open, redirect_uris: undefined, response_types: [], grant_types: ['refresh_token'] },
      'redirect_uris must hold at least one URI',
    ],
    [{ ...open, grant_types: ['authorization_code', 'client_credentials'] }, 'grant_types '],
    [
      { ...machine, redirect_uris: ['https://a.example/'], response_types: ['code'] },
      'grant_types must hold authorization_code, because response_types holds code.',
    ],
    [{ response_types: [] }, 'response_types must hold code, because grant_types holds authorization_code.'],
    [{ ...open, may_introspect: true }, 'may_introspect cannot be true for a public client'],
    [{ may_introspect: 'yes' }, 'may_introspect must be true or false.'],
    ...['Stamped', 'mac', '', 7, ['bearer']].map(
      (token_type) => [{ token_type }, 'token_type must be one of bearer, stamped.'] as [Bend, string],
    ),
    ...['loopback_redirect_uris', 'dynamic_redirect_query', 'insecure_redirect_uris'].flatMap((key) =>
      ['true', 1, [], {}].map(
        (value) => [{ [key]: value }, `${key} must be true or false.`] as [Bend, string],
      ),
    ),
    [
      { ...loopback, client_type: 'confidential', client_secret_hashes: [hash] },
      'loopback_redirect_uris is for native apps',
    ],
    ...'https://a.example/ http://localhost/callback http://127.0.0.1 https://127.0.0.1/callback HTTP://127.0.0.1/callback com.example.app:/callback'
      .split(' ')
      .map(
        (uri) =>
          [{ ...native, redirect_uris: [uri] }, 'loopback_redirect_uris needs a redirect URI such as'] as [
            Bend,
            string,
          ],
      ),
    ...['https://a.example/?a=b', 'https://a.example/?'].map(
      (uri) =>
        [
          { dynamic_redirect_query: true, redirect_uris: ['https://b.example/', uri] },
          'redirect_uris[1] must not have a query',
        ] as [Bend, string],
    ),
  ])('may not be %j', (bend, ...problems) => {
    expect(bent(bend).problems).toEqual(beginning(...problems))
  })

  test('is told every mistake at once, and never repeats a secret', () => {
    const { issues } = read({
      client_type: 'trusted',
      grant_types: ['authorization_code', 'password'],
      redirect_uris: ['http://a.example/', 'https://b.example/', 'https://c.example/#'],
      scope: 'videos',
      client_uri: 'printer.example',
      secret: 'hunter2',
    })
    expect(issues.map(({ path }) => path).toSorted()).toEqual(
      'client_id client_type client_uri grant_types redirect_uris[0] redirect_uris[2] scope secret'.split(
        ' ',
      ),
    )
    expect(new ConfigurationError('Clients:', issues).message).not.toContain('hunter2')
    for (const client_secret_hashes of [undefined, [`sha256:${'A'.repeat(43)}`]]) {
      const { problems } = bent({ client_secret: 'hunter2', client_secret_hashes })
      expect(problems).toEqual(beginning('client_secret '))
      expect(problems[0]).toMatch(
        /Register client_secret_hashes.*generateClientSecret\(\).*hashClientSecret\(\)/,
      )
      expect(problems.join('')).not.toContain('hunter2')
    }
  })

  test('with a misspelt member is told the right name alone, and not what its absence breaks', () => {
    const { client_secret_hashes, ...others } = registration
    expect(read({ ...others, client_secret_hash: client_secret_hashes }).problems).toEqual(
      beginning('client_secret_hash is not known here. Did you mean client_secret_hashes?'),
    )
  })

  test.each([undefined, null, 'photo-printer', []])('is an object, which %j is not', (source) => {
    expect(read(source).issues[0]).toEqual({ path: 'options', message: 'must be an object.' })
  })

  test('keeps to the bounds of what requests must name', () => {
    const sized = (letters: number, bytes: number) =>
      bent({ client_id: 'x'.repeat(letters), redirect_uris: ['https://a.example/'.padEnd(bytes, 'x')] })
        .problems
    expect(sized(256, 2048)).toEqual([])
    expect(sized(257, 2049)).toEqual([
      'client_id must be at most 256 characters.',
      'redirect_uris[0] must be at most 2048 characters.',
    ])
  })

  test('that comes from a store is the same client, or refused with every mistake', () => {
    expect(parseStoredClient(registration, capabilities)).toEqual(bent({}).client)
    const broken = { ...registration, client_type: undefined, scope: '' }
    expect(() => parseStoredClient(broken, capabilities)).toThrow(
      /registration\.client_type .*\n.*registration\.scope/,
    )
  })

  const texts: Readonly<Record<string, (length: number) => unknown>> = {
    post_logout_redirect_uris: (length) => Array.from({ length }, (_, index) => `https://a.example/${index}`),
    redirect_uris: (length) => Array.from({ length }, (_, index) => `https://a.example/${index}`),
    client_secret_hashes: (length) => Array.from({ length }, () => second),
    credentials: (length) => ({ method: 'a'.repeat(length - JSON.stringify({ method: '' }).length) }),
  }
  test.each(largestMembers)('may have %s of %i, and no more', (name, most) => {
    const text = (length: number) => (name.endsWith('_uri') ? 'https://a.example/' : '').padEnd(length, 'a')
    const valueOf = texts[name] ?? text
    const problemsOf = (length: number) =>
      read({ ...registration, client_type: 'public', [name]: valueOf(length) }, anyCapabilities).problems
    const what = Array.isArray(valueOf(most)) ? 'entries' : 'characters'
    expect(problemsOf(most)).toEqual([])
    expect(problemsOf(most + 1)).toEqual([`${name} must have at most ${most} ${what}.`])
  })
})

describe('the schemes of redirection URIs on a server', () => {
  const strict: ServerCapabilities = { ...capabilities, redirectUris: 'https or loopback' }
  const admitting: ServerCapabilities = {
    ...capabilities,
    redirectUris: { schemes: ['cursor', 'com.example.app'] },
  }
  const good = [
    'https://a.example/callback',
    'http://127.0.0.1/',
    'http://[::1]:7/',
    'http://localhost:3000/',
  ]
  const admitted = ['cursor://a/b', 'COM.example.APP:/callback']
  const others = ['cursor2:/', 'example:/', 'http://a.example/', 'vscode:/']

  test.each<[string, ServerCapabilities, readonly string[], readonly string[]]>([
    ['are https or those of loopback', strict, good, [...admitted, ...others]],
    ['are also those that it admits, in any letter case', admitting, [...good, ...admitted], others],
  ])('%s, also for a client that opted in to plain http', (_which, rules, taken, refused) => {
    const { issues } = bent({ insecure_redirect_uris: true, redirect_uris: [...taken, ...refused] }, rules)
    expect(issues.map(({ path }) => path)).toEqual(
      refused.map((_, index) => `redirect_uris[${taken.length + index}]`),
    )
  })
})

describe('a registration read without knowing the server', () => {
  const elsewhere = {
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
    response_types: [],
    scope: 'anything',
    token_endpoint_auth_method: 'private_key_jwt',
    credentials: { private_key_jwt: { keys: [{ kty: 'EC' }] } },
  }
  const implicit = { grant_types: ['implicit'], response_types: ['token'] }

  test.each<[Bend, readonly string[]]>([
    [elsewhere, []],
    [implicit, []],
    [{ ...implicit, response_types: ['token code'] }, []],
    [{ client_type: undefined }, ['client_type']],
    [{ redirect_uris: ['https://printer.example/#'] }, ['redirect_uris[0]']],
    [{ ...implicit, redirect_uris: [] }, ['redirect_uris']],
    [{ client_secret_hashes: [] }, ['client_secret_hashes']],
    [{ response_types: ['token'], grant_types: ['authorization_code'] }, ['grant_types']],
    [{ grant_types: ['implicit'], response_types: [] }, ['response_types']],
    [{ scope: 'a  b' }, ['scope']],
    [{ ...open, grant_types: ['authorization_code', 'client_credentials'] }, ['grant_types']],
    [{ token_endpoint_auth_method: 'none' }, ['token_endpoint_auth_method']],
    [{ token_endpoint_auth_method: 7 }, ['token_endpoint_auth_method']],
    [{ disabled: 'no' }, ['disabled']],
    [{ redirect_uri: 'https://a.example/' }, ['redirect_uri']],
    [{ user_password: 'hunter2' }, ['user_password']],
  ])('is held to every other rule: %j', (bend, paths) => {
    expect(bent(bend, anyCapabilities).issues.map(({ path }) => path)).toEqual(
      expect.arrayContaining([...paths]),
    )
    expect(bent(bend, anyCapabilities).issues.length > 0).toBe(paths.length > 0)
  })

  test('is the same client again when it is written down with its defaults', () => {
    const { client } = bent({}, anyCapabilities)
    expect(read(registrationOf(client), anyCapabilities).client).toEqual(client)
  })
})

describe('the field credentials', () => {
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  const keys = { sealed: { keys: [{ a: 1, b: [true, null] }] } }
  const foreign = { sealed: runInNewContext('({ keys: [{}] })') }

  test.each<[unknown, object]>([
    [undefined, {}],
    [null, {}],
    [{}, {}],
    [{ sealed: 'wax' }, { sealed: 'wax' }],
    [keys, keys],
    [foreign, { sealed: { keys: [{}] } }],
    [{ picky: 'wax' }, { picky: 'wax' }],
  ])('may be %j', (credentials, expected) => {
    const { client, problems } = bent({ credentials })
    expect([problems, client.credentials]).toEqual([[], expected])
  })

  test.each<[string, unknown, string]>([
    ['a text', 'wax', ' must be an object that maps the name of a method'],
    ['a list', ['wax'], ' must be an object that maps the name of a method'],
    ['an unknown method', { unknown: 1 }, '.unknown is not a method with an entry in credentials'],
    ['one of a prototype', JSON.parse('{"__proto__":1}'), '.__proto__ is not a method'],
    [
      'a secret under Basic',
      { client_secret_basic: 'x' },
      '.client_secret_basic belongs in client_secret_hashes',
    ],
    ['an entry of no method', { none: 'x' }, '.none belongs in client_secret_hashes'],
    ['an empty text', { sealed: '' }, '.sealed is empty'],
    ['an empty list', { sealed: [] }, '.sealed is empty'],
    ...[() => true, new Date(0), { a: NaN }, 1n, new Map([[1, 2]]), cyclic].map(
      (sealed) => ['what is no JSON', { sealed }, '.sealed must be JSON'] as [string, object, string],
    ),
    ['what its method refuses', { picky: 'glue' }, '.picky must be wax.'],
    ['what its method chokes on', { broken: 'wax' }, '.broken must be what the plug-in of broken can read.'],
  ])('may not be %s', (_what, credentials, problem) => {
    expect(bent({ credentials }).problems).toEqual(beginning(`credentials${problem}`))
  })

  test('is a frozen copy, without what objects inherit', () => {
    const given = ['wax']
    const { client } = bent({ credentials: { sealed: { keys: given } } })
    given.push('glue')
    expect(client.credentials).toEqual({ sealed: { keys: ['wax'] } })
    expect(client.credentials['constructor']).toBeUndefined()
    expect(Object.isFrozen(client.credentials)).toBe(true)
  })

  const publicly = { client_type: 'public', client_secret_hashes: [] }
  const bare = { client_secret_hashes: [], credentials: { sealed: 1 } }
  test.each<[Bend, string, boolean, boolean]>([
    [publicly, 'none', true, false],
    [{ ...publicly, credentials: { sealed: 1 } }, 'none', false, true],
    [{ ...publicly, credentials: { sealed: 1 } }, 'sealed', true, true],
    [{ credentials: { sealed: 1 } }, 'picky', false, true],
    [{}, 'client_secret_basic', true, true],
    [{}, 'client_secret_post', true, true],
    [{}, 'client_secret_jwt', false, true],
    [bare, 'client_secret_basic', false, true],
    [{}, 'none', false, true],
  ])('of %j has what %s needs: %s; has any: %s', (bend, method, suits, has) => {
    const { client, problems } = bent(bend)
    expect([problems, hasCredentialFor(method, client), hasCredentials(client)]).toEqual([[], suits, has])
    const alone = bent({ ...bend, token_endpoint_auth_method: method }).problems
    expect(alone.some((mistake) => /cannot be|must be one of/.test(mistake))).toBe(!suits)
  })

  test('is beside digests, of which both kinds are known', () => {
    const chosen = `$2b$04$${'a'.repeat(53)}`
    const bad = ['', 'secret', 'sha256:', hash.slice(7), `${hash}=`, `${chosen}x`, ` ${chosen}`, `${hash}\n`]
    expect([chosen, hash, ...bad].filter((text) => isSecretHash(text))).toEqual([chosen, hash])
    expect([isBcryptHash(chosen), isBcryptHash(hash)]).toEqual([true, false])
    expect(hasCredentials(clientWith({ client_type: 'public' }))).toBe(true)
  })
})

describe('a response type', () => {
  const code = { name: 'code', grantTypes: ['authorization_code'] }
  const both = { name: 'code token', grantTypes: ['authorization_code', 'implicit'] }
  const offering: ServerCapabilities = {
    ...capabilities,
    grantTypes: [...(usual.grantTypes ?? []), 'implicit'],
    responseTypes: [code, { name: 'token', grantTypes: ['implicit'] }, both],
  }

  test('has a name of words, in any order', () => {
    const good = ['code', 'id_token', 'code id_token token', 'A9_']
    const bad = ['', ' ', ' code', 'code ', 'a  b', 'a\tb', 'a\n', 'a-b', 'é', 'code code']
    expect([...good, ...bad].filter((name) => isResponseTypeName(name))).toEqual(good)
    expect(canonicalResponseType('token code')).toBe(canonicalResponseType('code token'))
    expect(responseTypeNamed('token code', [code, both])).toBe(both)
    for (const name of ['token', 'code code', 'code  token', 'Code', ''])
      expect(responseTypeNamed(name, [code, both])).toBeUndefined()
  })

  test.each<[string, string, string]>([
    ['authorization_code', 'code', 'code'],
    ['implicit', 'token', 'token'],
    ['authorization_code implicit', 'token code', 'code token'],
    ['authorization_code implicit refresh_token', 'code, token, code token', 'code, token, code token'],
  ])('of a client with %s may be %s', (grants, types, kept) => {
    const { client, problems } = bent(
      { grant_types: grants.split(' '), response_types: types.split(', ') },
      offering,
    )
    expect([problems, client.response_types]).toEqual([[], kept.split(', ')])
  })

  test.each<[string, string | undefined, string]>([
    [
      'implicit',
      'code token',
      'grant_types must hold authorization_code, because response_types holds code token.',
    ],
    [
      'authorization_code',
      'code, code token',
      'grant_types must hold implicit, because response_types holds code token.',
    ],
    [
      'implicit',
      undefined,
      'response_types must hold token or code token, because grant_types holds implicit.',
    ],
    [
      'authorization_code implicit',
      'token',
      'response_types must hold code or code token, because grant_types holds authorization_code.',
    ],
  ])('of a client with %s cannot be %s', (grants, types, problem) => {
    const bend = { grant_types: grants.split(' '), response_types: types?.split(', ') }
    expect(bent(bend, offering).problems).toEqual([problem])
  })

  test.each(['public', 'confidential'])(
    'needs a redirection URI of a %s client of the implicit grant',
    (client_type) => {
      const bend = { client_type, redirect_uris: [], grant_types: ['implicit'], response_types: ['token'] }
      expect(bent(bend, offering).problems).toEqual(beginning('redirect_uris must hold at least one URI'))
    },
  )
})
