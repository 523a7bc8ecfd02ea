import {
  ConfigurationError,
  createAuthorizationServer,
  createBearerGuard,
  memoryStore,
} from '../../lib/index'
import { canonicalOptions } from '../support/flows/application'

interface Guarding {
  guard(...given: readonly unknown[]): unknown
}
const oauth = createAuthorizationServer(canonicalOptions)
const ofServer: Guarding = { guard: (...given) => Reflect.apply(oauth.bearerGuard, oauth, given) }
const elsewhere = createBearerGuard({ issuer: canonicalOptions.issuer, store: memoryStore() })

/** The mistakes for which a guard is not made. */
function mistakesOf(scope: unknown, options: unknown = {}, made = ofServer) {
  try {
    made.guard(scope, options)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.issues
    throw error
  }
  return []
}
const pathsOf = (options: unknown) => mistakesOf('photos:read', options).map(({ path }) => path)

test.each(['', 'photos:read', 'photos:print photos:read'])('a guard may need the scope %j', (scope) => {
  expect(mistakesOf(scope)).toEqual([])
})

test.each([' ', 'photos:read  photos:print', '"', 7, ['photos:read']])(
  'a guard does not need the scope %j',
  (scope) => {
    const message = "must be scope tokens with one space between two, as in bearerGuard('photos:read')."
    expect(mistakesOf(scope)).toEqual([{ path: 'scope', message }])
  },
)

test.each(['photos:read,photos:print', 'photos:raed', 'photos:read photos:raed', 'PHOTOS:READ'])(
  'a misspelt scope is refused where the server knows the scopes: %s',
  (scope) => {
    expect(mistakesOf(scope)).toEqual([
      {
        path: 'scope',
        message: 'must hold scopes of this server: photos:read, photos:print, reports:write.',
      },
    ])
    expect(
      mistakesOf(scope, {}, { guard: (...given) => Reflect.apply(elsewhere, undefined, given) }),
    ).toEqual([])
  },
)

test.each<[string, readonly unknown[]]>([
  // A misspelt "all" must not let more through, and who may pass is never guessed.
  ['match', ['some', 'ALL', '', null, true]],
  ['optional', [null, 1, 'true', {}]],
  ['maxAge', [0, -1, 1.5, Number.NaN, Infinity, 315_360_001, '300', null, true, [300]]],
  [
    'acr',
    [
      '',
      'a b',
      'a"b',
      'a\r\nb',
      'é',
      'a'.repeat(257),
      null,
      { 0: 'a' },
      [],
      ['a\\b'],
      ['a', 'b', 'a'],
      ['a', 7],
      Array.from({ length: 5 }, (_, at) => `${at}`.repeat(205)),
    ],
  ],
  ['realm', ['"', '\\', 'a\r\nSet-Cookie: x', 'é', '', 7, null, '\t', '\x7F']],
  [
    'attributes',
    [
      null,
      7,
      'a',
      ['a'],
      true,
      ...['', 'a b', 'a=b', 'a"', 'é', 'a\n', '('].map((name) => ({ [name]: 'a' })),
    ],
  ],
])('a guard has no such %s [token-14]', (name, values) => {
  expect(values.map((value) => pathsOf({ [name]: value }))).toEqual(values.map(() => [name]))
})

test.each([
  { match: 'any', optional: true },
  { maxAge: 1, acr: 'mfa' },
  { maxAge: 315_360_000, acr: ['b', 'a'] },
  { acr: 'a'.repeat(256) },
  { realm: 'my photos', attributes: { charset: 'UTF-8', max_age: '300' } },
])('a guard may have %j', (options) => {
  expect(pathsOf(options)).toEqual([])
})

test.each([
  'realm',
  'scope',
  'error',
  'error_description',
  'error_uri',
  'resource_metadata',
  'Scope',
  'ERROR',
])('a guard keeps the attribute %s for itself', (name) => {
  expect(pathsOf({ attributes: { [name]: 'a' } })).toEqual([`attributes.${name}`])
})

test('a guard has each attribute once, in whatever letter case, and its values are printable', () => {
  expect(pathsOf({ attributes: { acr: '1', ACR: '2' } })).toEqual(['attributes.ACR'])
  for (const value of ['"', '\\', 'é', '', 7])
    expect(pathsOf({ attributes: { a: value } })).toEqual(['attributes.a'])
})

test('a guard lists every mistake at once, with the names that it knows, and takes no odd options', () => {
  expect(mistakesOf('a  b', { match: 'x', optional: 'x', matches: 1 })).toMatchObject([
    { path: 'scope' },
    { path: 'match' },
    { path: 'optional' },
    { path: 'matches', message: expect.stringContaining('Did you mean match?') },
  ])
  for (const options of [null, 7, 'any', []]) expect(mistakesOf('photos:read', options)).toHaveLength(1)
})
