import * as fc from 'fast-check'
import type { ConfigurationIssue } from '../../lib/primitives/options-reader'
import { parseClient } from '../../lib/protocol/parse-client'
import {
  holdsResponseParameter,
  isRegisteredRedirectUri,
  redirectUriFault,
} from '../../lib/protocol/redirect-uri'
import {
  canonicalResponseType,
  isResponseTypeName,
  responseTypeNamed,
} from '../../lib/protocol/response-type'
import { capabilities, registration } from '../support/authorization/client'

const code = { name: 'code', grantTypes: ['authorization_code'] }
const both = { name: 'code token', grantTypes: ['authorization_code', 'implicit'] }

describe('isResponseTypeName', () => {
  it.each(['code', 'id_token', 'code id_token token', 'A9_'])('takes %j', (name) => {
    expect(isResponseTypeName(name)).toBe(true)
  })

  it.each(['', ' ', ' code', 'code ', 'a  b', 'a\tb', 'a\n', 'a-b', 'é', 'code code'])(
    'refuses %j',
    (name) => {
      expect(isResponseTypeName(name)).toBe(false)
    },
  )
})

describe('canonicalResponseType and responseTypeNamed', () => {
  it('make nothing of the order of values (AUZ-5)', () => {
    expect(canonicalResponseType('token code')).toBe(canonicalResponseType('code token'))
    expect(responseTypeNamed('token code', [code, both])).toBe(both)
  })

  it.each(['token', 'code code', 'code  token', 'Code', ''])('find nothing by %j', (name) => {
    expect(responseTypeNamed(name, [code, both])).toBeUndefined()
  })
})

const responseTypes = [
  { name: 'code', grantTypes: ['authorization_code'] },
  { name: 'token', grantTypes: ['implicit'] },
  { name: 'code token', grantTypes: ['authorization_code', 'implicit'] },
]
const grantTypes = [...(capabilities.grantTypes ?? []), 'implicit']

/** A client of a server with these response types. */
function registered(grant_types: readonly string[], response_types?: readonly string[], bend: object = {}) {
  const issues: ConfigurationIssue[] = []
  const source = { ...registration, grant_types, response_types, ...bend }
  const client = parseClient(source, 'client', issues, { ...capabilities, grantTypes, responseTypes })
  return { client, problems: issues.map(({ path, message }) => `${path} ${message}`) }
}

describe('the response types of a client', () => {
  it.each([
    [['authorization_code'], ['code']],
    [['implicit'], ['token']],
    [['authorization_code', 'implicit'], ['code token']],
    [
      ['authorization_code', 'implicit', 'refresh_token'],
      ['code', 'token', 'code token'],
    ],
  ])('with the grants %j may be %j', (grants, types) => {
    const { client, problems } = registered(grants, types)
    expect({ types: client.response_types, problems }).toEqual({ types, problems: [] })
  })

  it('are kept by the names that the server has for them (AUZ-5)', () => {
    const { client } = registered(['authorization_code', 'implicit'], ['token code'])
    expect(client.response_types).toEqual(['code token'])
  })

  it.each<[readonly string[], readonly string[] | undefined, readonly string[]]>([
    [
      ['implicit'],
      ['code token'],
      ['client.grant_types must hold authorization_code, because response_types holds code token.'],
    ],
    [
      ['authorization_code'],
      ['code', 'code token'],
      ['client.grant_types must hold implicit, because response_types holds code token.'],
    ],
    [
      ['implicit'],
      undefined,
      ['client.response_types must hold token or code token, because grant_types holds implicit.'],
    ],
    [
      ['authorization_code', 'implicit'],
      ['token'],
      ['client.response_types must hold code or code token, because grant_types holds authorization_code.'],
    ],
  ])('with the grants %j cannot be %j', (grants, types, problems) => {
    expect(registered(grants, types).problems).toEqual(problems)
  })

  it.each(['public', 'confidential'])(
    'need a redirection URI where a %s client uses the implicit grant',
    (client_type) => {
      const bend = { client_type, redirect_uris: [] }
      expect(registered(['implicit'], ['token'], bend).problems).toEqual([
        expect.stringMatching(/^client\.redirect_uris must hold at least one URI/),
      ])
    },
  )
})

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
