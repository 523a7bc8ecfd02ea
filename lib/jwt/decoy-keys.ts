import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { isText } from '../primitives/values'
import { compactParts, jsonIn } from './compact'
import { loadJose } from './jose'
import { KeySet } from './key-source'
import { materialOf, type PublicKey } from './public-keys'
import { longestJwt } from './verify-jwt'

/**
 * Public keys without an owner, one for each kind of signature. A JWT without a key costs one verification
 * with a decoy: the response time does not tell a missing key from a wrong signature.
 */
export class DecoyKeys {
  private readonly keys = new KeySet([
    rsa(),
    ...curves().flatMap(({ publicKey }) => materialOf(publicKey.export({ format: 'jwk' })) ?? []),
  ])

  /** Never rejects, and proves nothing. */
  async verifyInVain(token: string): Promise<void> {
    const alg = jsonIn(compactParts(token, longestJwt)?.header)?.['alg']
    if (!isText(alg)) return
    const { compactVerify } = await loadJose()
    try {
      const found = await this.keys.find(0, { alg })
      if (found !== undefined) await compactVerify(token, found.key)
    } catch {}
  }
}

// Nobody uses the private half: the modulus need not be a product of two primes, which are slow to find.
function rsa(): PublicKey {
  const modulus = randomBytes(256)
  modulus[0] = 0xff
  modulus[255] = 0xff
  return { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' }
}

const curves = () => [
  ...['P-256', 'P-384', 'P-521'].map((namedCurve) => generateKeyPairSync('ec', { namedCurve })),
  generateKeyPairSync('ed25519'),
]
