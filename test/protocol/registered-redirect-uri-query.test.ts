import * as fc from 'fast-check'
import { isRegisteredRedirectUri } from '../../lib/protocol/redirect-uri'

const none = { loopback_redirect_uris: false, dynamic_redirect_query: false }
const loopback = { ...none, loopback_redirect_uris: true }
const dynamic = { ...none, dynamic_redirect_query: true }
const both = { loopback_redirect_uris: true, dynamic_redirect_query: true }

const matches = (options: typeof none, registered: string, sent: string): boolean =>
  isRegisteredRedirectUri({ ...options, redirect_uris: ['https://first.example/', registered] }, sent)

const ipv4 = 'http://127.0.0.1/callback'
const web = 'https://book.example/callback'

describe('[REG-9] With dynamic_redirect_query', () => {
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

  it('whatever matches has the origin and path of the registered one, and every byte fits a header', () => {
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
