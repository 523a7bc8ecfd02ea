import { generateKeyPairSync } from 'node:crypto'
import { implicit } from '../../lib/index'
import { jwtBearer, password, tokenExchange } from '../../lib/paths/grants'
import type * as saml from '../../lib/paths/saml'
import { saml2Bearer } from '../../lib/paths/saml'
import { hub, issuers, partner, signer } from '../support/assertions/jwt'
import { type Maker, mistakesOf } from '../support/mistakes-of'
import { studio } from '../support/saml/assertion'
import { options as samlOptions } from '../support/saml/grant'

const problemsOf = (maker: Maker, options: unknown): readonly string[] =>
  mistakesOf(maker, options).map(({ path, message }) => `${path} ${message}`)
const pathsOf = (maker: Maker, options: unknown): readonly string[] =>
  mistakesOf(maker, options).map(({ path }) => path)
const notAnObject = [undefined, null, 7, 'options', []] as const

function missing(): never {
  throw Object.assign(new Error('Cannot find module'), { code: 'MODULE_NOT_FOUND' })
}

describe('jwtBearer()', () => {
  const maker: Maker = { make: jwtBearer }
  const good = { issuers, audience: 'https://as.example', resourceOwner: () => 'alice' }
  const pathsWith = (bend: object) => pathsOf(maker, { ...good, ...bend })
  const withKeys = (...keys: readonly unknown[]) => ({ issuers: [{ issuer: hub.issuer, jwks: { keys } }] })
  const withUri = (jwks_uri: unknown) => ({ issuers: [{ issuer: hub.issuer, jwks_uri }] })
  const forOthers = [
    { ...partner.jwk, use: 'enc' },
    { ...partner.jwk, key_ops: ['deriveBits'] },
    { ...partner.jwk, key_ops: 'verify' },
  ]

  test.each(notAnObject)('lists what is missing in %j', (options) => {
    expect(pathsOf(maker, options)).toEqual(expect.arrayContaining(['issuers', 'resourceOwner']))
  })

  test('lists every mistake at once, each with its path and cure', () => {
    const broken = {
      issuers: [{ issuer: hub.issuer }, { issuer: '', jwks: {} }],
      audience: [],
      algorithm: 'RS256',
    }
    expect(problemsOf(maker, broken)).toEqual([
      'issuers[0].jwks or jwks_uri must be given, and not both.',
      'issuers[1].issuer must be the claim iss of its JWTs.',
      'issuers[1].jwks must be a JWK set with a public key for signatures: { keys: [...] }.',
      'audience must be the issuer of this server.',
      'resourceOwner is missing: it must be a function that takes an assertion and a client, and returns a subject, or undefined to refuse.',
      'algorithm is not known here. Did you mean algorithms? The known names are algorithms, audience, clockTolerance, identityProviders, issuers, maximumLifetime, repeatableTokenLifetime, resourceOwner.',
    ])
  })

  const [first] = issuers
  test.each<[string, object, string]>([
    ['no issuers', { issuers: [] }, 'issuers'],
    ['a text of issuers', { issuers: hub.issuer }, 'issuers'],
    ['a list of texts', { issuers: [hub.issuer] }, 'issuers[0]'],
    ['an issuer twice', { issuers: [...issuers, first] }, 'issuers[2].issuer'],
    ['a text for repeatable', { issuers: [{ ...first, repeatable: 'yes' }] }, 'issuers[0].repeatable'],
    ['a long token', { repeatableTokenLifetime: 86_401 }, 'repeatableTokenLifetime'],
    [
      'keys from two places',
      { issuers: [{ ...first, jwks_uri: 'https://issuer.example/jwks.json' }] },
      'issuers[0].jwks',
    ],
    ['a misspelt field', { issuers: [{ ...first, keys: [] }] }, 'issuers[0].keys'],
    ['no key', withKeys(), 'issuers[0].jwks'],
    ['keys that are not for signatures alone', withKeys(...forOthers), 'issuers[0].jwks'],
    ...['', [''], 7].map((audience) => ['an audience', { audience }, 'audience'] as [string, object, string]),
    ['an owner by name', { resourceOwner: 'alice' }, 'resourceOwner'],
    ...[-1, 301, NaN, '30'].map(
      (clockTolerance) => ['a tolerance', { clockTolerance }, 'clockTolerance'] as [string, object, string],
    ),
    ...[0, Infinity].map(
      (maximumLifetime) => ['a lifetime', { maximumLifetime }, 'maximumLifetime'] as [string, object, string],
    ),
    ...[[], 'RS256', ['RS256', 'none'], ['HS256'], ['__proto__']].map(
      (algorithms) =>
        [`the algorithms ${JSON.stringify(algorithms)}`, { algorithms }, 'algorithms'] as [
          string,
          object,
          string,
        ],
    ),
    ...[
      'http://issuer.example/jwks.json',
      'http://127.0.0.1.evil.example/jwks',
      'https://ada:secret@issuer.example/jwks',
      'https://issuer.example/jwks#keys',
      'file:///etc/jwks.json',
      'data:application/json,{}',
      '/jwks.json',
      'https://issuer.example/j wks',
      '',
      7,
    ].map((uri) => [`keys at ${uri}`, withUri(uri), 'issuers[0].jwks_uri'] as [string, object, string]),
  ])('refuses %s', (_what, bend, path) => {
    expect(pathsWith(bend)[0]).toBe(path)
  })

  test.each([
    ['a symmetric key', { kty: 'oct', k: 'c2VjcmV0' }],
    ['a private key for encryption', { ...partner.privateKey.export({ format: 'jwk' }), use: 'enc' }],
    ['a public key with a stray d', { ...hub.jwk, d: undefined }],
    ['a key without kty', { ...hub.jwk, kty: undefined }],
    ['a key of unknown kty', { ...hub.jwk, kty: 'DSA' }],
    ['a key off its curve', { ...partner.jwk, x: hub.jwk['n'] }],
    ['an RSA key of 1024 bits', signer(hub.issuer, 'weak', 'RS256', 1024).jwk],
    ['a PEM text', hub.publicKey.export({ type: 'spki', format: 'pem' })],
    ['null', null],
  ])('takes no set of keys with %s', (_, key) => {
    expect(pathsWith(withKeys(hub.jwk, key))).toEqual(['issuers[0].jwks.keys[1]'])
  })

  test('says of a private key that it is exposed', () => {
    const privateKey = { ...hub.privateKey.export({ format: 'jwk' }), kid: 'x' }
    expect(problemsOf(maker, { ...good, ...withKeys(hub.jwk, privateKey) })).toEqual([
      'issuers[0].jwks.keys[1] holds a secret, such as d or k: give the public key only, and replace this key, because its secret is exposed.',
    ])
  })

  test.each([
    [{ audience: ['https://as.example', 'https://as.example/token'] }],
    [{ audience: undefined }],
    [{ identityProviders: issuers }],
    [{ clockTolerance: 0 }],
    [{ clockTolerance: 300, maximumLifetime: 86_400 }],
    [{ algorithms: ['EdDSA'] }],
    [withUri('https://issuer.example/jwks.json?v=1')],
    [withUri('http://127.0.0.1:4000/jwks')],
    [withUri('http://localhost/jwks')],
  ])('takes %j', (bend) => {
    expect(pathsWith(bend)).toEqual([])
  })

  test('takes keys that are not for signatures beside one that is', () => {
    expect(pathsWith(withKeys(...forOthers, hub.jwk))).toEqual([])
  })
})

describe('saml2Bearer()', () => {
  const maker: Maker = { make: saml2Bearer }
  const pathsWith = (bend: object) => pathsOf(maker, { ...samlOptions, ...bend })
  const [certificate = ''] = studio.entry.certificates
  const publicKey = (pair: { readonly publicKey: typeof hub.publicKey }) =>
    pair.publicKey.export({ type: 'spki', format: 'pem' })
  const strong = generateKeyPairSync('rsa', { modulusLength: 2048 })

  test('lists every mistake at once', () => {
    expect(pathsOf(maker, { clockTolerance: -1, maximumLifetime: 0, certificate: 'x' })).toEqual([
      'issuers',
      'audience',
      'recipient',
      'resourceOwner',
      'clockTolerance',
      'maximumLifetime',
      'certificate',
    ])
    expect(pathsOf(maker, undefined)).toContain('options')
  })

  test.each<[string, object, readonly string[]]>([
    ['no issuer', { issuers: [] }, ['issuers']],
    [
      'an issuer that is a text',
      { issuers: ['x'] },
      ['issuers[0]', 'issuers[0].issuer', 'issuers[0].certificates'],
    ],
    [
      'an issuer without keys',
      { issuers: [{ issuer: 'https://a.example', certificates: [] }] },
      ['issuers[0].certificates'],
    ],
    ['an issuer twice', { issuers: [studio.entry, studio.entry] }, ['issuers[1].issuer']],
    ['a misspelt field', { issuers: [{ ...studio.entry, cert: 'x' }] }, ['issuers[0].cert']],
    ['a recipient that is no URL', { recipient: '/token' }, ['recipient']],
    ['an empty audience', { audience: '' }, ['audience']],
    ['half a second', { clockTolerance: 0.5 }, ['clockTolerance']],
    ['a tolerance of 301 seconds', { clockTolerance: 301 }, ['clockTolerance']],
    ['a lifetime of more than a day', { maximumLifetime: 86_401 }, ['maximumLifetime']],
    ['nothing else', { clockTolerance: 300, maximumLifetime: 86_400 }, []],
  ])('refuses %s', (_what, bend, paths) => {
    expect(pathsWith(bend)).toEqual(paths)
  })

  test.each<[string, unknown]>([
    ['text', 'MIIDDTCCAfWgAwIBAgIU'],
    ['a broken certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'],
    ['two in one', certificate.repeat(2)],
    ['a private key', strong.privateKey.export({ type: 'pkcs8', format: 'pem' })],
    ['RSA of 1024 bits', publicKey(generateKeyPairSync('rsa', { modulusLength: 1024 }))],
    ['a curve of other trades', publicKey(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }))],
    ['Ed25519', publicKey(generateKeyPairSync('ed25519'))],
  ])('refuses a certificate that is %s, and says where', (_, wrong) => {
    const entry = { issuer: 'https://a.example', certificates: [certificate, wrong] }
    expect(pathsWith({ issuers: [entry] })).toEqual(['issuers[0].certificates[1]'])
  })

  test('names the packages to install when they are missing', () => {
    jest.isolateModules(() => {
      jest.doMock('xml-crypto', missing)
      const fresh: typeof saml = require('../../lib/paths/saml')
      expect(() => fresh.saml2Bearer(samlOptions)).toThrow('npm install xml-crypto@6 @xmldom/xmldom@0.8')
      jest.dontMock('xml-crypto')
    })
  })
})

describe('password()', () => {
  const maker: Maker = { make: password }
  const verify = () => undefined

  test.each<[unknown, readonly string[]]>([
    [{}, ['verify']],
    [{ verify: 'bcrypt' }, ['verify']],
    [undefined, ['options', 'verify']],
    [{ verify, limit: {} }, ['limit']],
    [{ verify, limits: null }, ['limits']],
    [{ verify, limits: 5 }, ['limits']],
    [{ verify, limits: { user: {} } }, ['limits.user']],
    [{ verify, limits: { username: { attempts: 0 } } }, ['limits.username.attempts']],
    [
      { limits: { client: { seconds: 0 }, address: true } },
      ['verify', 'limits.address', 'limits.client.seconds'],
    ],
    [{ verify, limits: {} }, []],
    [{ verify, limits: undefined }, []],
    [{ verify, limits: { username: false, address: false, client: false } }, []],
    [{ verify, limits: { username: { attempts: 1, seconds: 1 } } }, []],
  ])('refuses %j at %j', (options, paths) => {
    expect(pathsOf(maker, options)).toEqual(paths)
  })
})

describe('tokenExchange()', () => {
  const maker: Maker = { make: tokenExchange }
  const policy = () => undefined
  const uri = (name: string) => `urn:ietf:params:oauth:token-type:${name}`

  test('takes a policy, and functions for other types of tokens', () => {
    const tokenTypes = { [uri('jwt')]: policy, 'https://a.example/t': policy }
    expect([problemsOf(maker, { policy }), problemsOf(maker, { policy, tokenTypes })]).toEqual([[], []])
  })

  test('lists every mistake at once, each with its path and cure', () => {
    const tokenTypes = JSON.parse('{ "__proto__": 1, "jwt": 1, "urn:x:1": 1 }')
    Object.assign(tokenTypes, { [uri('access_token')]: policy, [uri('refresh_token')]: policy })
    const noUri = 'must be an absolute URI, such as urn:ietf:params:oauth:token-type:jwt.'
    expect(problemsOf(maker, { policies: policy, tokenTypes })).toEqual([
      'policy is missing: it must be a function that decides about an exchange.',
      `tokenTypes["__proto__"] ${noUri}`,
      `tokenTypes["jwt"] ${noUri}`,
      'tokenTypes["urn:x:1"] must be a function that returns the claims of a good token.',
      `tokenTypes["${uri('access_token')}"] is verified by the server itself: remove it.`,
      `tokenTypes["${uri('refresh_token')}"] is never accepted, because a refresh token is good at its own grant only: remove it.`,
      'policies is not known here. Did you mean policy? The known names are policy, tokenTypes.',
    ])
  })

  test.each(notAnObject)('is no %j', (options) => {
    expect(pathsOf(maker, options)).toEqual(['options', 'policy'])
  })

  test.each([null, [], 'jwt'])('names token types in an object: %j is none', (tokenTypes) => {
    expect(problemsOf(maker, { policy, tokenTypes })).toEqual([
      'tokenTypes must be an object from token type identifiers to functions.',
    ])
  })
})

test.each<[unknown, readonly string[]]>([
  [{ redirectBy: 'popup' }, ["redirectBy must be 'location' or 'page'."]],
  [
    { redirectby: 'page' },
    ['redirectby is not known here. Did you mean redirectBy? The known names are redirectBy.'],
  ],
  [null, ['options must be an object.']],
  [{ redirectBy: 'page' }, []],
])('implicit() refuses %j', (options, problems) => {
  expect(problemsOf({ make: implicit }, options)).toEqual(problems)
})
