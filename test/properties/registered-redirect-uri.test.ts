import * as fc from 'fast-check'
import type { Client } from '../../lib/protocol/client'
import { isRegisteredRedirectUri, loopbackUri } from '../../lib/protocol/redirect-uri'

type Opted = Pick<Client, 'loopback_redirect_uris' | 'dynamic_redirect_query' | 'metadataDocument'>

describe('registered redirect uri', () => {
  const none = { loopback_redirect_uris: false, dynamic_redirect_query: false }
  const loopback = { ...none, loopback_redirect_uris: true }

  const matches = (options: Opted, registered: string, sent: string): boolean =>
    isRegisteredRedirectUri({ ...options, redirect_uris: ['https://first.example/', registered] }, sent)

  const ipv4 = 'http://127.0.0.1/callback'
  const ipv6 = 'http://[::1]:7000/callback?app=1'
  const web = 'https://book.example/callback'

  describe('Without an opt-in', () => {
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

  describe('For a metadata document with localhostRedirects', () => {
    const localhost = 'http://localhost:3000/callback?app=1'
    const document = { host: 'notes.example', localhostRedirects: true }
    const any = { ...none, metadataDocument: document }

    it.each([
      [localhost, localhost],
      [localhost, 'http://localhost/callback?app=1'],
      [localhost, 'http://localhost:65535/callback?app=1'],
    ])('%s is matched by %s', (registered, sent) => {
      expect(matches(any, registered, sent)).toBe(true)
    })

    it.each([
      'http://localhost:3001/callback',
      'http://localhost:3001/callback?app=2',
      'http://localhost:3001/callback?app=1#',
      'https://localhost:3001/callback?app=1',
      'http://LOCALHOST:3001/callback?app=1',
      'http://localhost.:3001/callback?app=1',
      'http://a.localhost:3001/callback?app=1',
      'http://localhost.evil.example/callback?app=1',
      'http://localhost:1@evil.example/callback?app=1',
      'http://localhost@evil.example/callback?app=1',
      'http://evil@localhost:1/callback?app=1',
      'http://localhost:/callback?app=1',
      'http://localhost:0/callback?app=1',
      'http://localhost:65536/callback?app=1',
      'http://127.0.0.1:3000/callback?app=1',
      'http://[::1]:3000/callback?app=1',
    ])('is never matched by %s', (sent) => {
      expect(matches(any, localhost, sent)).toBe(false)
    })

    it('each opt-in stands for itself', () => {
      const sent = 'http://localhost:1/callback?app=1'
      expect(matches(loopback, localhost, sent)).toBe(false)
      const off = { ...none, metadataDocument: { ...document, localhostRedirects: false } }
      expect(matches(off, localhost, sent)).toBe(false)
      expect(matches(any, ipv4, 'http://127.0.0.1:8080/callback')).toBe(false)
      expect(matches({ ...any, ...loopback }, ipv4, 'http://127.0.0.1:8080/callback')).toBe(true)
    })
  })

  describe('With loopback_redirect_uris', () => {
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

    it('a match is the registered URI for a browser, too, except for the port [redirect-3]', () => {
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
})

describe('With dynamic_redirect_query', () => {
  const none = { loopback_redirect_uris: false, dynamic_redirect_query: false }
  const loopback = { ...none, loopback_redirect_uris: true }
  const dynamic = { ...none, dynamic_redirect_query: true }
  const both = { loopback_redirect_uris: true, dynamic_redirect_query: true }

  const matches = (options: Opted, registered: string, sent: string): boolean =>
    isRegisteredRedirectUri({ ...options, redirect_uris: ['https://first.example/', registered] }, sent)

  const ipv4 = 'http://127.0.0.1/callback'
  const web = 'https://book.example/callback'

  it.each([
    '',
    '?',
    '?a',
    '?a=b&c=%2F',
    '?next=https://evil.example/',
    '?/../evil',
    '?a?b',
    '?@evil',
    '?a[]=b',
    '?codes=1&mystate=2',
  ])('the registered URI is matched with %j behind it', (query) => {
    expect(matches(dynamic, web, web + query)).toBe(true)
  })

  it.each([
    ['a fragment', `${web}#a`],
    ['an empty fragment', `${web}#`],
    ['a fragment behind the query', `${web}?a=b#`],
    ['a fragment that swallows the answer', `${web}?a=b#c=d`],
    ['a fragment before the query', `${web}#?a=b`],
    ['a line break', `${web}?a=b\r\nSet-Cookie: c`],
    ['a line break at the end', `${web}?a=b\n`],
    ['a space', `${web}?a= b`],
    ['a tab', `${web}?a=\tb`],
    ['a NUL', `${web}?a=\0`],
    ['a backslash', `${web}?a=\\`],
    ['a quote', `${web}?a="`],
    ['markup', `${web}?a=<b>`],
    ['half a percent triplet', `${web}?a=%2`],
    ['a percent sign alone', `${web}?a=%zz`],
    ['a letter outside ASCII', `${web}?a=é`],
    ['an encoded question mark', `${web}%3Fa=b`],
    ['a parameter without a question mark', `${web}&a=b`],
    ['a longer path', `${web}/evil?a=b`],
    ['a path that climbs', `${web}/../evil?a=b`],
    ['a path that climbs back', `https://book.example/evil/../callback?a=b`],
    ['a slash more', `${web}/?a=b`],
    ['a double slash', 'https://book.example//callback?a=b'],
    ['a shorter path', 'https://book.example/?a=b'],
    ['a path in another case', 'https://book.example/Callback?a=b'],
    ['an encoded path', 'https://book.example/%63allback?a=b'],
    ['an uppercase scheme', 'HTTPS://book.example/callback?a=b'],
    ['an uppercase host', 'https://BOOK.example/callback?a=b'],
    ['another scheme', 'http://book.example/callback?a=b'],
    ['a port', 'https://book.example:443/callback?a=b'],
    ['userinfo', 'https://book.example@evil.example/callback?a=b'],
    ['a longer host', 'https://book.example.evil.example/callback?a=b'],
    ['a question mark before the path', 'https://book.example?/callback'],
    ['the registered one in its query', `https://evil.example/?${web}`],
    ['a query alone', '?a=b'],
  ])('a URI with %s is refused: %j', (_, sent) => {
    expect(matches(dynamic, web, sent)).toBe(false)
  })

  it.each([
    'code=x',
    'a=b&state=x',
    'iss=https://evil.example',
    'error=access_denied',
    'error_description=x',
    'error_uri=x',
    'code',
    '%63ode=x',
    'CODE=x',
    'code%5B%5D=x',
    'code[a]=x',
    'code[a%0A]=x',
    '+code=x',
    'code+=x',
    'a=b;code=x',
  ])('a query that says what only the answer says is refused: %s [redirect-18]', (query) => {
    expect(matches(dynamic, web, `${web}?${query}`)).toBe(false)
  })

  it('leaves the port as it is, unless that is opted into as well', () => {
    const sent = 'http://127.0.0.1:8080/callback?a=b'
    expect(matches(dynamic, ipv4, sent)).toBe(false)
    expect(matches(loopback, ipv4, sent)).toBe(false)
    expect(matches(both, ipv4, sent)).toBe(true)
    expect(matches(both, ipv4, `${sent}#`)).toBe(false)
  })

  it('a match has the origin and path of the registered URI, and every byte fits a header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('', '?', '/', '@', ':'), (text, joint) => {
        const sent = web + joint + text
        if (!matches(dynamic, web, sent)) return
        const { origin, pathname, hash } = new URL(sent)
        expect(origin + pathname + hash).toBe(web)
        expect(sent).toMatch(/^[!-~]+$/)
      }),
    )
  })
})
