import { OptionsReader } from '../../lib/primitives/options-reader'
import { OAuthError } from '../../lib/protocol/oauth-error'
import { readRequiredLogin, requireLogin } from '../../lib/resource-server/required-login'

function read(options: object) {
  const reading = new OptionsReader(options, '')
  const required = readRequiredLogin(reading)
  return { required, paths: reading.issues.map(({ path, message }) => `${path} ${message}`) }
}

/** The reason for which a guard refuses a token of Alice, or `passes`. */
function verdictOf(
  options: object,
  login: object | undefined,
  now = 1000,
  subject: string | undefined = 'alice',
) {
  const { required } = read(options)
  if (required === undefined) throw new Error('The options require nothing.')
  try {
    const access = { subject, ...(login && { login: { authTime: 1000, ...login } }) }
    requireLogin(required, access, ['photos:read'], now)
    return 'passes'
  } catch (error) {
    if (error instanceof OAuthError) return error.reason
    throw error
  }
}

describe('the login that a guard requires', () => {
  it('is none without options', () => {
    expect(read({})).toEqual({ required: undefined, paths: [] })
  })

  it.each([
    [{ maxAge: 1 }, { maxAge: 1, acrValues: [] }],
    [{ maxAge: 315_360_000 }, { maxAge: 315_360_000, acrValues: [] }],
    [{ acr: 'mfa' }, { maxAge: undefined, acrValues: ['mfa'] }],
    [
      { acr: ['b', 'a'], maxAge: 5 },
      { maxAge: 5, acrValues: ['b', 'a'] },
    ],
    [{ acr: 'a'.repeat(256) }, { maxAge: undefined, acrValues: ['a'.repeat(256)] }],
  ])('is read from %j', (options, required) => {
    expect(read(options)).toEqual({ required, paths: [] })
  })

  it.each([0, -1, 1.5, Number.NaN, Infinity, 315_360_001, '300', null, true, [300]])(
    'has no maxAge of %j',
    (maxAge) => {
      expect(read({ maxAge }).paths).toEqual([
        'maxAge must be whole seconds since the login, 1 to 315360000.',
      ])
    },
  )

  it.each([
    ['an empty text', ''],
    ['an empty list', []],
    ['two classes in one text', 'a b'],
    ['a quote', 'a"b'],
    ['a backslash', ['a\\b']],
    ['a line break', 'a\r\nb'],
    ['a letter beyond ASCII', 'é'],
    ['a text of 257 characters', 'a'.repeat(257)],
    ['a list that no request could name', Array.from({ length: 5 }, (_, i) => `${i}`.repeat(205))],
    ['a class twice', ['a', 'b', 'a']],
    ['a list with a number', ['a', 7]],
    ['null', null],
    ['an object', { 0: 'a' }],
  ])('has no acr with %s', (_what, acr) => {
    expect(read({ acr }).paths).toEqual([
      "acr must be a class such as 'urn:example:mfa', or a list of different ones, the preferred one first: printable ASCII without spaces, quotes and backslashes, at most 256 characters each and 1024 in all.",
    ])
  })
})

describe('a login', () => {
  it.each([
    [1000, 'passes'],
    [1005, 'passes'],
    [1006, 'login_too_old'],
    [700, 'passes'],
    [699, 'login_unknown'],
  ])('at 1000 s, asked for with maxAge 5 at %i s: %s', (now, verdict) => {
    expect(verdictOf({ maxAge: 5 }, {}, now)).toBe(verdict)
  })

  it('has any time, where its class alone counts', () => {
    expect(verdictOf({ acr: 'gold' }, { acr: 'gold' }, 0)).toBe('passes')
  })

  it.each([
    ['gold', 'gold', 'passes'],
    [['gold', 'silver'], 'silver', 'passes'],
    [['gold', 'silver'], 'bronze', 'login_of_another_class'],
    ['gold', 'Gold', 'login_of_another_class'],
    ['gold', 'gold silver', 'login_of_another_class'],
    ['gold', undefined, 'login_of_another_class'],
  ])('of a guard with acr %j that met %s: %s', (acr, met, verdict) => {
    expect(verdictOf({ acr }, { acr: met })).toBe(verdict)
  })

  it('needs both, the class and the age', () => {
    const both = { acr: 'gold', maxAge: 5 }
    expect(verdictOf(both, { acr: 'gold' }, 1006)).toBe('login_too_old')
    expect(verdictOf(both, { acr: 'silver' }, 1000)).toBe('login_of_another_class')
    expect(verdictOf(both, { acr: 'gold' }, 1005)).toBe('passes')
  })

  it.each([[{ maxAge: 5 }], [{ acr: 'gold' }]])(
    'is missing in a token without an owner, and in one that does not say when it was: %j',
    (options) => {
      const { required } = read(options)
      const login = { authTime: 1000, acr: 'gold' }
      for (const access of [{ subject: 'alice' }, { subject: undefined }, { subject: undefined, login }])
        expect(() => required && requireLogin(required, access, [], 1000)).toThrow(
          expect.objectContaining({ reason: 'login_unknown', status: 401 }),
        )
    },
  )
})

test('the challenge names all that the guard requires, in its order', () => {
  const { required } = read({ acr: ['silver', 'gold'], maxAge: 5 })
  const refuse = () => required && requireLogin(required, { subject: 'alice' }, ['a', 'b'], 1000)
  expect(refuse).toThrow(
    expect.objectContaining({
      code: 'insufficient_user_authentication',
      challenge: { scope: 'a b', acr_values: 'silver gold', max_age: '5' },
    }),
  )
})
