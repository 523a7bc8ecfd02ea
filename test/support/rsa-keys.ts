import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'

export interface KeyPair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

const separator = "\n\n"

/** Making an RSA key takes a tenth of a second: a run makes a few, which its files share by the variable `RSA_KEYS`. */
export const makeRsaKeys = (count = 6): string =>
  Array.from({ length: count }, () =>
    generateKeyPairSync('rsa', { modulusLength: 2048 })
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString(),
  ).join(separator)

const left = (process.env['RSA_KEYS'] ?? '').split(separator).filter((text) => text !== '')

/** A pair that nobody else in this test file has. */
export function rsaKeyPair(modulusLength = 2048): KeyPair {
  const text = modulusLength === 2048 ? left.shift() : undefined
  if (text === undefined) return generateKeyPairSync('rsa', { modulusLength })
  const privateKey = createPrivateKey(text)
  return { privateKey, publicKey: createPublicKey(privateKey) }
}
