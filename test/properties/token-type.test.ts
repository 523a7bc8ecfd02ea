import { noEvidence } from '../../lib/protocol/evidence'
import { secureRandom } from '../../lib/protocol/credential'
import { challengeOfType, issueOfType, type TokenType } from '../../lib/protocol/token-type'
import { bearer } from '../../lib/extensions/token-types/bearer'
import { noon } from '../support/authorization/issue-context'

const moment = { now: noon, random: secureRandom, evidence: noEvidence }
const bringing = (properties: Record<string, string | number>): TokenType => ({
  ...bearer,
  name: 'sealed',
  issue: () => ({ properties, tokenData: 'wax' }),
})

// A method, not a function type: so the checker lets through what a host wrote in JavaScript.
const javascript: { pass(value: unknown): never } = { pass: (value: never) => value }
const unchecked = (value: unknown): never => javascript.pass(value)

describe('issueOfType', () => {
  it('brings what the token type brings, and nothing for one that brings nothing', () => {
    expect(issueOfType(bringing({ seal: 'red' }), 'at_x', moment)).toEqual({
      properties: { seal: 'red' },
      tokenData: 'wax',
    })
    expect(issueOfType(bearer, 'at_x', moment)).toEqual({ properties: {} })
  })

  it.each<[string, object | null, string]>([
    ['no object', null, 'it must be an object'],
    ['a promise', Promise.resolve({ properties: {} }), 'it must be an object'],
    ['no properties', { tokenData: 'wax' }, 'properties must be an object of texts and finite numbers.'],
    ['a property that is true', { properties: { seal: true } }, 'properties must be'],
    ['a property that is infinite', { properties: { seal: Infinity } }, 'properties must be'],
    ['data that JSON changes', { properties: {}, tokenData: new Date() }, 'tokenData must be JSON'],
  ])('throws for %s, and names the token type', (_what, result, mistake) => {
    const tokenType = { ...bearer, name: 'sealed', issue: () => unchecked(result) }
    expect(() => issueOfType(tokenType, 'at_x', moment)).toThrow(
      `The token type "sealed" returned a wrong result for a token: ${mistake}`,
    )
  })

  it('shows the token type the token and the moment', () => {
    const issue = jest.fn(() => ({ properties: {} }))
    issueOfType({ ...bearer, issue }, 'at_x', moment)
    expect(issue.mock.calls).toEqual([['at_x', moment]])
  })

  it.each([
    'access_token',
    'token_type',
    'expires_in',
    'refresh_token',
    'scope',
    'state',
    'code',
    'iss',
    'error',
    'error_description',
    'error_uri',
  ])('leaves %s to the framework', (name) => {
    expect(() => issueOfType(bringing({ seal: 'red', [name]: 'x' }), 'at_x', moment)).toThrow(
      `The token type "sealed" may not set "${name}"`,
    )
  })
})

describe('challengeOfType', () => {
  const challenging = (challenge: () => unknown): TokenType => {
    const own = { challenge: jest.fn() }
    own.challenge.mockImplementation(challenge)
    return { ...bearer, name: 'sealed', ...own }
  }

  it('asks the token type each time, and is empty without its answer', () => {
    let asked = 0
    const type = challenging(() => ({ algs: `${++asked}` }))
    expect([challengeOfType(type), challengeOfType(type)]).toEqual([{ algs: '1' }, { algs: '2' }])
    expect(challengeOfType(bearer)).toEqual({})
  })

  it.each<[string, unknown]>([
    ['no object', null],
    ['a value with a quote', { algs: 'a"b' }],
    ['a value that is no text', { algs: 7 }],
    ['a name with a space', { 'a b': 'c' }],
    ['the error of the server', { error: 'invalid_token' }],
    ['the scope of the guard', { Scope: 'all' }],
    ['the realm', { REALM: 'x' }],
  ])('throws for %s', (_what, attributes) => {
    expect(() => challengeOfType(challenging(() => attributes))).toThrow(
      'The challenge of the token type "sealed" must be',
    )
  })
})
