import * as fc from 'fast-check'
import { ConfigurationError } from '../../../lib/primitives/options-reader'
import { noEvidence } from '../../../lib/protocol/evidence'
import { secureRandom } from '../../../lib/protocol/credential'
import {
  isAuthority,
  isListed,
  mac,
  macKeyOf,
  macOf,
  normalizedRequest,
  parseAuthority,
  parseMacCredentials,
} from '../../../lib/extensions/token-types/mac'
import { noon } from '../../support/noon'

const javascript: { make(options: unknown): unknown } = { make: mac }
const hosts = ['api.example.com']
const moment = { now: noon, random: secureRandom, evidence: noEvidence }

describe('mac', () => {
  it('is spelt in lower case in responses, and its scheme as RFC 6749 7.1 has it (TKN-2)', () => {
    expect(mac({ hosts })).toMatchObject({ name: 'mac', scheme: 'MAC' })
  })

  it('gives a key of 32 random bytes with each token, and keeps it readable with the token alone [token-30]', () => {
    const { properties, tokenData } = mac({ hosts }).issue!('at_x', moment)
    expect(properties).toEqual({
      mac_key: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      mac_algorithm: 'hmac-sha-256',
    })
    expect(mac({ hosts }).issue!('at_x', moment).properties).not.toEqual(properties)
    expect(JSON.stringify(tokenData)).not.toContain(properties['mac_key'])
    const macKey = { key: properties['mac_key'], algorithm: 'hmac-sha-256', issuedAt: noon }
    expect(macKeyOf(tokenData, 'at_x')).toEqual(macKey)
    expect(() => macKeyOf(tokenData, 'at_y')).toThrow('not readable')
  })

  it('gives keys for the algorithm that is listed first', () => {
    const algorithms = ['hmac-sha-1', 'hmac-sha-256'] as const
    expect(mac({ hosts, algorithms }).issue!('at_x', moment).properties).toHaveProperty(
      'mac_algorithm',
      'hmac-sha-1',
    )
  })

  it.each([undefined, null, 7, {}, { sealedKey: '', algorithm: 'hmac-sha-256', issuedAt: 1 }])(
    'takes what is kept for damaged when it is %j',
    (tokenData) => {
      expect(() => macKeyOf(tokenData, 'at_x')).toThrow('not readable')
    },
  )

  it.each([
    [undefined, 'options must be an object.'],
    [{}, 'hosts is missing'],
    [{ hosts: [] }, 'hosts must be a list'],
    [{ hosts: ['https://api.example.com'] }, 'hosts must be a list'],
    [{ hosts: 'api.example.com' }, 'hosts must be a list'],
    [{ hosts, algorithms: [] }, 'algorithms must be a list'],
    [{ hosts, algorithms: ['md5'] }, 'algorithms must be a list'],
    [{ hosts, tolerance: 0 }, 'tolerance must be whole seconds, 1 to 300.'],
    [{ hosts, tolerance: 301 }, 'tolerance must be whole seconds, 1 to 300.'],
    [{ hosts, tolerance: 1.5 }, 'tolerance must be whole seconds, 1 to 300.'],
    [{ hosts, age: 60 }, 'age is not known here'],
  ])('cannot be made with %j', (options, message) => {
    expect(() => javascript.make(options)).toThrow(ConfigurationError)
    expect(() => javascript.make(options)).toThrow(message)
  })
})

describe('parseAuthority', () => {
  it.each([
    ['API.Example.com', true, 'api.example.com', '443'],
    ['api.example.com', false, 'api.example.com', '80'],
    ['api.example.com:8443', true, 'api.example.com', '8443'],
    ['[::1]:3000', false, '[::1]', '3000'],
  ])('reads %s', (text, secure, host, port) => {
    expect(parseAuthority(text, secure)).toEqual({ host, port })
  })

  it.each(['', ':443', 'a b', 'a/b', 'user@a', 'a:b', 'a:0', 'a:', 'a\n', 'é', 'a,b', '[::1', 'a:443:443'])(
    'refuses %j',
    (text) => {
      expect(parseAuthority(text, true)).toBeUndefined()
      expect(isAuthority(text)).toBe(false)
    },
  )
})

test.each([
  ['api.example.com', 'api.example.com', true],
  ['api.example.com:443', 'api.example.com', true],
  ['api.example.com', 'API.example.com:443', true],
  ['api.example.com:8443', 'api.example.com', false],
  ['api.example.com.evil.example', 'api.example.com', false],
  ['evil-api.example.com', 'api.example.com', false],
  ['example.com', 'api.example.com', false],
])('Host %s is meant by the entry %s: %p', (host, entry, expected) => {
  const authority = parseAuthority(host, true)
  expect(authority !== undefined && isListed(authority, ['other.example', entry], true)).toBe(expected)
})

const digest = `${'A'.repeat(43)}=`
const good = { id: 'at_x', ts: '1336363200', nonce: 'dj83hs9s', mac: digest }
const written = (attributes: object) =>
  Object.entries(attributes)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')

describe('parseMacCredentials', () => {
  it('reads the form with a timestamp', () => {
    expect(parseMacCredentials(written({ ...good, ext: 'a, b=c' }))).toEqual({
      ...good,
      time: { since: 'epoch', seconds: 1336363200 },
      ext: 'a, b=c',
    })
  })

  it('reads the form of RFC 6749 7.1, with the age in the nonce', () => {
    const text = `id="h480djs93hd8",\t nonce="274312:dj83hs9s" ,mac="kDZvddkndxvhGRXZhvuDjEWhGeE="`
    expect(parseMacCredentials(text)).toEqual({
      id: 'h480djs93hd8',
      time: { since: 'issue', seconds: 274312 },
      ts: undefined,
      nonce: '274312:dj83hs9s',
      ext: '',
      mac: 'kDZvddkndxvhGRXZhvuDjEWhGeE=',
    })
  })

  it('takes attributes in any order and their names in any case (RFC 9110 11.2)', () => {
    const text = `MAC="${digest}",Nonce="0:x",ID="at_x"`
    expect(parseMacCredentials(text)).toMatchObject({ id: 'at_x', time: { seconds: 0 }, mac: digest })
  })

  it.each([
    ['nothing', ''],
    ['a bare token', 'at_x'],
    ['no id', written({ ...good, id: '' })],
    ['no nonce', `id="at_x", ts="1", mac="${digest}"`],
    ['no mac', 'id="at_x", ts="1", nonce="x"'],
    ['neither timestamp nor age', `id="at_x", nonce="x", mac="${digest}"`],
    ['an attribute twice', `${written(good)}, nonce="dj83hs9s"`],
    ['an attribute twice in another case', `${written(good)}, NONCE="dj83hs9s"`],
    ['an unknown attribute', `${written(good)}, realm="x"`],
    ['__proto__', `${written(good)}, __proto__="x"`],
    ['a body hash', `${written(good)}, bodyhash="k9kbtCIy0CkI3/FEfpS/oIDjk6k="`],
    ['an attribute without quotes', `id=at_x, ts="1", nonce="x", mac="${digest}"`],
    ['an open quote', `${written(good)}, ext="x`],
    ['an escaped quote', `${written(good)}, ext="a\\"b"`],
    ['a letter beyond ASCII', `${written(good)}, ext="é"`],
    ['a tab inside a value', `${written(good)}, ext="a\tb"`],
    ['a comma at the end', `${written(good)}, `],
    ['a comma at the beginning', `, ${written(good)}`],
    ['no comma', written(good).replaceAll(',', '')],
    ['space around the equals sign', written(good).replaceAll('=', ' = ')],
    ['a timestamp of 0', written({ ...good, ts: '0' })],
    ['a negative timestamp', written({ ...good, ts: '-1' })],
    ['a timestamp with a zero before it', written({ ...good, ts: '01336363200' })],
    ['a timestamp with a fraction', written({ ...good, ts: '1336363200.5' })],
    ['an exponent', written({ ...good, ts: '1e9' })],
    ['a huge timestamp', written({ ...good, ts: '9'.repeat(13) })],
    ['an empty timestamp', written({ ...good, ts: '' })],
    ['an age without what is random', `id="at_x", nonce="7:", mac="${digest}"`],
    ['an age with a sign', `id="at_x", nonce="+7:x", mac="${digest}"`],
    ['a long nonce', written({ ...good, nonce: 'x'.repeat(129) })],
    ['a nonce with a space', written({ ...good, nonce: 'a b' })],
    ['a long id', written({ ...good, id: 'x'.repeat(129) })],
    ['a MAC that is no base64', written({ ...good, mac: `${'-'.repeat(43)}=` })],
    ['a MAC of another length', written({ ...good, mac: 'AAAA' })],
    ['more than 2048 characters', written({ ...good, ext: 'x'.repeat(2048) })],
  ])('refuses %s', (_what, text) => {
    expect(parseMacCredentials(text)).toBeUndefined()
  })

  it('reads any text without a throw', () => {
    const piece = fc.oneof(fc.string(), fc.constantFrom('id="', 'mac="', '"', ', ', '=', '\t', digest))
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        expect(() => parseMacCredentials(pieces.join(''))).not.toThrow()
      }),
    )
  })
})

const exampleHost = { host: 'example.com', port: '80' }
const exampleKey = '489dks293j39'

// The MACs that other implementations compute for the examples of the drafts; the drafts' own are known to be wrong.
describe('the MAC of the example', () => {
  test('with an age, as oauthlib has it', () => {
    const request = { method: 'GET', target: '/resource/1?b=1&a=2' }
    const parts = { ts: undefined, nonce: '264095:dj83hs9s', ext: '' }
    const text = normalizedRequest(parts, request, exampleHost)
    expect(text).toBe('264095:dj83hs9s\nGET\n/resource/1?b=1&a=2\nexample.com\n80\n\n\n')
    expect(macOf(text, exampleKey, 'hmac-sha-1')).toBe('SLDJd4mg43cjQfElUs3Qub4L6xE=')
  })

  test('with a timestamp, by GET and by POST', () => {
    const macs = ['GET', 'POST'].map((method) => {
      const parts = { ts: '1336363200', nonce: 'dj83hs9s', ext: '' }
      const text = normalizedRequest(parts, { method, target: '/resource/1?b=1&a=2' }, exampleHost)
      return macOf(text, exampleKey, 'hmac-sha-1')
    })
    expect(macs).toEqual(['6T3zZzy2Emppni6bzL7kdRxUWL4=', 'SIBz/j9mI1Ba2Y+10wdwbQGv2Yk='])
  })

  test('with SHA-256 and another host', () => {
    const parts = { ts: '1336363200', nonce: 'dj83hs9s', ext: '' }
    const request = { method: 'GET', target: '/resource/1?b=1&a=2' }
    const text = normalizedRequest(parts, request, { host: 'www.example.com', port: '80' })
    expect(macOf(text, exampleKey, 'hmac-sha-256')).toBe('lZWElzYo0LJevKwPpSXTWl73KR/mPzI/FVe/XLAv6GE=')
  })

  test('with an extension and an awkward query, as draft-ietf-oauth-v2-http-mac-01 writes it', () => {
    const parts = { ts: '264095', nonce: '7d8f3e4a', ext: 'a,b,c' }
    const target = '/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b&c2&a3=2+q'
    expect(normalizedRequest(parts, { method: 'POST', target }, exampleHost)).toBe(
      '264095\n7d8f3e4a\nPOST\n/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b&c2&a3=2+q\nexample.com\n80\na,b,c\n',
    )
  })
})
