import { createCipheriv, createDecipheriv } from 'node:crypto'
import { derivedBytes } from './derived-bytes'
import type { Random } from './random'

const cipher = 'aes-256-gcm'
const keyBytes = 32
const nonceBytes = 12
const sealTagBytes = 16

/** What a text is sealed under: a credential that stores do not hold, and what for, so that no seal opens another. */
export interface SealKey {
  readonly credential: string
  readonly purpose: string
}

/** Encrypts a text under a key that only the bearer of the credential can derive; a store cannot read it. */
export function sealText(text: string, key: SealKey, random: Random): string {
  const nonce = random(nonceBytes)
  const encryption = createCipheriv(cipher, bytesOf(key), nonce)
  const sealed = Buffer.concat([encryption.update(text, 'utf8'), encryption.final()])
  return Buffer.concat([nonce, encryption.getAuthTag(), sealed]).toString('base64url')
}

/** The text again; undefined when this key did not seal it or it was altered. */
export function unsealText(sealed: string, key: SealKey): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  const nonce = bytes.subarray(0, nonceBytes)
  const sealTag = bytes.subarray(nonceBytes, nonceBytes + sealTagBytes)
  try {
    const decryption = createDecipheriv(cipher, bytesOf(key), nonce, { authTagLength: sealTagBytes })
    decryption.setAuthTag(sealTag)
    const text = decryption.update(bytes.subarray(nonceBytes + sealTagBytes), undefined, 'utf8')
    return text + decryption.final('utf8')
  } catch {
    return undefined
  }
}

function bytesOf({ credential, purpose }: SealKey): Buffer {
  return derivedBytes(credential, purpose)(keyBytes)
}
