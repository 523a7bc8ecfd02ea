import { createPublicKey, hash, type KeyObject } from 'node:crypto'
import { isList, isRecord, isText, isTexts } from '../primitives/values'

/** Only what finds the key and verifies (RFC 7517 4). */
export type PublicKey = Readonly<Partial<Record<Member | 'kid' | 'alg', string>>>

// RFC 7638 3.2, RFC 8037 2: in lexicographic order.
const material: Readonly<Record<string, readonly Member[]>> = {
  EC: ['crv', 'kty', 'x', 'y'],
  OKP: ['crv', 'kty', 'x'],
  RSA: ['e', 'kty', 'n'],
}
type Member = 'crv' | 'e' | 'kty' | 'n' | 'x' | 'y'

// RFC 7518 6.2.2, 6.3.2 and 6.4.1, RFC 8037 2; `priv` of the key type AKP.
const secrets = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']

/** RFC 7517 5. Undefined if it is none. A message is the rest of a sentence. */
export function parsePublicKeys(value: unknown) {
  if (!isRecord(value) || !isList(value['keys'])) return undefined
  const keys: PublicKey[] = []
  const problems: { readonly index: number; readonly message: string }[] = []
  for (const [index, each] of value['keys'].entries()) {
    const key = hasOtherPurpose(each) ? undefined : parsePublicKey(each)
    if (typeof key === 'string') problems.push({ index, message: key })
    else if (key !== undefined) keys.push(key)
  }
  return { keys, problems }
}

// RFC 7517 4.2 and 4.3: perhaps a key for encryption.
function hasOtherPurpose(key: unknown): boolean {
  if (!isRecord(key) || holdsSecret(key)) return false
  const { use = 'sig', key_ops: operations = ['verify'] } = key
  return use !== 'sig' || !isTexts(operations) || !operations.includes('verify')
}

function parsePublicKey(value: unknown): PublicKey | string {
  if (!isRecord(value) || !isText(value['kty'])) return 'must be a JSON Web Key with kty.'
  if (holdsSecret(value))
    return 'holds a secret, such as d or k: give the public key only, and replace this key, because its secret is exposed.'
  const jwk = materialOf(value)
  const key = jwk && readKey(jwk)
  if (jwk === undefined || key === undefined) return 'is not a public key that Node can read.'
  // RFC 7518 3.3 and 3.5.
  if ((key.asymmetricKeyDetails?.modulusLength ?? 2048) < 2048)
    return 'must have at least 2048 bits, as an RSA key.'
  const { kid, alg } = value
  return { ...jwk, ...(isText(kid) && { kid }), ...(isText(alg) && { alg }) }
}

/** Undefined for another key type, or without one of its members. */
export function materialOf(jwk: unknown): PublicKey | undefined {
  if (!isRecord(jwk) || !isText(jwk['kty']) || !Object.hasOwn(material, jwk['kty'])) return undefined
  const members = material[jwk['kty']]?.map((name) => [name, jwk[name]] as const) ?? []
  return members.every(([, value]) => isText(value)) ? Object.fromEntries(members) : undefined
}

/** RFC 7638 */
export const thumbprintOf = (jwk: PublicKey): string =>
  hash('sha256', JSON.stringify(materialOf(jwk)), 'base64url')

export const holdsSecret = (key: unknown): boolean =>
  isRecord(key) && secrets.some((name) => Object.hasOwn(key, name))

export function readKey(jwk: PublicKey): KeyObject | undefined {
  try {
    return createPublicKey({ key: { ...jwk }, format: 'jwk' })
  } catch {
    return undefined
  }
}
