import * as fc from 'fast-check'
import { OAuthError } from '../../lib/protocol/oauth-error'
import { Parameters } from '../../lib/protocol/parameters'
import { thrownBy } from '../support/authorization/thrown'

const namesOfObjects = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']

/** The value of a, or the error if it is no refusal. */
function outcome(sent: string) {
  try {
    return Parameters.parse(sent).get('a')
  } catch (error) {
    return error instanceof OAuthError && error.code === 'invalid_request' ? undefined : error
  }
}

describe('Parameters.parse', () => {
  it('decodes names and values as a form does', () => {
    const parameters = Parameters.parse('scope=photos.read+profile&na%6De=%C3%A9%2B%26%3D')
    expect(parameters.get('scope')).toBe('photos.read profile')
    expect(parameters.get('name')).toBe('é+&=')
  })

  it('ends a name at the first equals sign', () => {
    expect(Parameters.parse('code=a=b==').get('code')).toBe('a=b==')
  })

  it.each(['state=', 'state', 'state=&code=x', '', 'other=x'])(
    'takes a parameter without a value as omitted: %j',
    (text) => {
      expect(Parameters.parse(text).get('state')).toBeUndefined()
    },
  )

  it.each(['state=a&state=b', 'state=a&state=a', 'state=a&state=', 'state=&state', 'state=a&st%61te=b'])(
    'refuses a parameter that is included more than once: %j',
    (text) => {
      const { code, reason, description } = thrownBy(() => Parameters.parse(text).get('state'))
      expect({ code, reason }).toEqual({ code: 'invalid_request', reason: 'parameter_malformed' })
      expect(description).toBe('The parameter state is included more than once.')
    },
  )

  it.each(['%zz', '%', '%a', '%ff', '%c3', '%c0%af', '%ed%a0%80', 'a%00%'])(
    'refuses a value that is not form encoded UTF-8: %j',
    (value) => {
      const { code, description } = thrownBy(() => Parameters.parse(`state=${value}`).get('state'))
      expect(code).toBe('invalid_request')
      expect(description).toBe('The parameter state is not form encoded in UTF-8.')
    },
  )

  it.each(['x=1&x=2', 'x=%zz', '%zz=1', '=1', '&&', 'x=%&x=%'])(
    'ignores what is faulty and unknown: %j',
    (faulty) => {
      const parameters = Parameters.parse(`${faulty}&code=good&${faulty}`)
      expect(parameters.get('code')).toBe('good')
      expect(() => parameters.check(['code', 'state'])).not.toThrow()
    },
  )

  it.each(['a[]', 'a[b]', 'a.b'])('takes %j as a plain name', (name) => {
    const parameters = Parameters.parse(`${name}=1&a=2`)
    expect(parameters.get(name)).toBe('1')
    expect(parameters.get('a')).toBe('2')
  })

  it.each(namesOfObjects)('has no %s unless it is sent', (name) => {
    expect(Parameters.parse('code=x').get(name)).toBeUndefined()
    expect(Parameters.parse('code=x').mentions(name)).toBe(false)
    expect(Parameters.parse(`${name}=x`).get(name)).toBe('x')
  })

  it('reads whatever a form can say', () => {
    const pairs = fc.uniqueArray(
      fc.tuple(fc.string({ unit: 'grapheme', minLength: 1 }), fc.string({ unit: 'grapheme', minLength: 1 })),
      { selector: ([name]) => name },
    )
    fc.assert(
      fc.property(pairs, (sent) => {
        const parameters = Parameters.parse(new URLSearchParams(sent).toString())
        for (const [name, value] of sent) expect(parameters.get(name)).toBe(value)
      }),
    )
  })

  it('answers any text with a value, with nothing, or with invalid_request', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '%', 'f', '0', '=', '&', '+', ' ', 'é') })
    fc.assert(
      fc.property(text, (sent) => {
        expect(outcome(sent) ?? 'nothing').toMatch(/./s)
      }),
    )
  })
})

describe('Parameters.fromParsedBody', () => {
  it('takes over texts', () => {
    expect(Parameters.fromParsedBody({ code: 'x', state: '' }).get('code')).toBe('x')
    expect(Parameters.fromParsedBody({ code: 'x', state: '' }).get('state')).toBeUndefined()
  })

  it.each([[['a', 'b']], [['a']], [{ b: 'a' }], [1], [true], [null], [undefined]])(
    'takes a value that is not a text as repeated: %j',
    (value) => {
      const parameters = Parameters.fromParsedBody({ code: value, state: 'x' })
      expect(thrownBy(() => parameters.get('code')).description).toBe(
        'The parameter code is included more than once.',
      )
      expect(parameters.get('state')).toBe('x')
    },
  )

  it('reads own names only, on any prototype', () => {
    const own: unknown = JSON.parse('{ "__proto__": "x", "code": "y" }')
    const parameters = Parameters.fromParsedBody(Object(own))
    expect(parameters.get('__proto__')).toBe('x')
    expect(Parameters.fromParsedBody(Object.assign(Object.create(null), { code: 'y' })).get('code')).toBe('y')
    expect(Parameters.fromParsedBody(Object.create({ code: 'y' })).get('code')).toBeUndefined()
  })
})

describe('Parameters', () => {
  const parameters = Parameters.parse('code=x&empty=&twice=1&twice=2&broken=%zz')

  it.each(['empty', 'absent'])('requires a value: %s', (name) => {
    const { code, reason, description } = thrownBy(() => parameters.require(name))
    expect({ code, reason }).toEqual({ code: 'invalid_request', reason: 'parameter_missing' })
    expect(description).toBe(`The parameter ${name} is missing.`)
    expect(parameters.require('code')).toBe('x')
  })

  it('gives every value of what may be included more than once, in order, and no empty one', () => {
    const several = Parameters.parse('resource=b&resource=&x=1&resource=a&resource=b&one=c&none=')
    expect(several.all('resource')).toEqual(['b', 'a', 'b'])
    expect(several.all('one')).toEqual(['c'])
    expect(several.all('none')).toEqual([])
    expect(several.all('__proto__')).toEqual([])
  })

  it.each(['resource=a&resource=%zz', 'resource=%zz&resource=a', 'resource=%ff'])(
    'refuses what may be included more than once when one is malformed: %s',
    (text) => {
      const { code, reason, description } = thrownBy(() => Parameters.parse(text).all('resource'))
      expect({ code, reason }).toEqual({ code: 'invalid_request', reason: 'parameter_malformed' })
      expect(description).toBe('The parameter resource is not form encoded in UTF-8.')
    },
  )

  it('reads a repetition from a parsed body, which is a list of at least two texts', () => {
    const body = { resource: ['b', 'a'], one: ['a'], nested: [['a'], 'b'], object: { a: 'b' } }
    const parsedBody = Parameters.fromParsedBody(body)
    expect(parsedBody.all('resource')).toEqual(['b', 'a'])
    for (const name of ['one', 'nested', 'object'])
      expect(thrownBy(() => parsedBody.all(name)).code).toBe('invalid_request')
  })

  it('lets an error answer peek at what is sound', () => {
    expect(['code', 'empty', 'absent', 'twice', 'broken'].map((name) => parameters.peek(name))).toEqual([
      'x',
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  it('knows which names the request mentions, in whatever shape', () => {
    const mentioned = ['code', 'empty', 'absent', 'twice', 'broken'].filter((name) =>
      parameters.mentions(name),
    )
    expect(mentioned).toEqual(['code', 'empty', 'twice', 'broken'])
  })

  it('refuses a request when one of the names to check is faulty, read or not', () => {
    expect(() => parameters.check(['code', 'empty', 'absent'])).not.toThrow()
    expect(thrownBy(() => parameters.check(['code', 'twice'])).code).toBe('invalid_request')
    expect(thrownBy(() => parameters.check(new Set(['broken']))).code).toBe('invalid_request')
  })

  it('asks the same thing once more', () => {
    const again = Parameters.parse(Parameters.parse('scope=a+b&state=%C3%A9%26&x[]=1').format())
    expect(['scope', 'state', 'x[]'].map((name) => again.get(name))).toEqual(['a b', 'é&', '1'])
  })

  it('does not make a repeated parameter a sound one by asking once more', () => {
    expect(Parameters.parse(parameters.format()).mentions('twice')).toBe(false)
  })
})
