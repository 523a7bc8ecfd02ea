import * as fc from 'fast-check'
import { isRegisteredRedirectUri, loopbackUri } from '../../lib/protocol/redirect-uri'

const none = { loopback_redirect_uris: false, dynamic_redirect_query: false }
const loopback = { ...none, loopback_redirect_uris: true }

const matches = (options: typeof none, registered: string, sent: string): boolean =>
  isRegisteredRedirectUri({ ...options, redirect_uris: ['https://first.example/', registered] }, sent)

const ipv4 = 'http://127.0.0.1/callback'
const ipv6 = 'http://[::1]:7000/callback?app=1'
const web = 'https://book.example/callback'

describe('[RED-1] Without an opt-in', () => {
  it.each([ipv4, ipv6, web])('%s is matched as it is', (uri) => {
    expect(matches(none, uri, uri)).toBe(true)
  })

  it.each([
    [ipv4, 'http://127.0.0.1:8080/callback'],
    [ipv6, 'http://[::1]:7001/callback?app=1'],
    [web, `${web}?a=b`],
    [web, `${web}?`],
  ])('%s is not matched by %s', (registered, sent) => {
    expect(matches(none, registered, sent)).toBe(false)
  })
})

describe('[RED-1] With loopback_redirect_uris', () => {
  it.each([
    [ipv4, ipv4],
    [ipv4, 'http://127.0.0.1:1/callback'],
    [ipv4, 'http://127.0.0.1:80/callback'],
    [ipv4, 'http://127.0.0.1:65535/callback'],
    [ipv6, 'http://[::1]/callback?app=1'],
    [ipv6, 'http://[::1]:51004/callback?app=1'],
    [web, web],
  ])('%s is matched by %s', (registered, sent) => {
    expect(matches(loopback, registered, sent)).toBe(true)
  })

  it.each([
    ['userinfo that looks like the host', 'http://127.0.0.1:80@evil.example/callback'],
    ['userinfo that looks like the port', 'http://127.0.0.1@evil.example/callback'],
    ['userinfo before the host', 'http://evil@127.0.0.1:80/callback'],
    ['a longer host', 'http://127.0.0.1.evil.example/callback'],
    ['a longer host with a port', 'http://127.0.0.1.evil.example:80/callback'],
    ['a host behind the port', 'http://127.0.0.1:80.evil.example/callback'],
    ['port 0', 'http://127.0.0.1:0/callback'],
    ['a port beyond the last', 'http://127.0.0.1:65536/callback'],
    ['a port far beyond the last', 'http://127.0.0.1:99999/callback'],
    ['a port of six digits', 'http://127.0.0.1:100000/callback'],
    ['an empty port', 'http://127.0.0.1:/callback'],
    ['a leading zero', 'http://127.0.0.1:080/callback'],
    ['a sign', 'http://127.0.0.1:+80/callback'],
    ['a space', 'http://127.0.0.1: 80/callback'],
    ['an encoded digit', 'http://127.0.0.1:8%30/callback'],
    ['a digit that is not ASCII', 'http://127.0.0.1:8\u0660/callback'],
    ['two ports', 'http://127.0.0.1:80:80/callback'],
    ['another scheme', 'https://127.0.0.1:80/callback'],
    ['an uppercase scheme', 'HTTP://127.0.0.1:80/callback'],
    ['no scheme', '//127.0.0.1:80/callback'],
    ['one slash', 'http:/127.0.0.1:80/callback'],
    ['three slashes', 'http:///127.0.0.1:80/callback'],
    ['backslashes', 'http:\\\\127.0.0.1:80\\callback'],
    ['a backslash before another host', 'http://127.0.0.1:80\\@evil.example/callback'],
    ['an encoded host', 'http://127.0.0%2E1:80/callback'],
    ['a short host', 'http://127.1:80/callback'],
    ['a host in hexadecimal', 'http://0x7f000001:80/callback'],
    ['a host as one number', 'http://2130706433:80/callback'],
    ['a host with a dot behind', 'http://127.0.0.1.:80/callback'],
    ['its neighbour', 'http://127.0.0.2:80/callback'],
    ['the name of the host', 'http://localhost:80/callback'],
    ['the other family', 'http://[::1]:80/callback'],
    ['the host mapped to the other family', 'http://[::ffff:127.0.0.1]:80/callback'],
    ['another path', 'http://127.0.0.1:80/evil'],
    ['a path in another case', 'http://127.0.0.1:80/Callback'],
    ['an encoded path', 'http://127.0.0.1:80/%63allback'],
    ['a path that climbs', 'http://127.0.0.1:80/callback/../evil'],
    ['a path that climbs back', 'http://127.0.0.1:80/evil/../callback'],
    ['a double slash', 'http://127.0.0.1:80//callback'],
    ['no path', 'http://127.0.0.1:80'],
    ['a query', 'http://127.0.0.1:80/callback?a=b'],
    ['an empty query', 'http://127.0.0.1:80/callback?'],
    ['a fragment', 'http://127.0.0.1:80/callback#a'],
    ['an empty fragment', 'http://127.0.0.1:80/callback#'],
    ['a line break behind', 'http://127.0.0.1:80/callback\n'],
    ['a header behind', 'http://127.0.0.1:80/callback\r\nX-A: b'],
    ['a space before', ' http://127.0.0.1:80/callback'],
    ['another one behind', 'http://127.0.0.1:80/callback http://127.0.0.1/callback'],
  ])('a URI with %s is refused: %j', (_, sent) => {
    expect(matches(loopback, ipv4, sent)).toBe(false)
  })

  it.each([
    ['http://localhost/callback', 'http://localhost:8080/callback'],
    ['https://127.0.0.1/callback', 'https://127.0.0.1:8080/callback'],
    ['https://book.example/callback', 'https://book.example:8080/callback'],
    ['http://127.0.0.1:0/callback', 'http://127.0.0.1:8080/callback'],
    ['http://user.example/callback', 'http://user.example:8080/callback'],
  ])('another registered URI, %s, keeps its port: %s', (registered, sent) => {
    expect(matches(loopback, registered, sent)).toBe(false)
  })

  it('whatever matches is the registered one for a browser, too, but for the port [redirect-3]', () => {
    const piece = fc.constantFrom(
      'http://',
      '127.0.0.1',
      ':',
      '80',
      '@',
      '/',
      '\\',
      '/callback',
      '.',
      '%',
      '#',
      'x',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 7 }), (pieces) => {
        const sent = pieces.join('')
        if (!matches(loopback, ipv4, sent)) return
        const { protocol, hostname, pathname, username, search, hash } = new URL(sent)
        expect([protocol, hostname, pathname, username, search, hash]).toEqual([
          'http:',
          '127.0.0.1',
          '/callback',
          '',
          '',
          '',
        ])
      }),
      { numRuns: 2000 },
    )
  })
})

describe('loopbackUri', () => {
  it.each([
    ['http://127.0.0.1:8080/a?b', 'http://127.0.0.1/a?b'],
    ['http://[::1]/', 'http://[::1]/'],
    ['http://localhost/', undefined],
    ['http://127.0.0.1', undefined],
  ])('of %s is %s', (uri, expected) => {
    expect(loopbackUri(uri)).toBe(expected)
  })
})
