import { DecoyKeys } from '../../lib/jwt/decoy-keys'
import { json, jwt, signer } from '../support/assertions/jwt'

const decoys = new DecoyKeys()
const verifications = () => jest.spyOn(globalThis.crypto.subtle, 'verify')
afterEach(() => jest.restoreAllMocks())

const claims = { iss: 'nobody', sub: 'nobody' }
const [rsa, curve] = [signer('nobody', '1', 'RS256'), signer('nobody', '1')]

test.each([
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
])('a JWT by %s costs one verification, whatever key it names', async (alg) => {
  const verify = verifications()
  for (const kid of ['1', 'made up', undefined]) await decoys.verifyInVain(jwt(curve, claims, { alg, kid }))
  expect(verify).toHaveBeenCalledTimes(3)
})

test.each([
  ['no JWT', 'x'],
  ['a header that is no JSON', `x.${json(claims)}.x`],
  ['no algorithm', jwt(rsa, claims, { alg: undefined })],
  ['an unknown algorithm', jwt(rsa, claims, { alg: 'none' })],
  ['the name of a member of every object as its algorithm', jwt(rsa, claims, { alg: '__proto__' })],
  ['an unknown critical header', jwt(rsa, claims, { crit: ['x'], x: 1 })],
  ['too many characters', jwt(rsa, { ...claims, more: 'x'.repeat(20_000) })],
])('%s costs none, and no error', async (_, token) => {
  const verify = verifications()
  await expect(decoys.verifyInVain(token)).resolves.toBeUndefined()
  expect(verify).not.toHaveBeenCalled()
})
