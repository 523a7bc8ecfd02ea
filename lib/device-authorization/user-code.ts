import { createHmac } from 'node:crypto'
import type { Random } from '../protocol/credential'

// RFC 8628 6.1: no vowels, so no words appear; 20^8 codes are 34.5 bits.
const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const length = 8
const grammar = new RegExp(`^[${letters}]{${length}}$`)
// Bytes below it have each letter equally often.
const fairBytes = 256 - (256 % letters.length)

export function createUserCode(random: Random): string {
  let code = ''
  while (code.length < length)
    for (const byte of random(length)) if (byte < fairBytes) code += letters.charAt(byte % letters.length)
  return code.slice(0, length)
}

/** Such as `WDJB-MJHT`. */
export const shownCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`

/**
 * Ignores letter case, width, spaces and all other characters between the letters. Undefined for no user
 * code.
 */
export function parseUserCode(typed: string): string | undefined {
  const code = typed
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[\p{P}\p{Z}\p{S}\p{C}]/gu, '')
  return grammar.test(code) ? code : undefined
}

/** Derives with the key that all processes of one server share. */
export class DeviceKey {
  constructor(
    private readonly key: string | Buffer,
    private readonly issuer: string,
  ) {}

  /** 22 characters of base64url. Takes a key: there are too few codes for a plain digest. */
  idOf(userCode: string): string {
    return this.mac('user code', userCode).subarray(0, 16).toString('base64url')
  }

  /**
   * The source of the consent token's secret for one owner and request. Always the same, so every open page
   * of this owner can decide.
   *
   * @param handle digest of the handle, which no other request has.
   */
  consentSecret(handle: string, subject: string): Random {
    const secret = this.mac('consent token', handle, subject)
    return (bytes) => secret.subarray(0, bytes)
  }

  /** Only this owner's page has it. */
  formText(subject: string): string {
    return this.mac('code form', subject).toString('base64url')
  }

  private mac(...parts: readonly string[]): Buffer {
    return createHmac('sha256', this.key)
      .update(JSON.stringify([this.issuer, ...parts]))
      .digest()
  }
}
