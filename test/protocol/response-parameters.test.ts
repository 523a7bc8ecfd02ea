import * as fc from 'fast-check'
import {
  holdsResponseParameter,
  isRegisteredRedirectUri,
  redirectUriFault,
} from '../../lib/protocol/redirect-uri'

const names = [
  'code',
  'state',
  'iss',
  'error',
  'error_description',
  'error_uri',
  'access_token',
  'token_type',
  'expires_in',
  'scope',
]
const callback = 'https://book.example/callback'
const tenants = { redirect_uris: [callback], loopback_redirect_uris: false, dynamic_redirect_query: true }

const hex = (octet: number) => `%${octet.toString(16).padStart(2, '0').toUpperCase()}`
const two = (character: string): readonly [number, number] => [
  character.charCodeAt(0) >> 6,
  0x80 | (character.charCodeAt(0) & 0x3f),
]
/** The ways in which a lenient parser finds this one character in a query. */
const spellings = [
  (character: string) => character,
  (character: string) => character.toUpperCase(),
  (character: string) => hex(character.charCodeAt(0)),
  (character: string) => hex(character.charCodeAt(0)).toLowerCase(),
  (character: string) => hex(0xc0 | two(character)[0]) + hex(two(character)[1]),
  (character: string) => `%E0${hex(0x80 | two(character)[0])}${hex(two(character)[1])}`,
  (character: string) => `%f0%80${hex(0x80 | two(character)[0])}${hex(two(character)[1])}`,
  // A decoder that does not look at the first two bits of the last octet.
  (character: string) => hex(0xc0 | two(character)[0]) + hex(two(character)[1] & 0x3f),
]

describe('A query of a redirection URI', () => {
  it('may hold no name of the answer, in no spelling that a parser decodes, where it is registered and where it varies', () => {
    const spelt = fc
      .constantFrom(...names)
      .chain((name) =>
        fc.tuple(
          ...name
            .split('')
            .map((character) => fc.constantFrom(...spellings).map((spell) => spell(character))),
        ),
      )
      .map((characters) => characters.join(''))
    const before = fc.constantFrom('', '?', 'a=b&', 'a;', '&&', '+', '%20', '%00', 'a=%26&')
    const after = fc.constantFrom('', '=x', '+=x', '%5B%5D=x', '[a]=x', '%00b=x', '&a=b', '=a=b')
    fc.assert(
      fc.property(before, spelt, after, (one, name, other) => {
        const query = one + name + other
        expect(holdsResponseParameter(query)).toBe(true)
        expect(redirectUriFault(`${callback}?${query}`)).toContain('answer')
        expect(isRegisteredRedirectUri(tenants, `${callback}?${query}`)).toBe(false)
      }),
    )
  })

  it.each(['error.uri', 'error+description', 'access%20token', 'token[type', 'expires%2Ein'])(
    'may not hold %s, which PHP reads with an underscore',
    (name) => {
      expect(redirectUriFault(`${callback}?${name}=x`)).toContain('answer')
    },
  )

  it.each([
    '',
    'a',
    'tenant=7&x=a+b%2F',
    'a=code&b=state',
    'codes=1&mystate=2&country_code=3',
    'error_code=1&scopes=2&issuer=3&token=4',
    'a=b?code=x',
    'x[code]=1',
    '%25%36%33ode=1',
    '%C3%A7ode=1',
    '%E8%80%83%F0%90%80%83=1',
  ])('may be %j, which names none', (query) => {
    expect(redirectUriFault(`${callback}?${query}`)).toBeUndefined()
    expect(isRegisteredRedirectUri(tenants, `${callback}?${query}`)).toBe(true)
  })
})
