import type { KeyObject } from 'node:crypto'
import { materialOf, type PublicKey, readKey, thumbprintOf } from '../jwt/public-keys'
import { BoundedMap } from '../primitives/maps'

interface ProofKey {
  readonly key: KeyObject
  /** RFC 7638: 43 characters of base64url. */
  readonly thumbprint: string
}

// Each about 1 KB. Reading a key costs as much as a signature, and a client signs many proofs with one.
const keysAtMost = 1000
// Bits. A larger key slows each verification, and no client needs one.
const largestModulus = 4096
const largestExponent = 2n ** 32n

export class ProofKeys {
  private readonly known = new BoundedMap<KeyObject>(keysAtMost)

  read(jwk: unknown): ProofKey | undefined {
    const material = materialOf(jwk)
    if (material === undefined) return undefined
    const thumbprint = thumbprintOf(material)
    const key = this.known.get(thumbprint) ?? readBounded(material)
    return key && { key, thumbprint }
  }

  /** Only after its proof: an attacker would have to sign to push keys of clients out. */
  remember({ key, thumbprint }: ProofKey): void {
    if (!this.known.has(thumbprint)) this.known.set(thumbprint, key)
  }
}

function readBounded(material: PublicKey): KeyObject | undefined {
  const key = readKey(material)
  const { modulusLength = 0, publicExponent = 0n } = key?.asymmetricKeyDetails ?? {}
  const isBounded = modulusLength <= largestModulus && publicExponent < largestExponent
  // One key has one thumbprint: leading zeros, or stray bits, would make another one.
  const isCanonical = () =>
    JSON.stringify(materialOf(key?.export({ format: 'jwk' }))) === JSON.stringify(material)
  return isBounded && isCanonical() ? key : undefined
}
