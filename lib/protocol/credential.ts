import { createCipheriv, createDecipheriv, hash, randomFillSync, timingSafeEqual } from 'node:crypto'

/**
 * A short prefix and base64url of
 *
 * - refresh token: id 16 bytes, generation 4, tag 8, secret 32 (80 characters);
 * - all others: id 16 bytes, secret 32 (64 characters).
 *
 * The id is the key of the record: one read finds it from any credential. The store holds only digests of whole texts.
 */
export type CredentialKind =
  /** The consent token: only the consent form knows it. */
  | 'authorizationRequest'
  /** A request that waits for its owner: its client knows it. */
  | 'requestHandle'
  /** A demanded login, in the URL to which it returns. */
  | 'loginReference'
  | 'authorizationCode'
  | 'accessToken'
  | 'refreshToken'

const prefixes: Readonly<Record<CredentialKind, string>> = {
  authorizationRequest: 'ar_',
  requestHandle: 'rh_',
  loginReference: 'lr_',
  authorizationCode: 'ac_',
  accessToken: 'at_',
  refreshToken: 'rt_',
}

const idBytes = 16
const secretBytes = 32
const tagBytes = 8
const tagAt = idBytes + 4
const secretAt = tagAt + tagBytes
// 6 bits each: the 22nd character has the last two bits of an id.
const wholeIdCharacters = 21
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const idPart = (character: string) => alphabet.charAt(alphabet.indexOf(character) & 0b110000)
const plain = /^[A-Za-z0-9_-]{64}$/
const withGeneration = /^[A-Za-z0-9_-]{80}$/

export const createId = (random: Random): string => sixteenBytes(random)

export function createCredential(
  kind: Exclude<CredentialKind, 'refreshToken'>,
  id: string,
  random: Random,
): string {
  const bytes = startingWith(id, idBytes + secretBytes)
  bytes.set(random(secretBytes), idBytes)
  return prefixes[kind] + bytes.toString('base64url')
}

export const createTagKey = (random: Random): string => sixteenBytes(random)

export const createSalt = (random: Random): string => sixteenBytes(random)

export function createRefreshToken(id: string, generation: number, tagKey: string, random: Random): string {
  const secret = random(secretBytes)
  const bytes = startingWith(id, secretAt + secretBytes)
  bytes.writeUInt32BE(generation, idBytes)
  bytes.set(generationTag(tagKey, generation, secret), tagAt)
  bytes.set(secret, secretAt)
  return prefixes.refreshToken + bytes.toString('base64url')
}

/** Proves nothing: anybody can write such a text. */
export function credentialId(kind: CredentialKind, text: string): string | undefined {
  const body = text.slice(prefixes[kind].length)
  if (!text.startsWith(prefixes[kind]) || !(kind === 'refreshToken' ? withGeneration : plain).test(body))
    return undefined
  // The lower bits of the character belong to the next part.
  return body.slice(0, wholeIdCharacters) + idPart(body.charAt(wholeIdCharacters))
}

/**
 * Undefined if the tag is wrong. Tells an old genuine token from garbage with a known id, without a list of old
 * digests.
 */
export function genuineGeneration(text: string, tagKey: string): number | undefined {
  if (credentialId('refreshToken', text) === undefined) return undefined
  const bytes = Buffer.from(text.slice(prefixes.refreshToken.length), 'base64url')
  const generation = bytes.readUInt32BE(idBytes)
  const expected = generationTag(tagKey, generation, bytes.subarray(secretAt))
  return timingSafeEqual(bytes.subarray(tagAt, secretAt), expected) ? generation : undefined
}

/** SHA-256, 43 characters of base64url. */
export const digest = (text: string): string => hash('sha256', text, 'base64url')

/** At most 43 characters. */
export const shortKey = (text: string): string => (text.length < digestLength ? text : digest(text))

const digestLength = 43

/** In constant time. */
export const hasDigest = (text: string, expected: string): boolean => isSameDigest(digest(text), expected)

/** In constant time. */
export function isSameDigest(digestOfText: string, expected: string): boolean {
  if (expected.length !== digestLength) return false
  presented.write(digestOfText, 'latin1')
  stored.write(expected, 'latin1')
  return timingSafeEqual(presented, stored)
}

// Kept: two new ones for each comparison would cost more than the comparison.
const [presented, stored] = [Buffer.alloc(digestLength), Buffer.alloc(digestLength)]

/** In constant time. */
export function isSameText(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)]
  return first.length === second.length && timingSafeEqual(first, second)
}

function startingWith(id: string, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  bytes.write(id, 'base64url')
  return bytes
}

const sixteenBytes = (random: Random): string => random(16).toString('base64url')

// Without the key, an attacker can neither make a tag for another generation or secret, nor guess its 64 bits.
const generationTag = (tagKey: string, generation: number, secret: Buffer): Buffer =>
  derivedBytes(tagKey, `refresh token ${generation} ${secret.toString('base64url')}`)(tagBytes)

/** Known bytes in tests. */
export type Random = (bytes: number) => Buffer

// A system call for each few bytes would cost more than the rest of a token.
const pool = Buffer.alloc(4096)
let used = pool.length

/** Drawn ahead. Hands out each byte once, and erases it from the pool. */
export const secureRandom: Random = (bytes) => {
  if (bytes > pool.length) return randomFillSync(Buffer.alloc(bytes))
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const drawn = Buffer.from(pool.subarray(used, used + bytes))
  pool.fill(0, used, used + bytes)
  used += bytes
  return drawn
}

/**
 * NIST SP 800-56C 4.1, one step, with SHA-512: at most 64 bytes, the same for the same secret and purpose.
 *
 * @param secret at least 128 random bits, the same length for one purpose.
 * @param purpose includes the value that the bytes belong to. Two purposes never share bytes.
 */
export function derivedBytes(secret: string, purpose: string): Random {
  // Option 1: the counter 1, the secret, the purpose. `hash` returns text faster than a Buffer.
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

const cipher = 'aes-256-gcm'
const keyBytes = 32
const nonceBytes = 12
const sealTagBytes = 16

/** A credential that stores do not have. A text of one purpose cannot be decrypted for another. */
interface SealKey {
  readonly credential: string
  readonly purpose: string
}

/** A store cannot read the text. */
export function sealText(text: string, key: SealKey, random: Random): string {
  const nonce = random(nonceBytes)
  const encryption = createCipheriv(cipher, bytesOf(key), nonce)
  const sealed = Buffer.concat([encryption.update(text, 'utf8'), encryption.final()])
  return Buffer.concat([nonce, encryption.getAuthTag(), sealed]).toString('base64url')
}

/** Undefined for another key or an altered text. */
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

const bytesOf = ({ credential, purpose }: SealKey): Buffer => derivedBytes(credential, purpose)(keyBytes)
