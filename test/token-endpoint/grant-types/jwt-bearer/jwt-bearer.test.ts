import { jwtBearer } from '../../../../lib/index'
import { hub, issuers, partner, signer } from '../../../support/assertions/jwt'
import { mistakesOf, type Maker } from '../../../support/rooms/mistakes-of'

const javascript: Maker = { make: jwtBearer }
const canonical = { issuers, audience: 'https://as.example', resourceOwner: () => 'alice' }

const issuesIn = (options: unknown) => mistakesOf(javascript, options)
const pathsWith = (bend: object) => issuesIn({ ...canonical, ...bend }).map(({ path }) => path)
const withKeys = (...keys: readonly unknown[]) => ({ issuers: [{ issuer: hub.issuer, jwks: { keys } }] })
const withUri = (jwks_uri: unknown) => ({ issuers: [{ issuer: hub.issuer, jwks_uri }] })

describe('jwtBearer()', () => {
  it('is a grant type by the name that RFC 7523 2.1 gives it, and reads an assertion and a scope', () => {
    expect(jwtBearer(canonical)).toMatchObject({
      name: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      parameters: ['assertion', 'scope'],
    })
  })

  it.each([undefined, null, 'options', []])('lists what is missing in %j', (options) => {
    expect(issuesIn(options).map(({ path }) => path)).toEqual(
      expect.arrayContaining(['issuers', 'audience', 'resourceOwner']),
    )
  })

  it('lists every mistake at once, each with its path and cure', () => {
    const broken = {
      issuers: [{ issuer: hub.issuer }, { issuer: '', jwks: {} }],
      audience: [],
      algorithm: 'RS256',
    }
    expect(issuesIn(broken)).toEqual([
      { path: 'issuers[0].jwks', message: 'or jwks_uri must be given, and not both.' },
      { path: 'issuers[1].issuer', message: 'must be the claim iss of its assertions.' },
      {
        path: 'issuers[1].jwks',
        message: 'must be a JWK set with a public key for signatures: { keys: [...] }.',
      },
      { path: 'audience', message: 'must be the issuer of this server.' },
      {
        path: 'resourceOwner',
        message:
          'is missing: it must be a function that takes an assertion and a client, and returns a subject, or undefined to refuse.',
      },
      {
        path: 'algorithm',
        message:
          'is not known here. Did you mean algorithms? The known names are algorithms, audience, clockTolerance, issuers, maximumLifetime, profile, resourceOwner.',
      },
    ])
  })

  it.each([
    [{ issuers: [] }, 'issuers'],
    [{ issuers: hub.issuer }, 'issuers'],
    [{ issuers: [hub.issuer] }, 'issuers[0]'],
    [{ issuers: [...issuers, issuers[0]] }, 'issuers[2].issuer'],
    [{ issuers: [{ ...issuers[0], jwks_uri: 'https://issuer.example/jwks.json' }] }, 'issuers[0].jwks'],
    [{ issuers: [{ ...issuers[0], keys: [] }] }, 'issuers[0].keys'],
    [{ audience: '' }, 'audience'],
    [{ audience: [''] }, 'audience'],
    [{ audience: 7 }, 'audience'],
    [{ resourceOwner: 'alice' }, 'resourceOwner'],
    [{ clockTolerance: -1 }, 'clockTolerance'],
    [{ clockTolerance: 301 }, 'clockTolerance'],
    [{ clockTolerance: NaN }, 'clockTolerance'],
    [{ clockTolerance: '30' }, 'clockTolerance'],
    [{ maximumLifetime: 0 }, 'maximumLifetime'],
    [{ maximumLifetime: Infinity }, 'maximumLifetime'],
    [{ algorithms: [] }, 'algorithms'],
    [{ algorithms: 'RS256' }, 'algorithms'],
    [{ algorithms: ['RS256', 'none'] }, 'algorithms'],
    [{ algorithms: ['HS256'] }, 'algorithms'],
    [{ algorithms: ['__proto__'] }, 'algorithms'],
  ])('refuses %j at %s', (bend, path) => {
    expect(pathsWith(bend)).toContain(path)
  })

  it.each([
    [{ audience: ['https://as.example', 'https://as.example/token'] }],
    [{ clockTolerance: 0 }],
    [{ clockTolerance: 300, maximumLifetime: 86_400 }],
    [{ algorithms: ['EdDSA'] }],
  ])('takes %j', (bend) => {
    expect(pathsWith(bend)).toEqual([])
  })

  describe('a JWK set that is given', () => {
    it('holds no private key', () => {
      const privateKey = { ...hub.privateKey.export({ format: 'jwk' }), kid: 'x' }
      expect(issuesIn({ ...canonical, ...withKeys(hub.jwk, privateKey) })).toEqual([
        {
          path: 'issuers[0].jwks.keys[1]',
          message:
            'holds a secret, such as d or k: give the public key only, and replace this key, because its secret is exposed.',
        },
      ])
    })

    it.each([
      ['a symmetric key', { kty: 'oct', k: 'c2VjcmV0' }],
      ['a private key for encryption', { ...partner.privateKey.export({ format: 'jwk' }), use: 'enc' }],
      ['a public key with a stray d', { ...hub.jwk, d: undefined }],
      ['a key without kty', { ...hub.jwk, kty: undefined }],
      ['a key of unknown kty', { ...hub.jwk, kty: 'DSA' }],
      ['a key off its curve', { ...partner.jwk, x: hub.jwk['n'] }],
      ['an RSA key of 1024 bits', signer(hub.issuer, 'weak', 'RS256', 1024).jwk],
      ['a PEM text', hub.publicKey.export({ type: 'spki', format: 'pem' })],
      ['null', null],
    ])('holds no %s', (_, key) => {
      expect(pathsWith(withKeys(hub.jwk, key))).toEqual(['issuers[0].jwks.keys[1]'])
    })

    it('may hold keys that are not for signatures, but not them alone', () => {
      const others = [
        { ...partner.jwk, use: 'enc' },
        { ...partner.jwk, key_ops: ['deriveBits'] },
        { ...partner.jwk, key_ops: 'verify' },
      ]
      expect(pathsWith(withKeys(...others, hub.jwk))).toEqual([])
      expect(pathsWith(withKeys(...others))).toEqual(['issuers[0].jwks'])
      expect(pathsWith(withKeys())).toEqual(['issuers[0].jwks'])
    })
  })

  it.each(['https://issuer.example/jwks.json?v=1', 'http://127.0.0.1:4000/jwks', 'http://localhost/jwks'])(
    'takes keys from %s',
    (uri) => expect(pathsWith(withUri(uri))).toEqual([]),
  )

  it.each([
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
  ])('takes no keys from %j', (uri) => {
    expect(pathsWith(withUri(uri))).toEqual(['issuers[0].jwks_uri'])
  })
})
