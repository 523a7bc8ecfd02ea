import * as fc from 'fast-check'
import { covers, formatScope, grantableScope, intersects, parseScope } from '../../lib/protocol/scope'
import { clientWith } from '../support/authorization/client'
import { thrownBy } from '../support/authorization/thrown'

// RFC 6749 3.3: %x21 / %x23-5B / %x5D-7E.
const tokenCharacters = Array.from({ length: 0x7f }, (_, code) => String.fromCharCode(code)).filter(
  (character) => character > ' ' && character !== '"' && character !== '\\',
)
const token = fc.string({ unit: fc.constantFrom(...tokenCharacters), minLength: 1, maxLength: 12 })

describe('parseScope', () => {
  it.each([
    ['one token', 'photos.read', ['photos.read']],
    ['several, one space between two', 'a b c', ['a', 'b', 'c']],
    ['a token named twice, once', 'a b a', ['a', 'b']],
    ['tokens that differ in case, as two', 'read Read', ['read', 'Read']],
    ['a URL', 'https://api.example/photos', ['https://api.example/photos']],
    ['the borders of the grammar', '! # [ ] ~', ['!', '#', '[', ']', '~']],
  ])('reads %s', (_what, text, scope) => {
    expect(parseScope(text)).toEqual(scope)
  })

  it.each([
    ['nothing', ''],
    ['a space alone', ' '],
    ['a space at the start', ' a'],
    ['a space at the end', 'a '],
    ['two spaces', 'a  b'],
    ['a tab', 'a\tb'],
    ['a line break', 'a\nb'],
    ['a line break at the end', 'a\n'],
    ['a quote', 'a"b'],
    ['a backslash', 'a\\b'],
    ['delete', 'a\u007F'],
    ['NUL', 'a\u0000'],
    ['a letter outside ASCII', 'é'],
    ['a no-break space', 'a\u00A0b'],
  ])('refuses %s', (_what, text) => {
    expect(parseScope(text)).toBeUndefined()
  })

  it('accepts a character exactly when the grammar does', () => {
    for (let code = 0; code < 0x180; code++) {
      const character = String.fromCharCode(code)
      expect(parseScope(`a${character}a`) !== undefined).toBe(
        tokenCharacters.includes(character) || character === ' ',
      )
    }
  })

  it('reads back what formatScope wrote', () => {
    fc.assert(
      fc.property(fc.uniqueArray(token, { minLength: 1 }), (scope) => {
        expect(parseScope(formatScope(scope))).toEqual(scope)
      }),
    )
  })
})

describe('covers', () => {
  it.each([
    [['a', 'b'], ['b'], true],
    [['a', 'b'], ['b', 'a'], true],
    [['a'], [], true],
    [['a'], ['a', 'b'], false],
    [['a'], ['A'], false],
    [[], ['a'], false],
  ])('%j covers %j: %s', (whole, part, expected) => {
    expect(covers(whole, part)).toBe(expected)
  })
})

describe('intersects', () => {
  it.each([
    [['a', 'b'], ['b', 'c'], true],
    [['a'], ['b'], false],
    [['a'], ['A'], false],
    [['a'], [], false],
  ])('%j has one of %j: %s', (whole, part, expected) => {
    expect(intersects(whole, part)).toBe(expected)
  })
})

const client = clientWith({ scope: 'photos.read photos.write' })

describe('grantableScope', () => {
  it('is what the request names', () => {
    expect(grantableScope('photos.write', client, ['photos.read'])).toEqual(['photos.write'])
    expect(grantableScope('photos.write photos.read', client, [])).toEqual(['photos.write', 'photos.read'])
  })

  it('is the default when the request names none', () => {
    expect(grantableScope(undefined, client, ['photos.read'])).toEqual(['photos.read'])
  })

  it('is no more of the default than the client may ask for', () => {
    expect(grantableScope(undefined, client, ['profile', 'photos.read'])).toEqual(['photos.read'])
  })

  it.each([
    ['there is no default', undefined, [], 'scope_missing'],
    ['nothing of the default is open to the client', undefined, ['profile'], 'scope_missing'],
    ['it is empty', '', ['photos.read'], 'scope_malformed'],
    ['it is malformed', 'photos.read  photos.write', [], 'scope_malformed'],
    ['it is unknown', 'videos.read', [], 'scope_not_allowed'],
    ['it is spelt in other letters', 'Photos.Read', [], 'scope_not_allowed'],
    ["part of it is another client's", 'photos.read profile', [], 'scope_not_allowed'],
    ['it is the default, but not open to the client', 'profile', ['profile'], 'scope_not_allowed'],
  ])('is refused when %s', (_why, requested, defaultScope, reason) => {
    const error = thrownBy(() => grantableScope(requested, client, defaultScope))
    expect(error).toMatchObject({ code: 'invalid_scope', reason })
    // Of a request, the text names one scope token; of the default, none.
    expect(error.description.includes('profile')).toBe(requested?.includes('profile') ?? false)
  })
})
