import * as fc from 'fast-check'
import type { Client } from '../../lib/protocol/client'
import {
  appendToQuery,
  holdsResponseParameter,
  isInsecure,
  isRegisteredRedirectUri,
  loopbackUri,
  redirectUriFault,
} from '../../lib/protocol/redirect-uri'
import {
  hasUriCharacters,
  isLoopback,
  namesHost,
  protocolOf,
  adviceForShared,
  differenceBetween,
  likelySlips,
} from '../../lib/protocol/uri'
import { anyText, wholeText } from '../support/any-text'

fc.configureGlobal({ seed: 7 })

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

describe('a URI to register', () => {
  test.each(
    words(`https://client.example/callback https://client.example https://client.example/?
      https://client.example:8443/callback?tenant=7&x=a+b%2F https://xn--bcher-kva.example/callback
      https://192.0.2.7/callback http://localhost:3000/callback http://127.0.0.1/callback http://[::1]:8080/callback
      com.example.printer:/callback printer://callback`),
  )('%s has no fault', (uri) => {
    expect(redirectUriFault(uri)).toBeUndefined()
  })

  test.each<readonly [string, string]>([
    ...['', 'https://client.example/call back', 'https://client.example/\n', 'https://bücher.example/'].map(
      (uri) => [uri, 'characters'] as const,
    ),
    ['https://client.example/\r\nSet-Cookie:x', 'characters'],
    ...words(`https://client.example\\@evil.example/ https://client.example/%2 https://client.example/%zz
      https://client.example/<script>`).map((uri) => [uri, 'characters'] as const),
    ...words(
      `https://client.example/callback#top https://client.example/callback# https://client.example/?a=b#c`,
    ).map((uri) => [uri, 'fragment'] as const),
    ...words('/callback //client.example/callback client.example https://client.example:99999/').map(
      (uri) => [uri, 'absolute'] as const,
    ),
    ...words(`javascript:alert(1) JavaScript:alert(1) data:text/html,x vbscript:x blob:https://client.example/x
      file:///etc/passwd filesystem:https://client.example/x about:blank view-source:https://client.example/`).map(
      (uri) => [uri, `scheme ${uri.slice(0, uri.indexOf(':') + 1).toLowerCase()}`] as const,
    ),
    ['https://client.example@evil.example/', 'user name'],
    ['https://:secret@client.example/', 'user name or password'],
    ['http://client.example/callback', 'https'],
    ['http://localhost.evil.example/', 'https'],
    ...words(
      'https:/client.example https:client.example https:///client.example http:localhost/callback',
    ).map((uri) => [uri, 'host'] as const),
  ])('%j has a fault: %s [redirect-12]', (uri, fault) => {
    expect(redirectUriFault(uri)).toContain(fault)
  })

  test.each([
    ['http://client.example/callback', undefined],
    ['http://192.0.2.7:8080/', undefined],
    ['http://client.example/#', 'fragment'],
    ['http://client.example@evil.example/', 'user name'],
    ['http:client.example/', 'host'],
    ['http://client.example/\r\nX:y', 'characters'],
    ['javascript:alert(1)', 'scheme'],
  ])('%j of a client that may use plain http: %s', (uri, fault) => {
    const found = redirectUriFault(uri, { insecure: true })
    expect(fault === undefined ? found : found?.includes(fault)).toBe(fault === undefined ? undefined : true)
  })

  test('leaves the machine in plain http, or does not', () => {
    const insecure =
      words(`http://client.example/callback HTTP://CLIENT.example/callback?code=x http://192.0.2.7/
      http://127.0.0.1.evil.example/ http://localhost.evil.example/ http://localhost@evil.example/
      http://evil.example/?http://127.0.0.1/ http://[2001:db8::1]/`)
    const secure =
      words(`https://client.example/callback http://localhost:3000/callback http://127.0.0.1/callback
      http://[::1]:8080/callback com.example.printer:/callback`)
    expect([...insecure, ...secure].filter((uri) => isInsecure(uri))).toEqual(insecure)
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

describe('an answer behind a URI', () => {
  test.each([
    ['https://client.example/cb', 'https://client.example/cb?code=x'],
    ['https://client.example/cb?', 'https://client.example/cb?code=x'],
    ['https://client.example/cb?a', 'https://client.example/cb?a&code=x'],
    ['https://client.example/cb?a=b+c&d=%7e&&e', 'https://client.example/cb?a=b+c&d=%7e&&e&code=x'],
    ['com.example.printer:/cb', 'com.example.printer:/cb?code=x'],
  ])('%s becomes %s', (uri, expected) => {
    expect(appendToQuery(uri, { code: 'x' })).toBe(expected)
  })

  test('keeps every byte of the registered URI, its parameters first and the new ones encoded behind', () => {
    const appended = fc.dictionary(fc.constantFrom('code', 'state', 'iss', 'error'), wholeText())
    fc.assert(
      fc.property(goodUri, appended, (uri, parameters) => {
        expect(redirectUriFault(uri)).toBeUndefined()
        expect(redirectUriFault(`${uri}#a`)).toContain('fragment')
        const result = appendToQuery(uri, parameters)
        expect(result.startsWith(uri)).toBe(true)
        expect(result).toMatch(/^[!-~]*$/)
        expect([...new URL(result).searchParams]).toEqual([
          ...new URL(uri).searchParams,
          ...Object.entries(parameters),
        ])
      }),
    )
  })
})

type Opted = Pick<Client, 'loopback_redirect_uris' | 'dynamic_redirect_query' | 'metadataDocument'>
const none = { loopback_redirect_uris: false, dynamic_redirect_query: false }
const loopback = { ...none, loopback_redirect_uris: true }
const dynamic = { ...none, dynamic_redirect_query: true }
const document = { host: 'notes.example', localhostRedirects: true }
const ofDocument = { ...none, metadataDocument: document }
const ipv4 = 'http://127.0.0.1/callback'
const ipv6 = 'http://[::1]:7000/callback?app=1'
const web = 'https://book.example/callback'
const localhost = 'http://localhost:3000/callback?app=1'

const matches = (options: Opted, registered: string, sent: string): boolean =>
  isRegisteredRedirectUri({ ...options, redirect_uris: ['https://first.example/', registered] }, sent)
/** Those that match. */
const matching = (options: Opted, registered: string, sent: readonly string[]) =>
  sent.filter((uri) => matches(options, registered, uri))

describe('a URI of a request matches', () => {
  test.each<[string, Opted, string, readonly string[], readonly string[]]>([
    ['exactly', none, ipv4, [ipv4], ['http://127.0.0.1:8080/callback']],
    ['exactly', none, ipv6, [ipv6], ['http://[::1]:7001/callback?app=1']],
    ['exactly', none, web, [web], [`${web}?a=b`, `${web}?`, `${web}/`, 'HTTPS://book.example/callback']],
    [
      'at any port of loopback',
      loopback,
      ipv4,
      [
        ipv4,
        ...words('http://127.0.0.1:1/callback http://127.0.0.1:80/callback http://127.0.0.1:65535/callback'),
      ],
      [
        ...words(`http://127.0.0.1:80@evil.example/callback http://127.0.0.1@evil.example/callback
          http://evil@127.0.0.1:80/callback http://127.0.0.1.evil.example/callback
          http://127.0.0.1.evil.example:80/callback http://127.0.0.1:80.evil.example/callback http://127.0.0.1:0/callback
          http://127.0.0.1:65536/callback http://127.0.0.1:99999/callback http://127.0.0.1:100000/callback
          http://127.0.0.1:/callback http://127.0.0.1:080/callback http://127.0.0.1:+80/callback
          http://127.0.0.1:8%30/callback http://127.0.0.1:80:80/callback https://127.0.0.1:80/callback
          HTTP://127.0.0.1:80/callback //127.0.0.1:80/callback http:/127.0.0.1:80/callback http:///127.0.0.1:80/callback
          http:\\\\127.0.0.1:80\\callback http://127.0.0.1:80\\@evil.example/callback http://127.0.0%2E1:80/callback
          http://127.1:80/callback http://0x7f000001:80/callback http://2130706433:80/callback
          http://127.0.0.1.:80/callback http://127.0.0.2:80/callback http://localhost:80/callback
          http://[::1]:80/callback http://[::ffff:127.0.0.1]:80/callback http://127.0.0.1:80/evil
          http://127.0.0.1:80/Callback http://127.0.0.1:80/%63allback http://127.0.0.1:80/callback/../evil
          http://127.0.0.1:80/evil/../callback http://127.0.0.1:80//callback http://127.0.0.1:80
          http://127.0.0.1:80/callback?a=b http://127.0.0.1:80/callback? http://127.0.0.1:80/callback#a
          http://127.0.0.1:80/callback#`),
        'http://127.0.0.1: 80/callback',
        'http://127.0.0.1:8\u0660/callback',
        'http://127.0.0.1:80/callback\n',
        'http://127.0.0.1:80/callback\r\nX-A: b',
        ' http://127.0.0.1:80/callback',
        'http://127.0.0.1:80/callback http://127.0.0.1/callback',
      ],
    ],
    [
      'at any port of loopback',
      loopback,
      ipv6,
      words('http://[::1]/callback?app=1 http://[::1]:51004/callback?app=1'),
      words('http://[::1]:51004/callback http://127.0.0.1:7000/callback?app=1'),
    ],
    ...words(`http://localhost/callback https://127.0.0.1/callback https://book.example/callback
      http://127.0.0.1:0/callback http://user.example/callback`).map(
      (uri) =>
        [
          'as it is, not being of loopback',
          loopback,
          uri,
          [uri],
          [uri.replace(/(:0)?\/callback/, ':8080/callback')],
        ] as [string, Opted, string, string[], string[]],
    ),
    [
      'at any port of localhost, for a metadata document that may',
      ofDocument,
      localhost,
      [localhost, ...words('http://localhost/callback?app=1 http://localhost:65535/callback?app=1')],
      words(`http://localhost:3001/callback http://localhost:3001/callback?app=2 http://localhost:3001/callback?app=1#
        https://localhost:3001/callback?app=1 http://LOCALHOST:3001/callback?app=1
        http://localhost.:3001/callback?app=1 http://a.localhost:3001/callback?app=1
        http://localhost.evil.example/callback?app=1 http://localhost:1@evil.example/callback?app=1
        http://localhost@evil.example/callback?app=1 http://evil@localhost:1/callback?app=1
        http://localhost:/callback?app=1 http://localhost:0/callback?app=1 http://localhost:65536/callback?app=1
        http://127.0.0.1:3000/callback?app=1 http://[::1]:3000/callback?app=1`),
    ],
    ['as it is, without that', loopback, localhost, [localhost], ['http://localhost:1/callback?app=1']],
    [
      'as it is, where the document may not',
      { ...none, metadataDocument: { ...document, localhostRedirects: false } },
      localhost,
      [localhost],
      ['http://localhost:1/callback?app=1'],
    ],
    ['as it is, for a document and loopback', ofDocument, ipv4, [ipv4], ['http://127.0.0.1:8080/callback']],
    [
      'with any query behind it',
      dynamic,
      web,
      [
        '',
        ...words(
          `? ?a ?a=b&c=%2F ?next=https://evil.example/ ?/../evil ?a?b ?@evil ?a[]=b ?codes=1&mystate=2`,
        ),
      ].map((behind) => web + behind),
      [
        ...words(
          `#a # ?a=b# ?a=b#c=d #?a=b ?a=\\ ?a=" ?a=<b> ?a=%2 ?a=%zz ?a=é %3Fa=b &a=b /evil?a=b /../evil?a=b /?a=b`,
        ).map((behind) => web + behind),
        ...['?a=b\r\nSet-Cookie: c', '?a=b\n', '?a= b', '?a=\tb', '?a=\0'].map((behind) => web + behind),
        ...words(`https://book.example/evil/../callback?a=b https://book.example//callback?a=b
          https://book.example/?a=b https://book.example/Callback?a=b https://book.example/%63allback?a=b
          HTTPS://book.example/callback?a=b https://BOOK.example/callback?a=b http://book.example/callback?a=b
          https://book.example:443/callback?a=b https://book.example@evil.example/callback?a=b
          https://book.example.evil.example/callback?a=b https://book.example?/callback ?a=b`),
        `https://evil.example/?${web}`,
      ],
    ],
    ['with any query, at its port', dynamic, ipv4, [`${ipv4}?a=b`], ['http://127.0.0.1:8080/callback?a=b']],
    [
      'with any query at any port, by both options',
      { ...loopback, ...dynamic, loopback_redirect_uris: true },
      ipv4,
      ['http://127.0.0.1:8080/callback?a=b'],
      ['http://127.0.0.1:8080/callback?a=b#'],
    ],
  ])('%s: %j, registered as %s [redirect-14, redirect-15]', (_how, options, registered, good, bad) => {
    expect(matching(options, registered, [...good, ...bad])).toEqual(good)
  })

  test('at a port of loopback only if a browser, too, finds nothing else in it [redirect-3]', () => {
    const piece = fc.constantFrom(...words('http:// 127.0.0.1 : 80 @ / \\ /callback . % # x'))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 7 }), (pieces) => {
        const sent = pieces.join('')
        if (!matches(loopback, ipv4, sent)) return
        const { protocol, hostname, pathname, username, search, hash } = new URL(sent)
        expect([protocol, hostname, pathname]).toEqual(['http:', '127.0.0.1', '/callback'])
        expect(username + search + hash).toBe('')
      }),
      { numRuns: 400, seed: 20_261_126 },
    )
  })

  test('with a query only if its origin and path are the registered ones, and every byte fits a header', () => {
    fc.assert(
      fc.property(anyText(), fc.constantFrom('', '?', '/', '@', ':'), (text, joint) => {
        const sent = web + joint + text
        if (!matches(dynamic, web, sent)) return
        const { origin, pathname, hash } = new URL(sent)
        expect(origin + pathname + hash).toBe(web)
        expect(sent).toMatch(/^[!-~]+$/)
      }),
    )
  })

  test('without its port, for loopback addresses', () => {
    expect(
      words('http://127.0.0.1:8080/a?b http://[::1]/ http://localhost/ http://127.0.0.1').map(loopbackUri),
    ).toEqual(['http://127.0.0.1/a?b', 'http://[::1]/', undefined, undefined])
  })
})

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

describe('a query of a redirection URI', () => {
  test('may hold no name of the answer, in no spelling that a parser decodes, registered or sent [redirect-18]', () => {
    const names = words(
      'code state iss error error_description error_uri access_token token_type expires_in scope',
    )
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
    const after = fc.constantFrom('', '=x', '+=x', '%5B%5D=x', '[a]=x', '[a%0A]=x', '%00b=x', '&a=b', '=a=b')
    fc.assert(
      fc.property(before, spelt, after, (one, name, other) => {
        const text = one + name + other
        expect(holdsResponseParameter(text)).toBe(true)
        expect(redirectUriFault(`${web}?${text}`)).toContain('answer')
        expect(matches(dynamic, web, `${web}?${text}`)).toBe(false)
      }),
    )
  })

  test.each(words('error.uri error+description access%20token token[type expires%2Ein'))(
    'may not hold %s, which PHP reads with an underscore',
    (name) => {
      expect(redirectUriFault(`${web}?${name}=x`)).toContain('answer')
    },
  )

  test.each([
    '',
    ...words(`a tenant=7&x=a+b%2F a=code&b=state codes=1&mystate=2&country_code=3
    error_code=1&scopes=2&issuer=3&token=4 a=b?code=x x[code]=1 %25%36%33ode=1 %C3%A7ode=1
    %E8%80%83%F0%90%80%83=1`),
  ])('may be %j, which names none', (text) => {
    expect(redirectUriFault(`${web}?${text}`)).toBeUndefined()
    expect(matches(dynamic, web, `${web}?${text}`)).toBe(true)
  })
})

describe('of texts and hosts', () => {
  test('the loopback hosts are known', () => {
    const hosts = ['localhost', '127.0.0.1', '[::1]']
    const others = ['localhost.example', '127.0.0.1.example', '10.0.0.1', '::1', '0.0.0.0', '']
    expect([...hosts, ...others].filter((host) => isLoopback(host))).toEqual(hosts)
  })

  test('the characters of URIs are known', () => {
    const good = ['https://a.example/%C3%A9?b=c#d', "x:!$&'()*+,;=@[]~"]
    const bad = ['', 'a b', 'a\n', 'é', '%', '%4', '%zz', '<', '"', '\\', '^', '`', '{', '|']
    expect([...good, ...bad].filter((text) => hasUriCharacters(text))).toEqual(good)
  })

  test('a host is named behind two slashes', () => {
    const good = words('https://a.example HTTP://a com.example://a/b')
    const bad = words('https:a.example https:/a.example https:///a.example https://?a //a.example printer:/a')
    expect([...good, ...bad].filter((text) => namesHost(text))).toEqual(good)
  })

  test.each(words('https://a.example HTTP://a com.example:/b x:y:z urn:ietf:wg:oauth:2.0:oob'))(
    'the scheme of %s is what URL reads',
    (uri) => {
      expect(protocolOf(uri)).toBe(new URL(uri).protocol)
    },
  )
})

describe('the difference between two URLs', () => {
  test.each([
    ['https://a.example', 'https://a.example/', 'They differ only in the slash at the end.'],
    [
      'http://localhost:3000',
      'http://127.0.0.1:3000',
      'They differ only in the host: localhost and 127.0.0.1.',
    ],
    ['http://a.example', 'https://a.example', 'They differ only in the scheme: http: and https:.'],
    ['http://localhost', 'http://localhost:3000', 'They differ only in the port: none and 3000.'],
    ['https://a.example/Cb', 'https://a.example/cb', 'They differ only in upper and lower case.'],
    ['https://a.example/a', 'https://a.example/b', 'They differ only in the path: /a and /b.'],
    ['https://a.example', 'https://a.example', undefined],
    ['https://a.example/a', 'http://a.example/b', undefined],
    ['no URL', 'https://a.example', undefined],
  ])('of %s and %s: %s', (one, other, difference) => {
    expect(differenceBetween(one, other)).toBe(difference)
  })

  test('is likely of an issuer in its slash, its scheme, and the names of loopback', () => {
    const slips = likelySlips('http://localhost:3000')
    expect(slips).toEqual(
      expect.arrayContaining(words('http://localhost:3000/ http://127.0.0.1:3000 http://[::1]:3000')),
    )
    expect(slips).not.toContain('http://localhost:3000')
    expect(likelySlips('https://a.example/x')).toEqual(
      words('http://a.example/x http://a.example/x/ https://a.example/x/'),
    )
  })

  test('decides what issuers on one store are told', () => {
    expect(adviceForShared('https://a.example', 'https://a.example/')).toMatch(
      /^They differ only in the slash at the end\. .* make the two equal\./,
    )
    expect(adviceForShared('https://a.example', 'https://b.example')).toMatch(
      /give each issuer its own store or prefix\.$/,
    )
  })
})
