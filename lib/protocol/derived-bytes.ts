import { createHmac } from 'node:crypto'
import type { Random } from './random'

/**
 * Bytes that are random to whoever lacks the credential, and the same ones again to whoever has it: HMAC-SHA-512 of a
 * salt that was drawn for them, 64 bytes and no more.
 */
export function derivedBytes(credential: string, salt: string): Random {
  const bytes = createHmac('sha512', credential).update(salt).digest()
  let drawn = 0
  return (length) => {
    const from = drawn
    drawn += length
    if (drawn > bytes.length)
      throw new RangeError(`No more than ${bytes.length} bytes are derived of a credential.`)
    return bytes.subarray(from, drawn)
  }
}
