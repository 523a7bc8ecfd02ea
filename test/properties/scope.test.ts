import * as fc from 'fast-check'
import { type Field, Place } from '../../lib/primitives/schema'
import { OAuthError } from '../../lib/protocol/oauth-error'
import {
  covers,
  formatScope,
  grantableScope,
  intersects,
  parseScope,
  scopeDescriptions,
  scopeImplications,
  withImplied,
} from '../../lib/protocol/scope'
import { clientWith } from '../support/client'

fc.configureGlobal({ seed: 7 })

// RFC 6749 3.3: %x21 / %x23-5B / %x5D-7E.
const tokenCharacters = Array.from({ length: 0x7f }, (_, code) => String.fromCharCode(code)).filter(
  (character) => character > ' ' && character !== '"' && character !== '\\',
)
const token = fc.string({ unit: fc.constantFrom(...tokenCharacters), minLength: 1, maxLength: 12 })

function readAt<Value>(name: string, field: Field<Value>, given: unknown) {
  const at = new Place({}, '', undefined)
  return { value: field(given, at, name), issues: at.issues }
}

describe('a scope', () => {
  test.each<readonly [string, readonly string[] | undefined]>([
    ['photos.read', ['photos.read']],
    ['a b c', ['a', 'b', 'c']],
    ['a b a', ['a', 'b']],
    ['read Read', ['read', 'Read']],
    ['https://api.example/photos', ['https://api.example/photos']],
    ['! # [ ] ~', ['!', '#', '[', ']', '~']],
    ...['', ' ', ' a', 'a ', 'a  b', 'a\tb', 'a\nb', 'a\n', 'a"b', 'a\\b', 'a\u00A0b'].map(
      (text) => [text, undefined] as const,
    ),
  ])('in %j is %j', (text, scope) => {
    expect(parseScope(text)).toEqual(scope)
  })

  test('takes a character exactly when the grammar does', () => {
    const taken = Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code)).filter(
      (character) => parseScope(`a${character}a`) !== undefined,
    )
    expect(taken).toEqual([' ', ...tokenCharacters])
  })

  test('that is written is read again, covers each part of itself, and has something of each', () => {
    const tokens = fc.uniqueArray(token, { minLength: 1 })
    fc.assert(
      fc.property(
        tokens.chain((scope) => fc.tuple(fc.constant(scope), fc.shuffledSubarray(scope))),
        ([scope, part]) => {
          expect(parseScope(formatScope(scope))).toEqual(scope)
          expect(covers(scope, part)).toBe(true)
          expect(covers(part, scope)).toBe(part.length === scope.length)
          expect(intersects(scope, part)).toBe(part.length > 0)
        },
      ),
    )
    expect([covers(['a'], ['A']), covers([], ['a']), intersects(['a'], ['A'])]).toEqual([false, false, false])
  })
})

describe('the scope that a client may be granted', () => {
  const client = clientWith({ scope: 'photos.read photos.write' })
  const granted = (requested: string | undefined, defaultScope: readonly string[]) => {
    try {
      return grantableScope(requested, client, defaultScope)
    } catch (error) {
      if (!(error instanceof OAuthError) || error.code !== 'invalid_scope') throw error
      // Of a request, the text names one scope token; of the default, none.
      expect(error.description.includes('profile')).toBe(requested?.includes('profile') ?? false)
      return error.reason
    }
  }

  test.each([
    ['photos.write', ['photos.read'], ['photos.write']],
    ['photos.write photos.read', [], ['photos.write', 'photos.read']],
    [undefined, ['photos.read'], ['photos.read']],
    [undefined, ['profile', 'photos.read'], ['photos.read']],
    [undefined, [], 'scope_missing'],
    [undefined, ['profile'], 'scope_missing'],
    ['', ['photos.read'], 'scope_malformed'],
    ['photos.read  photos.write', [], 'scope_malformed'],
    ['videos.read', [], 'scope_not_allowed'],
    ['Photos.Read', [], 'scope_not_allowed'],
    ['photos.read profile', [], 'scope_not_allowed'],
    ['profile', ['profile'], 'scope_not_allowed'],
  ])('who asks for %j, with the default %j, is %j', (requested, defaultScope, expected) => {
    expect(granted(requested, defaultScope)).toEqual(expected)
  })
})

describe('implied scopes', () => {
  const known = ['notes:read', 'notes:write', 'notes:admin', 'profile']
  function read(implies: unknown, knownScope: readonly string[] | undefined = known) {
    const { value, issues } = readAt('implies', scopeImplications(knownScope), implies)
    return { implied: value, problems: issues.map(({ path, message }) => `${path} ${message}`) }
  }
  const widely = { 'notes:admin': ['notes:write', 'profile'], 'notes:write': ['notes:read'] }
  const toOne = { 'notes:write': ['notes:read'], profile: ['notes:read', 'notes:read'] }

  test.each<[string, object | undefined, string]>([
    ['notes:admin', widely, 'notes:admin notes:write profile notes:read'],
    ['notes:write', widely, 'notes:write notes:read'],
    ['notes:read profile', widely, 'notes:read profile'],
    ['notes:read notes:write profile', toOne, 'notes:read notes:write profile'],
    ['notes:write', undefined, 'notes:write'],
    ['notes:write', {}, 'notes:write'],
  ])('of %s under %j are %s', (scope, implies, expected) => {
    const { implied, problems } = read(implies)
    expect([problems, withImplied(scope.split(' '), implied).join(' ')]).toEqual([[], expected])
  })

  test.each<[object, string]>([
    [{ 'notes:read': ['notes:read'] }, 'lets "notes:read" imply itself'],
    [{ 'notes:read': ['notes:write'], 'notes:write': ['notes:read'] }, 'lets "notes:read" imply itself'],
    [{ ...widely, 'notes:read': ['notes:write'] }, 'lets "notes:write" imply itself'],
    [{ 'notes:write': ['notes:raed'] }, 'names "notes:raed", which is not a scope of this server'],
    [{ 'note:write': ['notes:read'] }, 'names "note:write", which is not a scope of this server'],
    [{ 'notes:write': ['toString'] }, 'names "toString", which is not a scope of this server'],
    [JSON.parse('{ "__proto__": ["notes:read"] }'), 'names "__proto__", which is not a scope of this server'],
  ])('may not be %j', (implies, problem) => {
    expect(read(implies).problems).toEqual([expect.stringContaining(`implies ${problem}`)])
  })

  test('may name any scopes where only another process knows them, and stay what they were', () => {
    const given = JSON.parse('{ "__proto__": ["a"], "b": ["__proto__"] }')
    const { value, issues } = readAt('implies', scopeImplications(undefined), given)
    expect(issues).toEqual([])
    expect(withImplied(['b'], value)).toEqual(['b', '__proto__', 'a'])
    expect(withImplied(['constructor'], value)).toEqual(['constructor'])
    const implies = { 'notes:write': ['notes:read'] }
    const before = read(implies).implied
    implies['notes:write'].push('profile')
    expect(withImplied(['notes:write'], before)).toEqual(['notes:write', 'notes:read'])
  })
})

describe('the descriptions of scopes', () => {
  const read = (scopes: unknown) => {
    const { value, issues } = readAt('scopes', scopeDescriptions, scopes)
    return { scopes: [...value], issues }
  }
  const plain = { group: undefined, weight: 'read', optional: false, claims: [] }
  const german = { en: 'See', 'de-AT': 'Sehen' }
  const heavy = {
    description: german,
    group: { en: 'Photos' },
    weight: 'danger',
    optional: true,
    claims: ['a'],
  }

  test('are texts, texts by language, or more of both', () => {
    expect(read({ a: 'See', b: german, c: heavy, d: { description: 'See' } })).toEqual({
      scopes: [
        ['a', { description: 'See', ...plain }],
        ['b', { description: german, ...plain }],
        ['c', heavy],
        ['d', { description: 'See', ...plain }],
      ],
      issues: [],
    })
  })

  test.each<readonly [unknown, string, RegExp]>([
    ...['', 7, ['See'], {}, { en: '' }, { group: 'x', optional: true }].map(
      (given) => [given, '', /^must be a text, texts by language/] as const,
    ),
    [{ description: '' }, '.description', /^must be a text/],
    [{ description: 'x', group: 7 }, '.group', /^must be a text/],
    [{ description: 'x', weight: 'heavy' }, '.weight', /^must be 'read'/],
    [{ description: 'x', optional: 'yes' }, '.optional', /^must be true or false/],
    [{ description: 'x', wieght: 'read' }, '.wieght', /Did you mean weight\?/],
  ])('are not %j', (given, path, message) => {
    expect(read({ 'a:b': given }).issues).toEqual([
      { path: `scopes["a:b"]${path}`, message: expect.stringMatching(message) },
    ])
  })
})
