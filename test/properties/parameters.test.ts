import * as fc from 'fast-check'
import { OAuthError } from '../../lib/protocol/oauth-error'
import { isSameScheme, parseAuthorization, readBearerToken } from '../../lib/protocol/http-authentication'
import { deepestJson, isShallow } from '../../lib/protocol/json'
import { formOf, longestValues, Parameters } from '../../lib/protocol/parameters'
import { wholeText } from '../support/any-text'

fc.configureGlobal({ seed: 7 })

/** What reading gives: its value, or reason and description of the refusal. */
function readingOf(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof OAuthError) || error.code !== 'invalid_request') throw error
    return `${error.reason}: ${error.description}`
  }
}
const valueIn = (text: string, name = 'state') => readingOf(() => Parameters.parse(text).get(name))
const valuesIn = (text: string, name = 'resource') => readingOf(() => Parameters.parse(text).all(name))
const inBody = (body: object, name: string) =>
  readingOf(() => Parameters.fromParsedBody(Object(body)).get(name))
const allInBody = (body: object, name: string) =>
  readingOf(() => Parameters.fromParsedBody(Object(body)).all(name))
const twice = (name: string) => `parameter_malformed: The parameter ${name} is included more than once.`
const notEncoded = (name: string) =>
  `parameter_malformed: The parameter ${name} is not form encoded in UTF-8.`
const missing = (name: string) => `parameter_missing: The parameter ${name} is missing.`

describe('a parameter', () => {
  test.each<[string, string, unknown]>([
    ['scope=photos.read+profile&x=1', 'scope', 'photos.read profile'],
    ['na%6De=%C3%A9%2B%26%3D', 'name', 'é+&='],
    ['code=a=b==', 'code', 'a=b=='],
    ...['state=', 'state', 'state=&code=x', '', 'other=x'].map(
      (text) => [text, 'state', undefined] as [string, string, undefined],
    ),
    ...['state=a&state=b', 'state=a&state=a', 'state=a&state=', 'state=&state', 'state=a&st%61te=b'].map(
      (text) => [text, 'state', twice('state')] as [string, string, string],
    ),
    ...['%zz', '%', '%a', '%ff', '%c3', '%c0%af', '%ed%a0%80', 'a%00%'].map(
      (value) => [`state=${value}`, 'state', notEncoded('state')] as [string, string, string],
    ),
    // What is faulty and unknown hides nothing.
    ...['x=1&x=2', 'x=%zz', '%zz=1', '=1', '&&', 'x=%&x=%'].map(
      (faulty) => [`${faulty}&code=good&${faulty}`, 'code', 'good'] as [string, string, string],
    ),
    ...['a[]', 'a[b]', 'a.b'].map((name) => [`${name}=1&a=2`, name, '1'] as [string, string, string]),
    ['a[]=1&a=2', 'a', '2'],
    ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'].flatMap((name) => [
      ['code=x', name, undefined] as [string, string, undefined],
      [`${name}=x`, name, 'x'] as [string, string, string],
    ]),
    [`nonce=${'a'.repeat(50_000)}`, 'nonce', 'a'.repeat(50_000)],
  ])('in %j by the name %j', (text, name, value) => {
    expect(valueIn(text, name)).toBe(value)
  })

  test.each<[string, unknown]>([
    ['resource=b&resource=&x=1&resource=a&resource=b', ['b', 'a', 'b']],
    ['resource=c', ['c']],
    ['resource=', []],
    ['x=1', []],
    ['resource=a&resource=%zz', notEncoded('resource')],
    ['resource=%zz&resource=a', notEncoded('resource')],
    ['resource=%ff', notEncoded('resource')],
  ])('that may come more than once, in %j', (text, values) => {
    expect(valuesIn(text)).toEqual(values)
  })

  test('in a body that a parser of the host has read is a text, or a list of at least two', () => {
    const lists = { resource: ['b', 'a'], one: ['a'], nested: [['a'], 'b'], object: { a: 'b' } }
    expect(Object.keys(lists).map((name) => allInBody(lists, name))).toEqual([
      ['b', 'a'],
      twice('one'),
      twice('nested'),
      twice('object'),
    ])
    for (const value of [['a', 'b'], ['a'], { b: 'a' }, 1, true, null, undefined])
      expect([value, inBody({ code: value, state: 'x' }, 'code')]).toEqual([value, twice('code')])
    expect(inBody({ code: 'x', state: '' }, 'code')).toBe('x')
    expect(inBody({ code: 'x', state: '' }, 'state')).toBeUndefined()
    expect(inBody(JSON.parse('{ "__proto__": "x", "code": "y" }'), '__proto__')).toBe('x')
    expect(inBody(Object.assign(Object.create(null), { code: 'y' }), 'code')).toBe('y')
    expect(inBody(Object.create({ code: 'y' }), 'code')).toBeUndefined()
  })

  test('is what was sent, whatever form it was', () => {
    const text = wholeText({ minLength: 1 })
    const pairs = fc.uniqueArray(fc.tuple(text, text), { selector: ([name]) => name })
    fc.assert(
      fc.property(pairs, (sent) => {
        const parameters = Parameters.parse(new URLSearchParams(sent).toString())
        expect(sent.map(([name]) => parameters.get(name))).toEqual(sent.map(([, value]) => value))
        const again = Parameters.parse(parameters.format())
        expect(sent.map(([name]) => again.get(name))).toEqual(sent.map(([, value]) => value))
      }),
    )
  })

  test('is written down as the URL standard says, half a surrogate pair included', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', ' ', "!'()*~-._", '%+&=', 'é', '\u{1F600}', '\uD83D', '\0'),
    })
    fc.assert(
      fc.property(text, (value) => {
        expect(formOf({ [value]: value })).toBe(new URLSearchParams([[value, value]]).toString())
      }),
    )
  })

  test('in any text is a value, nothing, or a refusal', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '%', 'f', '0', '=', '&', '+', ' ', 'é') })
    fc.assert(fc.property(text, (sent) => expect(typeof valueIn(sent, 'a')).toMatch(/string|undefined/)))
  })

  const several = Parameters.parse('code=x&empty=&twice=1&twice=2&broken=%zz')
  const names = ['code', 'empty', 'absent', 'twice', 'broken']

  test('is required, looked at for the answer to an error, mentioned and checked', () => {
    expect(names.map((name) => readingOf(() => several.require(name)))).toEqual([
      'x',
      missing('empty'),
      missing('absent'),
      twice('twice'),
      notEncoded('broken'),
    ])
    expect(names.map((name) => several.peek(name))).toEqual(['x', undefined, undefined, undefined, undefined])
    expect(names.filter((name) => several.mentions(name))).toEqual(['code', 'empty', 'twice', 'broken'])
    const checked = [['code', 'empty', 'absent'], ['code', 'twice'], new Set(['broken'])]
    expect(checked.map((some) => readingOf(() => several.check(some)))).toEqual([
      undefined,
      twice('twice'),
      notEncoded('broken'),
    ])
  })

  test('that is repeated does not become a sound one when the request is written down', () => {
    const again = Parameters.parse(several.format())
    expect(readingOf(() => again.get('twice'))).toBe(twice('twice'))
    expect(again.mentions('broken')).toBe(false)
    const list = Parameters.parse(Parameters.parse('scope=a+b&r=a&r=b').format())
    expect([list.get('scope'), list.all('r')]).toEqual(['a b', ['a', 'b']])
  })

  test.each([...longestValues])('%s may have %i characters after decoding, and no more', (name, most) => {
    expect(valueIn(`${name}=${'%61'.repeat(most)}`, name)).toBe('a'.repeat(most))
    const long = 'a'.repeat(most + 1)
    for (const parameters of [
      Parameters.parse(`${name}=${long}`),
      Parameters.fromParsedBody({ [name]: long }),
    ]) {
      expect(readingOf(() => parameters.get(name))).toMatch(/^parameter_too_long/)
      expect(readingOf(() => parameters.all(name))).toMatch(/^parameter_too_long/)
      expect([parameters.peek(name), parameters.mentions(name), parameters.format()]).toEqual([
        undefined,
        true,
        '',
      ])
    }
  })

  const pairs = (count: number) => Array.from({ length: count }, (_, index) => `p${index}=1`)
  test.each([
    ['different ones', (count: number) => Parameters.parse(pairs(count).join('&'))],
    ['one that is repeated', (count: number) => Parameters.parse(Array(count).fill('a=1').join('&'))],
    ['malformed ones', (count: number) => Parameters.parse(Array(count).fill('a=%FF').join('&'))],
    [
      'those of a body',
      (count: number) => Parameters.fromParsedBody(Object.fromEntries(pairs(count).entries())),
    ],
    ['those of a list', (count: number) => Parameters.fromParsedBody({ a: Array(count).fill('1') })],
  ])('is one of 100 at most: %s', (_what, read) => {
    expect(readingOf(() => read(100))).toBeInstanceOf(Parameters)
    expect(readingOf(() => read(101))).toMatch(/^too_many_parameters/)
  })
})

describe('an Authorization header', () => {
  test.each([
    ['Basic abc', 'Basic', 'abc'],
    ['APIKEY   a b', 'APIKEY', 'a b'],
    ['Basic', 'Basic', ''],
    ['Basic ', 'Basic', ''],
    ['', '', ''],
    [' Basic abc', '', 'Basic abc'],
    ['Bearer\tabc', 'Bearer\tabc', ''],
  ])('%j is split at its first space', (header, scheme, credentials) => {
    expect(parseAuthorization(header)).toEqual({ scheme, credentials })
  })

  test('names its scheme in any letter case, and brings one token', () => {
    expect([isSameScheme('bEaReR', 'Bearer'), isSameScheme('Bearers', 'Bearer')]).toEqual([true, false])
    expect(['abc', '', 'a b'].map((credentials) => readBearerToken(credentials)?.accessToken)).toEqual([
      'abc',
      undefined,
      undefined,
    ])
  })
})

test('JSON of 32 levels is taken, deeper is not, and the deepest that parses costs no stack', () => {
  const nested = (levels: number) => JSON.parse('{"a":['.repeat(levels / 2) + ']}'.repeat(levels / 2))
  expect([isShallow(nested(deepestJson)), isShallow(nested(deepestJson + 2))]).toEqual([true, false])
  expect([null, 7, 'x', [], {}, [[], [{}]]].every((json) => isShallow(json))).toBe(true)
  let deep: unknown = []
  for (let level = 0; level < 100_000; level++) deep = [deep]
  expect(isShallow(deep)).toBe(false)
})
