import { resolveOptions } from '../../lib/config/resolve-options'
import { bearer } from '../../lib/extensions/token-types/bearer'
import { mac } from '../../lib/extensions/token-types/mac'
import { mistakesWith, pathsWith } from '../support/rooms/mistakes'
import { optionsWith, printer } from '../support/rooms/registrations'

const named = (name: string) => ({ name, parameters: [], handle: async () => ({}) })

describe('the option grantTypes', () => {
  it.each(['https://a.example/grants/x', 'urn:ietf:params:oauth:grant-type:x', 'password', 'x:y'])(
    'takes the name %s',
    (name) => {
      expect(mistakesWith({ grantTypes: [named(name)] })).toEqual([])
    },
  )

  it.each(['x', 'grants/x', '/x', 'https://', 'urn:é', 'urn:a b', 'PASSWORD', '__proto__', 'constructor'])(
    'refuses the name %s, which is no absolute URI (TOK-10)',
    (name) => {
      expect(mistakesWith({ grantTypes: [named('urn:x:1'), named(name)] })).toEqual([
        {
          path: 'grantTypes[1].name',
          message: `is "${name}", but must be an absolute URI, such as https://example.com/oauth/grants/voucher.`,
        },
      ])
    },
  )

  it.each([{ refreshTokens: 'no' }, { publicClients: 0 }])('refuses %j', (bend) => {
    expect(mistakesWith({ grantTypes: [{ ...named('urn:x:1'), ...bend }] })).toMatchObject([
      { path: 'grantTypes' },
    ])
  })

  it.each([{ a: 1 }, { a: [1] }, { a: null }, 'a', ['a']])('refuses %j as metadata', (metadata) => {
    expect(mistakesWith({ grantTypes: [{ ...named('urn:x:1'), metadata }] })).toMatchObject([
      { path: 'grantTypes' },
    ])
  })

  it.each(['authorization_code', 'refresh_token', 'client_credentials', 'implicit', 'urn:x:1'])(
    'refuses the name %s, which is taken',
    (name) => {
      expect(mistakesWith({ grantTypes: [named('urn:x:1'), named(name)] })).toEqual([
        { path: 'grantTypes[1].name', message: `is "${name}", which another grant type has already.` },
      ])
    },
  )
})

const signed = mac({ hosts: ['api.example.com'] })
const problems = (bend: Readonly<Record<string, unknown>>) =>
  mistakesWith(bend).map(({ path, message }) => `${path} ${message}`)

test('token types must differ in name and scheme, also from bearer', () => {
  expect(problems({ tokenTypes: [{ ...signed, name: 'bearer' }] })).toEqual([
    'tokenTypes[0].name is "bearer", which another token type has already.',
  ])
  expect(problems({ tokenTypes: [signed, { ...signed, name: 'other', scheme: 'mac' }] })).toEqual([
    'tokenTypes[1].scheme is "mac", which another token type has already. Letter case does not count.',
  ])
  expect(problems({ tokenTypes: [signed, { ...signed, name: 'MAC', scheme: 'Other' }] })).toEqual([])
})

test.each(['two words', 'a/b', 'é', 'a"b', 'https://a.example/ b'])(
  '%j is no name of a token type',
  (name) => {
    expect(problems({ tokenTypes: [{ ...signed, name }] })).toEqual([
      `tokenTypes[0].name is "${name}", but must be letters, digits and . _ -, or an absolute URI.`,
    ])
  },
)

test.each(['two words', 'a"b', 'a,b', 'é'])('%j is no scheme', (scheme) => {
  expect(problems({ tokenTypes: [{ ...bearer, name: 'x', scheme }] })).toEqual([
    `tokenTypes[0].scheme is "${scheme}", which is not the name of an HTTP authentication scheme.`,
  ])
})

test('the default is one of them', () => {
  expect(problems({ tokenTypes: [signed], tokenType: 'mac' })).toEqual([])
  expect(problems({ tokenTypes: [signed], tokenType: 'hotk' })).toEqual([
    'tokenType must be one of bearer, mac.',
  ])
})

const sealed = { name: 'sealed', read: () => undefined, verify: async () => false }
const at = (field: string) => `clientAuthenticationMethods[0]${field}`

describe('the option clientAuthenticationMethods', () => {
  it.each<[string, object]>([
    ['without a scheme', {}],
    ['with one', { scheme: 'Sealed' }],
    ['named by a URI', { name: 'https://a.example/sealed' }],
    ['with a rule for registrations', { mistakeIn: () => undefined }],
    ['with signing algorithms', { name: 'private_key_jwt', signingAlgorithms: ['ES256'] }],
    ['with fields of its own', { seals: 7 }],
  ])('takes a method %s', (_what, bend) => {
    expect(mistakesWith({ clientAuthenticationMethods: [{ ...sealed, ...bend }] })).toEqual([])
  })

  it('takes an object of a class, as it is', () => {
    class Sealed {
      readonly name = 'sealed'
      read() {
        return undefined
      }
      async verify() {
        return this.name === 'sealed'
      }
    }
    const method = new Sealed()
    const settings = resolveOptions(optionsWith({ clientAuthenticationMethods: [method] }))
    expect(settings.clientAuthenticationMethods[0]).toBe(method)
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
  ])('refuses %s', (_what, method, field) => {
    expect(pathsWith({ clientAuthenticationMethods: [method] })).toEqual([at(field)])
  })

  it('refuses a second method of the same name, or of the same scheme in whatever case', () => {
    const clientAuthenticationMethods = [
      { ...sealed, scheme: 'Sealed' },
      sealed,
      { ...sealed, name: 'other', scheme: 'SEALED' },
    ]
    expect(pathsWith({ clientAuthenticationMethods })).toEqual([
      'clientAuthenticationMethods[1].name',
      'clientAuthenticationMethods[2].scheme',
    ])
  })

  it('reports all mistakes at once, and none that only follows from another', () => {
    const clients = [{ ...printer, credentials: { sealed: 'wax' }, token_endpoint_auth_method: 'sealed' }]
    const clientAuthenticationMethods = [{ name: 'sealed', scheme: 'a b' }]
    expect(pathsWith({ clients, clientAuthenticationMethods })).toEqual([
      at('.scheme'),
      at('.read'),
      at('.verify'),
    ])
  })

  it('makes a method known to registrations', () => {
    const clients = [{ ...printer, token_endpoint_auth_method: 'sealed', credentials: { sealed: 'wax' } }]
    expect(mistakesWith({ clients, clientAuthenticationMethods: [sealed] })).toEqual([])
    expect(pathsWith({ clients })).toEqual([
      'clients[0].credentials.sealed',
      'clients[0].token_endpoint_auth_method',
    ])
  })
})

test.each([
  [{ name: 'query', carrier: 'form' }, 'has "query", which the server has already.'],
  [{ name: 'Form', carrier: 'form' }, "must be a list of response modes: name, and carrier 'form'."],
  [{ name: 'x', carrier: 'pigeon' }, "must be a list of response modes: name, and carrier 'form'."],
])('a response mode of a plug-in must be new and well-formed: %j', (mode, message) => {
  const plugIns = [{ name: 'modes', open: () => ({ responseModes: [mode] }) }]
  expect(mistakesWith({ plugIns })).toEqual([{ path: 'plugIns[0].responseModes', message }])
})
