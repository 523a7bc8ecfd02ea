import { createCipheriv, createDecipheriv, hash, randomFillSync, timingSafeEqual } from 'node:crypto'

/**
 * The texts that this server hands out. Each is a short prefix and base64url of
 *
 * - authorization code, access token, handle of a pending request: id 16 bytes, secret 32 (64 characters);
 * - refresh token: id 16, generation 4, tag 8, secret 32 (80 characters).
 *
 * The id is the key of the authorization that the credential descends from, so any credential finds its record
 * in one read. The store keeps digests of whole texts only.
 */
export type CredentialKind = 'authorizationRequest' | 'authorizationCode' | 'accessToken' | 'refreshToken'

const prefixes: Readonly<Record<CredentialKind, string>> = {
  authorizationRequest: 'ar_',
  authorizationCode: 'ac_',
  accessToken: 'at_',
  refreshToken: 'rt_',
}

const idBytes = 16
const secretBytes = 32
const tagBytes = 8
// Of a refresh token.
const tagAt = idBytes + 4
const secretAt = tagAt + tagBytes
// Of base64url: 6 bits each, so that the 22nd has the last two bits of an id.
const wholeIdCharacters = 21
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const idPart = (character: string) => alphabet.charAt(alphabet.indexOf(character) & 0b110000)
const plain = /^[A-Za-z0-9_-]{64}$/
const withGeneration = /^[A-Za-z0-9_-]{80}$/

/** A new authorization id: 22 characters of base64url. */
export function createId(random: Random): string {
  return sixteenBytes(random)
}

/** A new code, access token or handle for the authorization. */
export function createCredential(
  kind: Exclude<CredentialKind, 'refreshToken'>,
  id: string,
  random: Random,
): string {
  const bytes = startingWith(id, idBytes + secretBytes)
  bytes.set(random(secretBytes), idBytes)
  return prefixes[kind] + bytes.toString('base64url')
}

/** A new key for the tags of one authorization's refresh tokens. */
export function createTagKey(random: Random): string {
  return sixteenBytes(random)
}

/** A new salt for the secrets of a rotation: 22 characters of base64url. */
export function createSalt(random: Random): string {
  return sixteenBytes(random)
}

/** A new refresh token of the given generation, tagged under the authorization's key. */
export function createRefreshToken(id: string, generation: number, tagKey: string, random: Random): string {
  const secret = random(secretBytes)
  const bytes = startingWith(id, secretAt + secretBytes)
  bytes.writeUInt32BE(generation, idBytes)
  bytes.set(generationTag(tagKey, generation, secret), tagAt)
  bytes.set(secret, secretAt)
  return prefixes.refreshToken + bytes.toString('base64url')
}

/** The id inside a credential; undefined when the text is none of this kind. It proves nothing yet. */
export function credentialId(kind: CredentialKind, text: string): string | undefined {
  const body = text.slice(prefixes[kind].length)
  if (!text.startsWith(prefixes[kind]) || !(kind === 'refreshToken' ? withGeneration : plain).test(body))
    return undefined
  // The id ends within a character, whose lower bits are the secret's.
  return body.slice(0, wholeIdCharacters) + idPart(body.charAt(wholeIdCharacters))
}

/**
 * The generation of a refresh token that this server made for the authorization; undefined when the tag is not
 * ours. It tells an old genuine token from garbage with a known id, without a list of old digests.
 */
export function genuineGeneration(text: string, tagKey: string): number | undefined {
  if (credentialId('refreshToken', text) === undefined) return undefined
  const bytes = Buffer.from(text.slice(prefixes.refreshToken.length), 'base64url')
  const generation = bytes.readUInt32BE(idBytes)
  const expected = generationTag(tagKey, generation, bytes.subarray(secretAt))
  return timingSafeEqual(bytes.subarray(tagAt, secretAt), expected) ? generation : undefined
}

/** What the store keeps of a credential: SHA-256 of the whole text, 43 characters of base64url. */
export function digest(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** The text, or its digest where that is shorter: a name of bounded length for whatever a host calls its owners. */
export function shortKey(text: string): string {
  return text.length < digestLength ? text : digest(text)
}

const digestLength = 43

/** Whether the text has this digest, in constant time. */
export function hasDigest(text: string, expected: string): boolean {
  return isSameText(digest(text), expected)
}

/** Whether two texts are the same, in constant time. */
export function isSameText(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)]
  return first.length === second.length && timingSafeEqual(first, second)
}

function startingWith(id: string, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  bytes.write(id, 'base64url')
  return bytes
}

function sixteenBytes(random: Random): string {
  return random(16).toString('base64url')
}

// Without the key nobody makes it for another generation or secret, and 64 bits are not guessed.
function generationTag(tagKey: string, generation: number, secret: Buffer): Buffer {
  return derivedBytes(tagKey, `refresh token ${generation} ${secret.toString('base64url')}`)(tagBytes)
}

/** A source of random bytes; {@link secureRandom} unless a test needs to know them. */
export type Random = (bytes: number) => Buffer

// A call of the system for each few bytes costs more than the rest of making a token.
const pool = Buffer.alloc(4096)
let used = pool.length

/** Random bytes of the system, drawn ahead. None is handed out twice, and none is left behind once it is handed out. */
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
