import { createAuthorizationServer, memoryStore, type Store } from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import { deviceAuthorization } from '../../lib/paths/devices'
import { mac } from '../../lib/paths/mac'
import { hub } from '../support/assertions/jwt'
import { canonicalOptions } from '../support/flows/application'
import { deviceSecret } from '../support/flows/device-stage'
import { type Maker, mistakesOf } from '../support/mistakes-of'

const pathsOf = (maker: Maker, options: unknown) => mistakesOf(maker, options).map(({ path }) => path)
const issuer = 'http://localhost'
const jwks = { jwks: { keys: [hub.jwk] } }
const bare: Store = {
  read: async () => undefined,
  write: async () => true,
  remove: async () => {},
  add: async () => ({ count: 1, secondsLeft: 1 }),
  list: async () => [],
}

describe('createBearerGuard()', () => {
  const store = memoryStore()
  test.each<[unknown, readonly string[]]>([
    [undefined, ['options', 'issuer', 'store']],
    [{ issuer }, ['store']],
    [{ store }, ['issuer']],
    [{ store, issuer: 'auth.example' }, ['issuer']],
    [{ issuer, store: {} }, ['store']],
    [{ issuer, store, storeDeadline: 0 }, ['storeDeadline']],
    [{ issuer, store, closeDeadline: Infinity }, ['closeDeadline']],
    [{ issuer, store, authorizations: 1 }, ['authorizations']],
    [{ issuer, store, clock: 7 }, ['clock']],
    [{ issuer, store, plugins: [{ name: 'a', tokenTypes: ['mac'] }] }, ['plugins[0].tokenTypes[0]']],
    [{ issuer, store, counters: {} }, ['counters']],
    [{ issuer, store, implies: [] }, ['implies']],
    [{ issuer, store, guards: { realms: 'a' } }, ['guards.realms']],
    [{ issuer, store, scopes: {} }, ['scopes']],
    [{ issuer: 7, store: 7, storeDeadline: 'x', x: 1 }, ['issuer', 'store', 'storeDeadline', 'x']],
    [{ issuer, store, jwt: { ...jwks, audience: 'a' } }, ['store']],
    [{ issuer, store, resources: { urn: { scopes: ['a'] } } }, ['resources["urn"]']],
    [
      { issuer, jwt: { ...jwks, audience: 'a' }, choices: true, authorizations: true },
      ['choices', 'authorizations'],
    ],
  ])('%# refuses options at once, with each path', (options, paths) => {
    expect(pathsOf({ make: createBearerGuard }, options)).toEqual(paths)
  })
})

describe('createBearerGuard({ jwt })', () => {
  const good = { audience: 'https://photos.example', ...jwks }
  const maker: Maker = { make: createBearerGuard }
  const byUri = (jwks_uri: unknown) => ({ jwks: undefined, jwks_uri })
  // An undefined member is a mistake of its own.
  const defined = (options: object) =>
    Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  const jwtPaths = (jwt: object) => pathsOf(maker, { issuer: hub.issuer, jwt: defined({ ...good, ...jwt }) })

  test('takes a plug-in that brings readers of formats, although it reads JWTs alone', () => {
    const open = () => ({ accessTokenFormats: [] })
    const plugins = [{ name: 'a', open, openInGuard: open }]
    expect(mistakesOf(maker, { issuer: hub.issuer, jwt: good, plugins })).toEqual([])
  })

  test('lists every mistake at once, each with its cure', () => {
    const wrong = { audience: [], type: 'JWE', maximumCache: 1 }
    expect(mistakesOf(maker, { issuer: '', jwt: wrong })).toMatchObject([
      { path: 'issuer', message: 'must be the iss of the tokens.' },
      { path: 'jwt.audience', message: expect.stringMatching(/^must be the value in aud of the tokens/) },
      { path: 'jwt.jwks', message: 'or jwks_uri must be given, and not both.' },
      { path: 'jwt.type', message: "must be 'at+jwt' or 'JWT'." },
      {
        path: 'jwt.maximumCache',
        message: expect.stringMatching(/^is not known here\. Did you mean maximumCached\?/),
      },
    ])
    for (const jwt of [null, 'options', []])
      expect(pathsOf(maker, { issuer: hub.issuer, jwt })).toEqual(['jwt', 'jwt.jwks', 'jwt.audience'])
  })

  test.each<[object, string]>([
    [{ audience: '' }, 'audience'],
    [{ audience: ['a', 7] }, 'audience'],
    [{ audience: undefined }, 'audience'],
    [{ audienceRequired: 'no' }, 'audienceRequired'],
    [{ jwks: [hub.jwk] }, 'jwks'],
    [{ jwks: { keys: [] } }, 'jwks'],
    [{ jwks: { keys: [{ kty: 'oct', k: 'AAAA' }] } }, 'jwks.keys[0]'],
    [{ jwks: { keys: [hub.jwk, hub.privateKey.export({ format: 'jwk' })] } }, 'jwks.keys[1]'],
    [{ jwks_uri: 'https://issuer.example/jwks.json' }, 'jwks'],
    ...['http://issuer.example/jwks', 'https://ada:secret@issuer.example/', 'file:///etc/jwks', 7].map(
      (uri): [object, string] => [byUri(uri), 'jwks_uri'],
    ),
    [{ otherIssuers: [{ issuer: 'b' }] }, 'otherIssuers[0].jwks'],
    [{ otherIssuers: [{ issuer: hub.issuer, ...jwks }] }, 'otherIssuers'],
    ...[[], ['HS256'], ['none']].map((algorithms): [object, string] => [{ algorithms }, 'algorithms']),
    ...['jwt', null].map((type): [object, string] => [{ type }, 'type']),
    [{ clientIdClaim: '' }, 'clientIdClaim'],
    [{ scopeClaim: 7 }, 'scopeClaim'],
    ...[-1, 301].map((clockTolerance): [object, string] => [{ clockTolerance }, 'clockTolerance']),
    ...[-1, 0.5, Infinity].map((maximumCached): [object, string] => [{ maximumCached }, 'maximumCached']),
    ...[0, 86_401].map((maximumAge): [object, string] => [{ maximumAge }, 'maximumAge']),
  ])('refuses %j at %s', (bend, path) => {
    expect(new Set(jwtPaths(bend))).toEqual(new Set([`jwt.${path}`]))
  })

  test.each([
    {},
    { audience: ['a', 'b'], algorithms: ['EdDSA'], type: 'JWT' },
    { audience: undefined, audienceRequired: false },
    { clockTolerance: 0, maximumCached: 0, maximumAge: 1 },
    { clockTolerance: 300, maximumCached: 1_000_000, maximumAge: 86_400 },
    byUri('https://issuer.example/jwks.json'),
    byUri('http://127.0.0.1:4000/jwks'),
  ])('takes %j', (bend) => {
    expect(jwtPaths(bend)).toEqual([])
  })
})

test('deviceAuthorization() names every mistake in its options', () => {
  const options: object = {
    secret: 'short',
    lifetime: 30,
    interval: 0,
    guesses: { owner: { attempts: 0 }, everybody: 1 },
    requests: 5,
    page: 'page.html',
    pagePath: 'device',
    endpointPath: '',
    paths: {},
  }
  expect(() => Reflect.apply(deviceAuthorization, undefined, [options]))
    .toThrow(`deviceAuthorization() cannot work with these options:
  - secret must be a text of at least 32 bytes, such as one of openssl rand -base64 32.
  - lifetime must be whole seconds, 60 to 3600.
  - interval must be whole seconds, 1 to 60.
  - guesses.owner.attempts must be a whole number, 1 to 1000000.
  - guesses.everybody is not known here; the known names are network, owner.
  - requests must be false, or an object such as { attempts: 100, seconds: 600 }.
  - page must be a function: it gets the request, the response and the view.
  - endpointPath must be a path such as '/device_authorization'.
  - pagePath must be a path such as '/device'.
  - paths is not known here`)
})

test('deviceAuthorization() needs its secret for a store that another process may read', () => {
  const create = (own: { secret?: string }, store: Store) => () =>
    createAuthorizationServer({ ...canonicalOptions, plugins: [deviceAuthorization(own)], store })
  expect(create({}, bare)).toThrow('needs the option secret, because other processes may share the store')
  expect(create({ secret: deviceSecret }, bare)).not.toThrow()
  expect(create({}, memoryStore())).not.toThrow()
})

const hosts = ['api.example.com']
test.each([
  [undefined, 'options must be an object.'],
  [{}, 'hosts is missing'],
  [{ hosts: [] }, 'hosts must be a list'],
  [{ hosts: 'api.example.com' }, 'hosts must be a list'],
  ...['', ':443', 'a b', 'a/b', 'user@a', 'a:b', 'a:0', 'a:', 'é', '[::1', 'https://a.example'].map(
    (host): [object, string] => [{ hosts: [host] }, 'hosts must be a list'],
  ),
  [{ hosts, algorithms: [] }, 'algorithms must be a list'],
  [{ hosts, algorithms: ['md5'] }, 'algorithms must be a list'],
  ...[0, 301, 1.5].map((tolerance): [object, string] => [
    { hosts, tolerance },
    'tolerance must be whole seconds, 1 to 300.',
  ]),
  [{ hosts, age: 60 }, 'age is not known here'],
])('mac() refuses %j', (options, message) => {
  expect(() => Reflect.apply(mac, undefined, [options])).toThrow(message)
})
