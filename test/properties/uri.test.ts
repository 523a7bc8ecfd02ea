import { hasUriCharacters, isLoopback, namesHost, protocolOf } from '../../lib/protocol/uri'

describe('isLoopback', () => {
  it.each(['localhost', '127.0.0.1', '[::1]'])('%s stays on this machine', (host) => {
    expect(isLoopback(host)).toBe(true)
  })

  it.each(['localhost.example', '127.0.0.1.example', '10.0.0.1', '::1', '0.0.0.0', ''])(
    '%j does not',
    (host) => {
      expect(isLoopback(host)).toBe(false)
    },
  )
})

describe('hasUriCharacters', () => {
  it.each(['https://a.example/%C3%A9?b=c#d', "x:!$&'()*+,;=@[]~"])('%s can be a URI as it stands', (text) => {
    expect(hasUriCharacters(text)).toBe(true)
  })

  it.each(['', 'a b', 'a\n', 'é', '%', '%4', '%zz', '<', '"', '\\', '^', '`', '{', '|'])(
    '%j cannot be in a URI',
    (text) => {
      expect(hasUriCharacters(text)).toBe(false)
    },
  )
})

describe('namesHost', () => {
  it.each(['https://a.example', 'HTTP://a', 'com.example://a/b'])('%s does', (text) => {
    expect(namesHost(text)).toBe(true)
  })

  it.each([
    'https:a.example',
    'https:/a.example',
    'https:///a.example',
    'https://?a',
    '//a.example',
    'printer:/a',
  ])('%s does not', (text) => {
    expect(namesHost(text)).toBe(false)
  })
})

describe('protocolOf', () => {
  it.each(['https://a.example', 'HTTP://a', 'com.example:/b', 'x:y:z', 'urn:ietf:wg:oauth:2.0:oob'])(
    'reads of %s what URL reads',
    (uri) => {
      expect(protocolOf(uri)).toBe(new URL(uri).protocol)
    },
  )
})
