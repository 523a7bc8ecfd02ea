import { bearer } from '../../lib/token-types/bearer'
import { mac } from '../../lib/token-types/mac'
import { mistakesWith } from '../support/rooms/mistakes'

const signed = mac({ hosts: ['api.example.com'] })
const problems = (bend: Readonly<Record<string, unknown>>) =>
  mistakesWith(bend).map(({ path, message }) => `${path} ${message}`)

test('token types are told apart by name and by scheme, bearer among them', () => {
  expect(problems({ tokenTypes: [{ ...signed, name: 'bearer' }] })).toEqual([
    'tokenTypes[0].name is "bearer", which another token type has already.',
  ])
  expect(problems({ tokenTypes: [signed, { ...signed, name: 'other', scheme: 'mac' }] })).toEqual([
    'tokenTypes[1].scheme is "mac", which another token type has already, in whatever case.',
  ])
  expect(problems({ tokenTypes: [signed, { ...signed, name: 'MAC', scheme: 'Other' }] })).toEqual([])
})

test.each(['two words', 'a/b', 'é', 'a"b', 'https://a.example/ b'])(
  '%j is no name of a token type',
  (name) => {
    expect(problems({ tokenTypes: [{ ...signed, name }] })).toEqual([
      `tokenTypes[0].name is "${name}", but must be letters, digits and . _ -, or an absolute URI.`,
    ])
  },
)

test.each(['two words', 'a"b', 'a,b', 'é'])('%j is no scheme', (scheme) => {
  expect(problems({ tokenTypes: [{ ...bearer, name: 'x', scheme }] })).toEqual([
    `tokenTypes[0].scheme is "${scheme}", which is no name of an HTTP scheme.`,
  ])
})

test('the default is one of them', () => {
  expect(problems({ tokenTypes: [signed], tokenType: 'mac' })).toEqual([])
  expect(problems({ tokenTypes: [signed], tokenType: 'hotk' })).toEqual([
    'tokenType must be one of bearer, mac.',
  ])
})
