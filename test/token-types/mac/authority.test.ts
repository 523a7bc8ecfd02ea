import { isAuthority, isListed, parseAuthority } from '../../../lib/token-types/mac'

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
