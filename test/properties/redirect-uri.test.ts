import * as fc from 'fast-check'
import { appendToQuery, isInsecure, redirectUriFault } from '../../lib/protocol/redirect-uri'

describe('redirectUriFault', () => {
  it.each([
    'https://client.example/callback',
    'https://client.example',
    'https://client.example:8443/callback?tenant=7&x=a+b%2F',
    'https://client.example/?',
    'https://xn--bcher-kva.example/callback',
    'https://192.0.2.7/callback',
    'http://localhost:3000/callback',
    'http://127.0.0.1/callback',
    'http://[::1]:8080/callback',
    'com.example.printer:/callback',
    'printer://callback',
  ])('finds no fault in %s', (uri) => {
    expect(redirectUriFault(uri)).toBeUndefined()
  })

  it.each([
    ['nothing', '', 'characters'],
    ['a space', 'https://client.example/call back', 'characters'],
    ['a letter outside ASCII', 'https://bücher.example/', 'characters'],
    ['a backslash', 'https://client.example\\@evil.example/', 'characters'],
    ['a line break', 'https://client.example/\r\nSet-Cookie:x', 'characters'],
    ['a line break at the end', 'https://client.example/\n', 'characters'],
    ['half a percent triplet', 'https://client.example/%2', 'characters'],
    ['a percent sign alone', 'https://client.example/%zz', 'characters'],
    ['angle brackets', 'https://client.example/<script>', 'characters'],
    ['a fragment', 'https://client.example/callback#top', 'fragment'],
    ['an empty fragment', 'https://client.example/callback#', 'fragment'],
    ['a fragment after a query', 'https://client.example/?a=b#c', 'fragment'],
    ['a path alone', '/callback', 'absolute'],
    ['a host without a scheme', '//client.example/callback', 'absolute'],
    ['a name', 'client.example', 'absolute'],
    ['a port that is none', 'https://client.example:99999/', 'absolute'],
    ['javascript', 'javascript:alert(1)', 'scheme javascript:'],
    ['javascript in capitals', 'JavaScript:alert(1)', 'scheme javascript:'],
    ['data', 'data:text/html,x', 'scheme data:'],
    ['vbscript', 'vbscript:x', 'scheme vbscript:'],
    ['blob', 'blob:https://client.example/x', 'scheme blob:'],
    ['file', 'file:///etc/passwd', 'scheme file:'],
    ['filesystem', 'filesystem:https://client.example/x', 'scheme filesystem:'],
    ['about', 'about:blank', 'scheme about:'],
    ['view-source', 'view-source:https://client.example/', 'scheme view-source:'],
    ['a user name', 'https://client.example@evil.example/', 'user name'],
    ['a password', 'https://:secret@client.example/', 'user name or password'],
    ['plain http', 'http://client.example/callback', 'https'],
    ['a name that only begins as loopback', 'http://localhost.evil.example/', 'https'],
    ['no host', 'https:/client.example', 'host'],
    ['no slashes', 'https:client.example', 'host'],
    ['three slashes', 'https:///client.example', 'host'],
    ['no slashes before loopback', 'http:localhost/callback', 'host'],
  ])('refuses %s: %j', (_what, uri, fault) => {
    expect(redirectUriFault(uri)).toContain(fault)
  })

  it('refuses a fragment behind any good URI', () => {
    fc.assert(
      fc.property(goodUri, fc.constantFrom('#', '#a', '#?a=b'), (uri, fragment) => {
        expect(redirectUriFault(uri)).toBeUndefined()
        expect(redirectUriFault(uri + fragment)).toContain('fragment')
      }),
    )
  })
})

describe('redirectUriFault of a client with insecure_redirect_uris', () => {
  it.each(['http://client.example/callback', 'http://192.0.2.7:8080/', 'https://client.example/'])(
    'finds no fault in %s',
    (uri) => {
      expect(redirectUriFault(uri, { insecure: true })).toBeUndefined()
    },
  )

  it.each([
    ['http://client.example/#', 'fragment'],
    ['http://client.example@evil.example/', 'user name'],
    ['http:client.example/', 'host'],
    ['http://client.example/\r\nX:y', 'characters'],
    ['javascript:alert(1)', 'scheme'],
  ])('refuses %j all the same', (uri, fault) => {
    expect(redirectUriFault(uri, { insecure: true })).toContain(fault)
  })
})

describe('isInsecure', () => {
  it.each([
    'http://client.example/callback',
    'HTTP://CLIENT.example/callback?code=x',
    'http://192.0.2.7/',
    'http://127.0.0.1.evil.example/',
    'http://localhost.evil.example/',
    'http://localhost@evil.example/',
    'http://evil.example/?http://127.0.0.1/',
    'http://[2001:db8::1]/',
  ])('is so of %s', (uri) => {
    expect(isInsecure(uri)).toBe(true)
  })

  it.each([
    'https://client.example/callback',
    'http://localhost:3000/callback',
    'http://127.0.0.1/callback',
    'http://[::1]:8080/callback',
    'com.example.printer:/callback',
  ])('is not so of %s', (uri) => {
    expect(isInsecure(uri)).toBe(false)
  })
})

// Spellings that URL would rewrite: capitals, dots, a default port, empty and repeated parameters.
const query = fc
  .string({ unit: fc.constantFrom('a', 'Z', '=', '&', '+', '%20', '%7e', '?', '/', '*', '(', "'", '~') })
  .map((text) => `?${text}`)
const goodUri = fc
  .tuple(
    fc.constantFrom('https://client.example', 'HTTPS://Client.Example:443', 'printer:', 'http://[::1]:80'),
    fc.constantFrom('/', '/a/../b', '/a//b/./c', '/%7euser', "/(a)'b"),
    fc.option(query, { nil: '' }),
  )
  .map((parts) => parts.join(''))

describe('appendToQuery', () => {
  it.each([
    ['https://client.example/cb', 'https://client.example/cb?code=x'],
    ['https://client.example', 'https://client.example?code=x'],
    ['https://client.example/cb?', 'https://client.example/cb?code=x'],
    ['https://client.example/cb?a', 'https://client.example/cb?a&code=x'],
    ['https://client.example/cb?a=b+c&d=%7e&&e', 'https://client.example/cb?a=b+c&d=%7e&&e&code=x'],
    ['https://client.example/cb?a=b&', 'https://client.example/cb?a=b&code=x'],
    ['com.example.printer:/cb', 'com.example.printer:/cb?code=x'],
  ])('%s becomes %s', (uri, expected) => {
    expect(appendToQuery(uri, { code: 'x' })).toBe(expected)
  })

  it('encodes what it appends', () => {
    const uri = appendToQuery('https://client.example/', { state: 'a&b=c#d é+\r\n' })
    expect(uri).toBe('https://client.example/?state=a%26b%3Dc%23d+%C3%A9%2B%0D%0A')
  })

  it('keeps every byte of the registered URI, its parameters first and the new ones behind', () => {
    const appended = fc.dictionary(
      fc.constantFrom('code', 'state', 'iss', 'error'),
      fc.string({ unit: 'grapheme' }),
    )
    fc.assert(
      fc.property(goodUri, appended, (uri, parameters) => {
        const result = appendToQuery(uri, parameters)
        expect(result.startsWith(uri)).toBe(true)
        expect([...new URL(result).searchParams]).toEqual([
          ...new URL(uri).searchParams,
          ...Object.entries(parameters),
        ])
      }),
    )
  })
})
