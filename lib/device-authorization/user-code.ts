import { createHmac } from 'node:crypto'
import type { Random } from '../protocol/credential'

// RFC 8628 6.1: no vowels, so that no words appear, and 20^8 codes: 34.5 bits.
const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const length = 8
const grammar = new RegExp(`^[${letters}]{${length}}$`)
// The bytes below have each letter equally often.
const fairBytes = 256 - (256 % letters.length)

/** Makes a user code: eight letters. */
export function createUserCode(random: Random): string {
  let code = ''
  while (code.length < length)
    for (const byte of random(length)) if (byte < fairBytes) code += letters.charAt(byte % letters.length)
  return code.slice(0, length)
}

/** A user code as people see it: `WDJB-MJHT`. */
export const shownCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`

/**
 * Reads a user code as a person typed it: letter case, spaces and every other character between the letters do not
 * count, and neither does the width of the letters. Undefined if no user code looks so.
 */
export function parseUserCode(typed: string): string | undefined {
  const code = typed
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[\p{P}\p{Z}\p{S}\p{C}]/gu, '')
  return grammar.test(code) ? code : undefined
}

/** What is derived with the key that the processes of one server share. */
export class DeviceKey {
  constructor(
    private readonly key: string | Buffer,
    private readonly issuer: string,
  ) {}

  /**
   * The id of the record of a user code: 22 characters of base64url. Without the key, nobody can find the code by the id:
   * there are too few codes for a plain digest.
   */
  idOf(userCode: string): string {
    return this.mac('user code', userCode).subarray(0, 16).toString('base64url')
  }

  /**
   * The source for the secret of the consent token of one owner and one request. It is always the same, so that every page
   * that this owner has open for the request can decide.
   *
   * @param handle digest of the handle, which no other request has.
   */
  consentSecret(handle: string, subject: string): Random {
    const secret = this.mac('consent token', handle, subject)
    return (bytes) => secret.subarray(0, bytes)
  }

  /** The text of the form for a code, which no page but that of this owner has. */
  formText(subject: string): string {
    return this.mac('code form', subject).toString('base64url')
  }

  private mac(...parts: readonly string[]): Buffer {
    return createHmac('sha256', this.key)
      .update(JSON.stringify([this.issuer, ...parts]))
      .digest()
  }
}
