import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { isText, isTexts, isRecord } from '../protocol/configuration'
import type { Random } from '../protocol/credential'
import type { Issued } from './issue'

const cipher = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** Encrypts an answer under a key that only the bearer of this refresh token can derive; the store cannot read it. */
export function seal(issued: Issued, refreshToken: string, random: Random): string {
  const nonce = random(nonceBytes)
  const encryption = createCipheriv(cipher, keyOf(refreshToken), nonce)
  const text = Buffer.concat([encryption.update(JSON.stringify(issued), 'utf8'), encryption.final()])
  return Buffer.concat([nonce, encryption.getAuthTag(), text]).toString('base64url')
}

/** The answer again; undefined when this token did not seal it or the text was altered. */
export function unseal(sealed: string, refreshToken: string): Issued | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  const nonce = bytes.subarray(0, nonceBytes)
  const tag = bytes.subarray(nonceBytes, nonceBytes + tagBytes)
  try {
    const decryption = createDecipheriv(cipher, keyOf(refreshToken), nonce, { authTagLength: tagBytes })
    decryption.setAuthTag(tag)
    const text = decryption.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8')
    return parseIssued(JSON.parse(text + decryption.final('utf8')))
  } catch {
    return undefined
  }
}

function keyOf(refreshToken: string): Buffer {
  return createHmac('sha256', refreshToken).update('refresh token grace').digest()
}

function parseIssued(value: unknown): Issued | undefined {
  if (!isRecord(value)) return undefined
  const { accessToken, expiresAt, scope, refreshToken } = value
  if (!isText(accessToken) || typeof expiresAt !== 'number' || !isTexts(scope) || !isText(refreshToken))
    return undefined
  return { accessToken, expiresAt, scope, refreshToken }
}
