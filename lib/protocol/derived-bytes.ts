import { hash } from 'node:crypto'
import type { Random } from './random'

/**
 * Bytes that are random to whoever lacks the secret, and the same ones again to whoever has it: the one-step derivation of
 * NIST SP 800-56C 4.1 with SHA-512, 64 bytes and no more.
 *
 * @param secret at least 128 random bits, for each purpose of one length.
 * @param purpose what the bytes are for, and from which value of it: two purposes never share bytes.
 */
export function derivedBytes(secret: string, purpose: string): Random {
  // Option 1 of the clause: the counter 1, the secret, the purpose. Out of `hash`, text is faster than a Buffer.
  const bytes = Buffer.from(hash('sha512', `\0\0\0\u0001${secret}${purpose}`, 'base64url'), 'base64url')
  let drawn = 0
  return (length) => {
    const from = drawn
    drawn += length
    if (drawn > bytes.length)
      throw new RangeError(`No more than ${bytes.length} bytes are derived of a secret.`)
    return bytes.subarray(from, drawn)
  }
}
