import { createHmac } from 'node:crypto'
import type { Random } from '../protocol/credential'

// RFC 8628 6.1: no vowels, so no words appear; 20^8 codes are 34.5 bits.
const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const length = 8
const grammar = new RegExp(`^[${letters}]{${length}}$`)
// Bytes below have each letter equally often.
const fairBytes = 256 - (256 % letters.length)

export function createUserCode(random: Random): string {
  let code = ''
  while (code.length < length)
    for (const byte of Buffer.from(random(11), 'base64url'))
      if (byte < fairBytes) code += letters.charAt(byte % letters.length)
  return code.slice(0, length)
}

/** Such as `WDJB-MJHT`. */
export const shownCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`

/** Ignores letter case, width, and all other characters. */
export function parseUserCode(typed: string): string | undefined {
  const code = typed
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[\p{P}\p{Z}\p{S}\p{C}]/gu, '')
  return grammar.test(code) ? code : undefined
}

export class DeviceKey {
  constructor(
    private readonly key: string | Buffer,
    private readonly issuer: string,
  ) {}

  /** Needs a key: there are too few codes for a plain digest. */
  idOf(userCode: string): string {
    return this.mac('user code', userCode).subarray(0, 16).toString('base64url')
  }

  /** Derives the consent token of the page: who has the code and the store cannot. */
  consentSecret(id: string, subject: string): string {
    return this.mac('consent token', id, subject).toString('base64url')
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
