import { adviceForShared, differenceBetween, likelySlips } from '../../lib/protocol/url-difference'

describe('the difference between two URLs', () => {
  it.each([
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
  ])('of %s and %s is named', (one, other, difference) => {
    expect(differenceBetween(one, other)).toBe(difference)
  })

  it.each([
    ['https://a.example', 'https://a.example'],
    ['https://a.example/a', 'http://a.example/b'],
    ['no URL', 'https://a.example'],
  ])('of %s and %s has no name', (one, other) => {
    expect(differenceBetween(one, other)).toBeUndefined()
  })
})

test('the likely slips of an issuer on a loopback host name its other hosts, and a slash at the end', () => {
  const slips = likelySlips('http://localhost:3000')
  expect(slips).toEqual(
    expect.arrayContaining(['http://localhost:3000/', 'http://127.0.0.1:3000', 'http://[::1]:3000']),
  )
  expect(slips).not.toContain('http://localhost:3000')
  expect(likelySlips('https://a.example/x')).toEqual([
    'http://a.example/x',
    'http://a.example/x/',
    'https://a.example/x/',
  ])
})

describe('issuers that share a store', () => {
  it('are to be made equal if they look like one issuer, written twice', () => {
    expect(adviceForShared('https://a.example', 'https://a.example/')).toMatch(
      /^They differ only in the slash at the end\. .* make the two equal\./,
    )
  })

  it('are to have stores of their own if they are two', () => {
    expect(adviceForShared('https://a.example', 'https://b.example')).toMatch(
      /give each issuer its own store or prefix\.$/,
    )
  })
})
