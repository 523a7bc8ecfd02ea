import { compactParts, jsonIn } from '../jwt/compact'
import { holdsSecret } from '../jwt/public-keys'
import { isText } from '../primitives/values'
import type { Reason } from '../protocol/refusals'
import { type DpopAlgorithm, hasSigned, isDpopAlgorithm, type ProofKeys } from './proof-key'

export type ProofFault = Extract<Reason, `dpop_${string}`>

export interface SignedProof {
  readonly thumbprint: string
  /** 1 to 256 characters. */
  readonly jti: string
  readonly htm: string
  readonly htu: string
  /** Seconds since the epoch, perhaps with a fraction. */
  readonly iat: number
  readonly nonce: string | undefined
  readonly ath: string | undefined
}

/** Characters. A longer proof is refused unread. */
const longestProof = 4096
/** Characters, for the name in the counters. */
const longestJti = 256

/** RFC 9449 4.3, 1 to 7. */
export async function readProof(
  lines: readonly string[] | undefined,
  algorithms: readonly DpopAlgorithm[],
  keys: ProofKeys,
): Promise<SignedProof | ProofFault> {
  const [proof, second] = lines ?? []
  if (proof === undefined) return 'dpop_proof_missing'
  if (second !== undefined) return 'dpop_proof_repeated'
  const parts = compactParts(proof, longestProof)
  const header = parts && jsonIn(parts.header)
  if (parts === undefined || header === undefined) return 'dpop_proof_malformed'
  // RFC 7515 4.1.11: no critical extension is supported; `b64` (RFC 7797) is one.
  if (header['typ'] !== 'dpop+jwt' || 'crit' in header || 'b64' in header) return 'dpop_header_refused'
  const { alg, jwk } = header
  if (!isDpopAlgorithm(alg) || !algorithms.includes(alg)) return 'dpop_algorithm_refused'
  if (holdsSecret(jwk)) return 'dpop_key_private'
  const key = keys.read(alg, jwk)
  if (key === undefined) return 'dpop_key_refused'
  if (!(await hasSigned(key, alg, parts.signed, parts.signature))) return 'dpop_signature_wrong'
  keys.remember(key)
  return claimsIn(jsonIn(parts.payload), key.thumbprint) ?? 'dpop_claims_refused'
}

// RFC 9449 4.2: the last two only for some requests.
function claimsIn(
  claims: Readonly<Record<string, unknown>> | undefined,
  thumbprint: string,
): SignedProof | undefined {
  const { jti, htm, htu, iat, nonce, ath } = claims ?? {}
  if (!isText(jti) || jti.length > longestJti || !isText(htm) || !isText(htu)) return undefined
  // JSON can hold a number that overflows to infinity: 1e999.
  if (typeof iat !== 'number' || !Number.isFinite(iat)) return undefined
  if (!isAbsentOrText(nonce) || !isAbsentOrText(ath)) return undefined
  return { thumbprint, jti, htm, htu, iat, nonce, ath }
}

const isAbsentOrText = (value: unknown): value is string | undefined => value === undefined || isText(value)
