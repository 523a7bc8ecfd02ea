import { readBearerToken, isSameScheme, parseAuthorization } from '../../lib/protocol/http-authentication'

describe('parseAuthorization', () => {
  it.each([
    ['Basic abc', 'Basic', 'abc'],
    ['APIKEY   a b', 'APIKEY', 'a b'],
    ['Basic', 'Basic', ''],
    ['Basic ', 'Basic', ''],
    ['', '', ''],
    [' Basic abc', '', 'Basic abc'],
    ['Bearer\tabc', 'Bearer\tabc', ''],
  ])('splits %j at its first space', (header, scheme, credentials) => {
    expect(parseAuthorization(header)).toEqual({ scheme, credentials })
  })
})

test('letter case does not count in a scheme', () => {
  expect(isSameScheme('bEaReR', 'Bearer')).toBe(true)
  expect(isSameScheme('Bearers', 'Bearer')).toBe(false)
})

test.each([
  ['abc', 'abc'],
  ['', undefined],
  ['a b', undefined],
])('the bearer token in %j is %j', (credentials, token) => {
  expect(readBearerToken(credentials)?.accessToken).toBe(token)
})
