import { createCipheriv, createDecipheriv, hash, randomFillSync, timingSafeEqual } from 'node:crypto'

/**
 * A prefix, the id (22 letters of base64url), and the secret (43); a refresh token has generation (6) and tag (11)
 * before it. The id is the key of the record: one read finds it. The store holds only digests of whole texts.
 */
const prefixes = {
  /** The consent token, in the consent form alone. */
  authorizationRequest: 'ar_',
  requestHandle: 'rh_',
  /** A demanded login, in the URL of its return. */
  loginReference: 'lr_',
  authorizationCode: 'ac_',
  accessToken: 'at_',
  refreshToken: 'rt_',
} as const

export type CredentialKind = keyof typeof prefixes

export const idLength = 22
const generationLength = 6
const tagLength = 11
export const secretLength = 43
const idAt = 3
const generationAt = idAt + idLength
const tagAt = generationAt + generationLength
const secretAt = tagAt + tagLength
const plain = /^[a-z]{2}_[\w-]{65}$/
const withGeneration = /^rt_[\w-]{82}$/

export const createId = (random: Random): string => random(idLength)

export const createTagKey = createId

export const createSalt = createId

export function createCredential(
  kind: Exclude<CredentialKind, 'refreshToken'>,
  id: string,
  random: Random,
): string {
  return prefixes[kind] + id + random(secretLength)
}

export function createRefreshToken(id: string, generation: number, tagKey: string, random: Random): string {
  const counted = generation.toString(36).padStart(generationLength, '0')
  const secret = random(secretLength)
  return prefixes.refreshToken + id + counted + tagOf(tagKey, counted, secret) + secret
}

/** Proves nothing: anybody can write such a text. */
export function credentialId(kind: CredentialKind, text: string): string | undefined {
  const form = kind === 'refreshToken' ? withGeneration : plain
  return text.startsWith(prefixes[kind]) && form.test(text) ? text.slice(idAt, generationAt) : undefined
}

/** Of any kind. */
export const isCredential = (text: string): boolean =>
  Object.values(prefixes).some((prefix) => text.startsWith(prefix)) &&
  (plain.test(text) || withGeneration.test(text))

/** Undefined if the tag is wrong. Tells an old genuine token from garbage, without a list of old digests. */
export function genuineGeneration(text: string, tagKey: string): number | undefined {
  if (credentialId('refreshToken', text) === undefined) return undefined
  const counted = text.slice(generationAt, tagAt)
  const expected = tagOf(tagKey, counted, text.slice(secretAt))
  return isSameText(text.slice(tagAt, secretAt), expected) ? Number.parseInt(counted, 36) : undefined
}

// Without the key, nobody makes a tag for another generation or secret, nor guesses its 66 bits.
const tagOf = (tagKey: string, counted: string, secret: string): string =>
  derivation(tagKey, `refresh token ${counted} ${secret}`).slice(0, tagLength)

/** SHA-256 in base64url. */
export const digest = (text: string): string => hash('sha256', text, 'base64url')

/** At most 43 characters. */
export const shortKey = (text: string): string => (text.length < digestLength ? text : digest(text))

export const digestLength = 43

export const hasDigest = (text: string, expected: string): boolean => isSameDigest(digest(text), expected)

export function isSameDigest(digestOfText: string, expected: string): boolean {
  if (expected.length !== digestLength) return false
  for (let at = 0; at < digestLength; at++) {
    presented[at] = digestOfText.charCodeAt(at)
    stored[at] = expected.charCodeAt(at)
  }
  return timingSafeEqual(presented, stored)
}

// Kept: two new ones would cost more than the comparison.
const [presented, stored] = [new Uint8Array(digestLength), new Uint8Array(digestLength)]

export function isSameText(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)]
  return first.length === second.length && timingSafeEqual(first, second)
}

/** Letters of base64url, each with 6 random bits. */
export type Random = (length: number) => string

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
// A system call for few letters would cost more than the rest of a token.
const pool = new Uint8Array(4096)
const textInPool = Buffer.from(pool.buffer)
let used = pool.length

/** Hands out each letter once, and erases it from the pool. */
export const secureRandom: Random = (length) => {
  if (length > pool.length) throw new RangeError(`No more than ${pool.length} letters are drawn at once.`)
  if (used + length > pool.length) {
    randomFillSync(pool)
    for (let at = 0; at < pool.length; at++) pool[at] = alphabet.charCodeAt((pool[at] ?? 0) & 63)
    used = 0
  }
  const text = textInPool.toString('latin1', used, used + length)
  pool.fill(0, used, used + length)
  used += length
  return text
}

/**
 * NIST SP 800-56C 4.1, one step, SHA-512: at most 86 letters.
 *
 * @param secret at least 128 random bits, of one length for one purpose.
 * @param purpose includes the value that the letters belong to.
 */
export function derivedText(secret: string, purpose: string): Random {
  const text = derivation(secret, purpose)
  let drawn = 0
  return (length) => {
    const from = drawn
    drawn += length
    if (drawn > text.length)
      throw new RangeError(`No more than ${text.length} letters are derived of a secret.`)
    return text.slice(from, drawn)
  }
}

// Option 1: counter, secret, purpose.
const derivation = (secret: string, purpose: string): string =>
  hash('sha512', `\0\0\0\u0001${secret}${purpose}`, 'base64url')

const cipher = 'aes-256-gcm'
const nonceBytes = 12
const sealTagBytes = 16

/** A credential that stores do not have, and a purpose: no other one decrypts the text. */
interface SealKey {
  readonly credential: string
  readonly purpose: string
}

export function sealText(text: string, key: SealKey, random: Random): string {
  const nonce = Buffer.from(random(16), 'base64url')
  const encryption = createCipheriv(cipher, bytesOf(key), nonce)
  const sealed = Buffer.concat([encryption.update(text, 'utf8'), encryption.final()])
  return Buffer.concat([nonce, encryption.getAuthTag(), sealed]).toString('base64url')
}

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

const bytesOf = ({ credential, purpose }: SealKey): Buffer =>
  Buffer.from(derivedText(credential, purpose)(secretLength), 'base64url')
