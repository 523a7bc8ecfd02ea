import { constants, createPublicKey, type KeyObject, verify, type VerifyKeyObjectInput } from 'node:crypto'
import { holdsSecret } from '../jwt/public-keys'
import { BoundedMap } from '../primitives/maps'
import { isRecord, isText } from '../primitives/values'
import { digest } from '../protocol/credential'

/** RFC 7518 3.1, RFC 8037 3.1, RFC 9864 2.2: asymmetric ones alone (RFC 9449 4.2). */
export type DpopAlgorithm = 'EdDSA' | 'Ed25519' | `${'ES' | 'PS' | 'RS'}${256 | 384 | 512}`

interface AlgorithmRow {
  readonly kty: 'EC' | 'OKP' | 'RSA'
  readonly crv: string | undefined
  readonly hash: string | undefined
  readonly form: Omit<VerifyKeyObjectInput, 'key'>
}

const curve = (crv: string, hash: string): AlgorithmRow => ({
  kty: 'EC',
  crv,
  hash,
  // RFC 7518 3.4: two numbers of fixed length.
  form: { dsaEncoding: 'ieee-p1363' },
})
const edwards: AlgorithmRow = { kty: 'OKP', crv: 'Ed25519', hash: undefined, form: {} }
const rsa = (hash: string): AlgorithmRow => ({ kty: 'RSA', crv: undefined, hash, form: {} })
const rsaWithSalt = (hash: string): AlgorithmRow => ({
  ...rsa(hash),
  // RFC 7518 3.5: the salt is as long as the digest.
  form: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
})

const rows: Readonly<Record<DpopAlgorithm, AlgorithmRow>> = {
  ES256: curve('P-256', 'sha256'),
  ES384: curve('P-384', 'sha384'),
  ES512: curve('P-521', 'sha512'),
  EdDSA: edwards,
  Ed25519: edwards,
  PS256: rsaWithSalt('sha256'),
  PS384: rsaWithSalt('sha384'),
  PS512: rsaWithSalt('sha512'),
  RS256: rsa('sha256'),
  RS384: rsa('sha384'),
  RS512: rsa('sha512'),
}

export const dpopAlgorithms: readonly string[] = Object.keys(rows)

export const isDpopAlgorithm = (value: unknown): value is DpopAlgorithm =>
  isText(value) && dpopAlgorithms.includes(value)

interface ProofKey {
  readonly key: KeyObject
  /** RFC 7638: 43 characters of base64url. */
  readonly thumbprint: string
}

// Each about 1 KB. Reading a key costs as much as a signature, and a client signs many proofs with one.
const keysAtMost = 1000
// Bits. A larger key slows each verification, and no client needs one.
const [leastModulus, largestModulus] = [2048, 4096]
const largestExponent = 2n ** 32n

export class ProofKeys {
  private readonly known = new BoundedMap<KeyObject>(keysAtMost)

  read(algorithm: DpopAlgorithm, jwk: unknown): ProofKey | undefined {
    const members = publicMembers(rows[algorithm], jwk)
    if (members === undefined) return undefined
    // RFC 7638 3: in the order of their names, without white space.
    const thumbprint = digest(JSON.stringify(members))
    const key = this.known.get(thumbprint) ?? importKey(members)
    return key && { key, thumbprint }
  }

  /** Only after its proof: an attacker would have to sign to push keys of clients out. */
  remember({ key, thumbprint }: ProofKey): void {
    if (!this.known.has(thumbprint)) this.known.put(thumbprint, key)
  }
}

function publicMembers(
  { kty, crv }: AlgorithmRow,
  jwk: unknown,
): Readonly<Record<string, string>> | undefined {
  if (!isRecord(jwk) || jwk['kty'] !== kty || holdsSecret(jwk)) return undefined
  const names =
    kty === 'RSA' ? ['e', 'kty', 'n'] : kty === 'EC' ? ['crv', 'kty', 'x', 'y'] : ['crv', 'kty', 'x']
  const members: Record<string, string> = {}
  for (const name of names) {
    const value = Object.hasOwn(jwk, name) ? jwk[name] : undefined
    if (!isText(value)) return undefined
    members[name] = value
  }
  return members['crv'] === crv ? members : undefined
}

function importKey(members: Readonly<Record<string, string>>): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: { ...members }, format: 'jwk' })
    return isBounded(key) && isCanonical(key, members) ? key : undefined
  } catch {
    return undefined
  }
}

// RFC 7518 3.3 and 3.5: RSA keys have 2048 bits or more.
function isBounded({ asymmetricKeyDetails: details }: KeyObject): boolean {
  const { modulusLength, publicExponent } = details ?? {}
  if (modulusLength === undefined) return true
  const isUsual = modulusLength >= leastModulus && modulusLength <= largestModulus
  return isUsual && (publicExponent ?? largestExponent) < largestExponent
}

// One key has one thumbprint: leading zeros, or stray bits, would make another one.
function isCanonical(key: KeyObject, members: Readonly<Record<string, string>>): boolean {
  const exported: Readonly<Record<string, unknown>> = { ...key.export({ format: 'jwk' }) }
  return Object.entries(members).every(([name, value]) => exported[name] === value)
}

/** Off the event loop. */
export function hasSigned(
  { key }: ProofKey,
  algorithm: DpopAlgorithm,
  text: string,
  signature: Buffer,
): Promise<boolean> {
  const { hash, form } = rows[algorithm]
  return new Promise((resolve) => {
    verify(hash, Buffer.from(text), { ...form, key }, signature, (error, isSigned) =>
      resolve(error === null && isSigned),
    )
  })
}
