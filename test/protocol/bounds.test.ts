import type { ConfigurationIssue } from '../../lib/protocol/configuration'
import { OAuthError } from '../../lib/protocol/oauth-error'
import { largestMembers, longestValues, Parameters } from '../../lib/protocol/parameters'
import { anyCapabilities, parseClient } from '../../lib/protocol/parse-client'

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
  it('that nobody knows may have any length', () => {
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
