import * as fc from 'fast-check'
import type { ConfigurationIssue } from '../../lib/primitives/options-reader'
import { OAuthError } from '../../lib/protocol/oauth-error'
import { largestMembers, longestValues, Parameters } from '../../lib/protocol/parameters'
import { anyCapabilities, parseClient } from '../../lib/protocol/parse-client'
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

  it('reads every form', () => {
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
    const again = Parameters.parse(Parameters.parse('scope=a+b&state=%C3%A9%26&x[]=1&r=a&r=b').format())
    expect(['scope', 'state', 'x[]'].map((name) => again.get(name))).toEqual(['a b', 'é&', '1'])
    expect(again.all('r')).toEqual(['a', 'b'])
  })

  it('does not make a repeated parameter a sound one by asking once more', () => {
    const again = Parameters.parse(parameters.format())
    expect(thrownBy(() => again.get('twice')).code).toBe('invalid_request')
    expect(again.mentions('broken')).toBe(false)
  })
})

const reasonOf = (act: () => unknown): string | undefined => {
  try {
    act()
    return undefined
  } catch (error) {
    return error instanceof OAuthError ? error.reason : String(error)
  }
}

const body = (count: number) => Object.fromEntries(new URLSearchParams(pairs(count).join('&')))
const pairs = (count: number) => Array.from({ length: count }, (_, index) => `p${index}=1`)

describe.each([...longestValues])('the parameter %s', (name, most) => {
  it(`may have ${most} characters after decoding, and no more`, () => {
    const exact = Parameters.parse(`${name}=${'%61'.repeat(most)}`)
    expect(exact.get(name)).toBe('a'.repeat(most))
    const long = [
      Parameters.parse(`${name}=${'a'.repeat(most + 1)}`),
      Parameters.fromParsedBody({ [name]: 'a'.repeat(most + 1) }),
    ]
    for (const parameters of long) {
      expect(reasonOf(() => parameters.get(name))).toBe('parameter_too_long')
      expect(reasonOf(() => parameters.all(name))).toBe('parameter_too_long')
      expect(parameters.peek(name)).toBeUndefined()
      expect(parameters.mentions(name)).toBe(true)
      expect(parameters.format()).toBe('')
    }
  })
})

const page = (length: number) => 'https://a.example/'.padEnd(length, 'a')

describe.each(largestMembers)('the member %s of a registration', (name, most) => {
  const mistakesOf = (value: unknown) => {
    const issues: ConfigurationIssue[] = []
    const registration = {
      client_id: 'a',
      client_type: 'public',
      scope: 'a',
      redirect_uris: ['https://a.example'],
    }
    parseClient({ ...registration, [name]: value }, 'client', issues, anyCapabilities)
    return issues.map(({ path, message }) => `${path} ${message}`)
  }
  const texts: Readonly<Record<string, (length: number) => unknown>> = {
    post_logout_redirect_uris: (length) => Array.from({ length }, (_, index) => `https://a.example/${index}`),
    redirect_uris: (length) => Array.from({ length }, (_, index) => `https://a.example/${index}`),
    client_secret_hashes: (length) =>
      Array.from({ length }, () => 'sha256:9hAk1Mj7tNc1nGqGSjnuEZG8x0PQg3gGZQXp3X8y8Gk'),
    credentials: (length) => ({ method: 'a'.repeat(length - JSON.stringify({ method: '' }).length) }),
  }
  const valueOf = (length: number) =>
    (texts[name] ?? (name.endsWith('_uri') ? page : (letters: number) => 'a'.repeat(letters)))(length)

  it(`may have ${most}, and no more`, () => {
    const what = Array.isArray(valueOf(most)) ? 'entries' : 'characters'
    expect(mistakesOf(valueOf(most))).toEqual([])
    expect(mistakesOf(valueOf(most + 1))).toEqual([`client.${name} must have at most ${most} ${what}.`])
  })
})

describe('parameters', () => {
  it('that are unknown may have any length', () => {
    expect(Parameters.parse(`nonce=${'a'.repeat(50_000)}`).get('nonce')).toHaveLength(50_000)
  })

  it.each([
    ['different ones', pairs(100), pairs(101)],
    ['one that is repeated', Array(100).fill('a=1'), Array(101).fill('a=1')],
    ['malformed ones', Array(100).fill('a=%FF'), Array(101).fill('a=%FF')],
  ])('may be 100 and no more: %s', (_what, most, more) => {
    expect(reasonOf(() => Parameters.parse(most.join('&')))).toBeUndefined()
    expect(reasonOf(() => Parameters.parse(more.join('&')))).toBe('too_many_parameters')
  })

  it('may be 100 and no more in a body that a parser of the host has read', () => {
    expect(reasonOf(() => Parameters.fromParsedBody(body(100)))).toBeUndefined()
    expect(reasonOf(() => Parameters.fromParsedBody(body(101)))).toBe('too_many_parameters')
    const list = { a: Array(101).fill('1') }
    expect(reasonOf(() => Parameters.fromParsedBody(list))).toBe('too_many_parameters')
  })
})

const issuesIn = (bend: object): readonly ConfigurationIssue[] => {
  const issues: ConfigurationIssue[] = []
  const client = {
    client_id: 'a',
    client_type: 'public',
    scope: 'b',
    redirect_uris: ['https://a.example/'],
  }
  parseClient({ ...client, ...bend }, 'client', issues, anyCapabilities)
  return issues
}
const uriOf = (length: number) => 'https://a.example/'.padEnd(length, 'x')

describe('a registration', () => {
  it('keeps to the bounds of what requests must name', () => {
    expect(issuesIn({ client_id: 'x'.repeat(256), redirect_uris: [uriOf(2048)] })).toEqual([])
    expect(issuesIn({ client_id: 'x'.repeat(257), redirect_uris: [uriOf(2049)] })).toEqual([
      { path: 'client.client_id', message: 'must be at most 256 characters.' },
      { path: 'client.redirect_uris[0]', message: 'must be at most 2048 characters.' },
    ])
  })
})
