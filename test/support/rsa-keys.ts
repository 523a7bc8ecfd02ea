import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto'
import { promisify } from 'node:util'

export interface KeyPair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

const separator = '\n\n'

/** Making an RSA key takes a tenth of a second: a run makes a few, which its files share by the variable `RSA_KEYS`. */
export async function makeRsaKeys(count = 4): Promise<string> {
  const make = promisify(generateKeyPair)
  const pairs = await Promise.all(Array.from({ length: count }, () => make('rsa', { modulusLength: 2048 })))
  return pairs.map(({ privateKey }) => privateKey.export({ type: 'pkcs8', format: 'pem' })).join(separator)
}

const left = (process.env['RSA_KEYS'] ?? '').split(separator).filter((text) => text !== '')

/** A pair that nobody else in this test file has. */
export function rsaKeyPair(modulusLength = 2048): KeyPair {
  const text = modulusLength === 2048 ? left.shift() : undefined
  if (text === undefined) return generateKeyPairSync('rsa', { modulusLength })
  const privateKey = createPrivateKey(text)
  return { privateKey, publicKey: createPublicKey(privateKey) }
}
