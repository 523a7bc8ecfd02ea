import { readConfirmation, withConfirmation } from '../../lib/protocol/confirmation'
import { secureRandom } from '../../lib/protocol/credential'
import { noEvidence } from '../../lib/protocol/extension-data'
import type { Extension } from '../../lib/protocol/extension'
import { isKeepable } from '../../lib/protocol/json'
import { parseResourceOwner } from '../../lib/protocol/resource-owner'
import { challengeOfType, issueOfType, type TokenType } from '../../lib/protocol/token-type'
import { noon } from '../support/noon'

// A method, not a function type: so the checker lets through what a host wrote in JavaScript.
const javascript: { pass(value: unknown): never } = { pass: (value: never) => value }
const unchecked = (value: unknown): never => javascript.pass(value)

const typeOf = (name: string, bend: Partial<TokenType> = {}): TokenType => ({
  name,
  scheme: name,
  read: () => undefined,
  ...bend,
})

describe('what a host says of who is logged in', () => {
  test.each([
    [undefined, undefined],
    [null, undefined],
    [false, undefined],
    ['alice', { subject: 'alice' }],
    [
      { subject: '7', name: 'Alice', password: 'x' },
      { subject: '7', name: 'Alice' },
    ],
    [{ subject: '7', name: '' }, { subject: '7' }],
  ])('as %j is %j', (value, owner) => {
    expect(parseResourceOwner(value)).toEqual(owner)
  })

  test.each([[''], [0], [7], [true], [['alice']], [{}], [{ subject: '' }], [{ subject: 7 }], [{ id: '7' }]])(
    'is never %j, which is neither an owner nor none [consent-10]',
    (value) => {
      expect(() => parseResourceOwner(value)).toThrow(TypeError)
    },
  )
})

test('a subject has 1024 characters, and no more', () => {
  const longest = 'a'.repeat(1024)
  expect(parseResourceOwner(longest)).toEqual({ subject: longest })
  expect(() => parseResourceOwner(`${longest}a`)).toThrow(TypeError)
})

test('what a plug-in keeps is JSON of 16384 characters and 32 levels, and no more', () => {
  const ofLength = (length: number) => 'a'.repeat(length - JSON.stringify('').length)
  const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)
  expect([isKeepable(ofLength(16_384)), isKeepable(ofLength(16_385))]).toEqual([true, false])
  expect([isKeepable(nested(32)), isKeepable(nested(33))]).toEqual([true, false])
})

describe('what a token type', () => {
  const moment = { now: noon, random: secureRandom, evidence: noEvidence }
  const issue = (answer: unknown, seen: unknown[] = []) =>
    issueOfType(
      typeOf('sealed', {
        issue(...given) {
          seen.push(...given)
          return unchecked(answer)
        },
      }),
      'at_x',
      moment,
    )

  test('brings for a token is taken as it is', () => {
    const seen: unknown[] = []
    const brought = { properties: { seal: 'red', count: 7 }, tokenData: 'wax' }
    expect(issue(brought, seen)).toEqual(brought)
    expect(seen).toEqual(['at_x', moment])
    expect(issueOfType(typeOf('bearer'), 'at_x', moment)).toEqual({ properties: {} })
  })

  const reserved = [
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
  ]
  test.each<[unknown, string]>([
    [null, 'returned a wrong result for a token: it must be an object'],
    [Promise.resolve({ properties: {} }), 'returned a wrong result for a token: it must be an object'],
    [{ tokenData: 'wax' }, 'properties is missing: it must be an object of texts and finite numbers.'],
    [{ properties: { seal: true } }, 'properties must be'],
    [{ properties: { seal: Infinity } }, 'properties must be'],
    [{ properties: {}, tokenData: new Date() }, 'tokenData must be JSON'],
    ...reserved.map(
      (name) => [{ properties: { seal: 'red', [name]: 'x' } }, `may not set "${name}"`] as [unknown, string],
    ),
  ])('brings for a token is not %p', (answer, mistake) => {
    const fault = expect.stringMatching(/^The token type "sealed" /)
    expect(() => issue(answer)).toThrow(expect.objectContaining({ message: fault }))
    expect(() => issue(answer)).toThrow(mistake)
  })

  test('challenges with is asked each time', () => {
    let asked = 0
    const type = typeOf('sealed', { challenge: () => ({ algs: `${++asked}` }) })
    expect([challengeOfType(type), challengeOfType(type)]).toEqual([{ algs: '1' }, { algs: '2' }])
    expect(challengeOfType(typeOf('bearer'))).toEqual({})
  })

  test.each([
    [null],
    [{ algs: 'a"b' }],
    [{ algs: 7 }],
    [{ 'a b': 'c' }],
    [{ error: 'invalid_token' }],
    [{ Scope: 'all' }],
    [{ REALM: 'x' }],
  ])('challenges with is not %j', (attributes) => {
    expect(() => challengeOfType(typeOf('sealed', { challenge: () => unchecked(attributes) }))).toThrow(
      'The challenge of the token type "sealed" must be',
    )
  })
})

describe('a confirmation', () => {
  const tokenTypes = [
    typeOf('bearer'),
    typeOf('DPoP', { confirmationMethod: 'jkt' }),
    typeOf('Other', { confirmationMethod: 'kid' }),
  ]
  const certificate: Extension = { name: 'mtls', confirmationMethod: 'x5t#S256' }
  const confirming = { tokenTypes, extensions: [certificate, { name: 'idle' }] }
  const kept = { tokenType: 'DPoP', tokenData: 'thumb', extensionData: {}, tokenExtensionData: {} }

  test('has what a token type and an extension keep, and it comes back by it', () => {
    const tokenExtensionData = { mtls: 'print', idle: 'x' }
    const { cnf } = withConfirmation({}, confirming, { ...kept, tokenExtensionData })
    expect(cnf).toEqual({ jkt: 'thumb', 'x5t#S256': 'print' })
    expect(readConfirmation(confirming, cnf)).toEqual({
      tokenType: 'DPoP',
      tokenData: 'thumb',
      tokenExtensionData: { mtls: 'print' },
    })
  })

  test('that an extension writes itself stays, beside those of the methods', () => {
    const own = { aud: 'a', cnf: { jwk: { kty: 'EC' }, jkt: 'of the extension' } }
    expect(withConfirmation(own, confirming, kept)).toEqual({
      aud: 'a',
      cnf: { jwk: { kty: 'EC' }, jkt: 'thumb' },
    })
  })

  test.each([
    ['a type without a method', { ...kept, tokenType: 'bearer' }],
    ['a type that is gone', { ...kept, tokenType: 'mac' }],
    ['no data', { ...kept, tokenData: undefined }],
  ])('is not written for %s', (_what, token) => {
    expect(withConfirmation({ aud: 'a' }, confirming, token)).toEqual({ aud: 'a' })
  })

  test('that two types would have to check is refused; a type and an extension of one method both check it', () => {
    expect(readConfirmation(confirming, { kid: 'a' })).toMatchObject({ tokenType: 'Other', tokenData: 'a' })
    expect(readConfirmation(confirming, { jkt: 'thumb', kid: 'a' })).toBeUndefined()
    const extensions = [{ ...certificate, name: '__proto__', confirmationMethod: 'jkt' }]
    const read = readConfirmation({ tokenTypes, extensions }, { jkt: 'thumb' })
    expect([read?.tokenType, read?.tokenData]).toEqual(['DPoP', 'thumb'])
    expect(Object.entries(read?.tokenExtensionData ?? {})).toEqual([['__proto__', 'thumb']])
  })
})
