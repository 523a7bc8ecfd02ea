import { readConfirmation, withConfirmation } from '../../lib/protocol/confirmation'
import type { Extension } from '../../lib/protocol/extension'
import type { TokenType } from '../../lib/protocol/token-type'

const typeOf = (name: string, confirmationMethod?: string): TokenType => ({
  name,
  scheme: name,
  read: () => undefined,
  ...(confirmationMethod !== undefined && { confirmationMethod }),
})
const tokenTypes = [typeOf('bearer'), typeOf('DPoP', 'jkt'), typeOf('Other', 'kid')]
const certificate: Extension = { name: 'mtls', confirmationMethod: 'x5t#S256' }
const confirming = { tokenTypes, extensions: [certificate, { name: 'idle' }] }
const kept = { tokenType: 'DPoP', tokenData: 'thumb', extensionData: {}, tokenExtensionData: {} }

test('what a token type and an extension keep is their member of cnf, and comes back by it', () => {
  const tokenExtensionData = { mtls: 'print', idle: 'x' }
  const { cnf } = withConfirmation({}, confirming, { ...kept, tokenExtensionData })
  expect(cnf).toEqual({ jkt: 'thumb', 'x5t#S256': 'print' })
  expect(readConfirmation(confirming, cnf)).toEqual({
    tokenType: 'DPoP',
    tokenData: 'thumb',
    tokenExtensionData: { mtls: 'print' },
  })
})

test('a confirmation that an extension writes itself stays, beside those of the methods', () => {
  const own = { aud: 'a', cnf: { jwk: { kty: 'EC' }, jkt: 'of the extension' } }
  expect(withConfirmation(own, confirming, kept)).toEqual({
    aud: 'a',
    cnf: { jwk: { kty: 'EC' }, jkt: 'thumb' },
  })
})

test.each([
  ['a type without a method', { ...kept, tokenType: 'bearer' }],
  ['a type that is gone', { ...kept, tokenType: 'mac' }],
  ['no data', { ...kept, tokenData: undefined }],
])('%s writes no cnf', (_what, token) => {
  expect(withConfirmation({ aud: 'a' }, confirming, token)).toEqual({ aud: 'a' })
})

test('a token that two types would have to check is refused, because a request has one scheme', () => {
  expect(readConfirmation(confirming, { kid: 'a' })).toMatchObject({ tokenType: 'Other', tokenData: 'a' })
  expect(readConfirmation(confirming, { jkt: 'thumb', kid: 'a' })).toBeUndefined()
})

test('a method that a type and an extension share gives both the data, and both check it', () => {
  const both = { tokenTypes, extensions: [{ ...certificate, name: '__proto__', confirmationMethod: 'jkt' }] }
  const read = readConfirmation(both, { jkt: 'thumb' })
  expect([read?.tokenType, read?.tokenData]).toEqual(['DPoP', 'thumb'])
  expect(Object.entries(read?.tokenExtensionData ?? {})).toEqual([['__proto__', 'thumb']])
})
