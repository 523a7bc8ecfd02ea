import { hash } from 'node:crypto'
import { verifyJwt } from '../jwt/verify-jwt'
import { type KeyRing, ownTerms } from '../jwt/signing-keys/key-ring'
import type { SigningAlgorithm } from '../jwt/signing-keys/signing-key'
import type { Json } from '../protocol/json'
import { refused } from '../protocol/refusals'
import type { Login } from '../protocol/resource-owner'
import type { SubjectFor } from './pairwise'

/** OpenID Connect Core 2 */
interface IdTokenContent {
  readonly subject: string
  readonly clientId: string
  readonly login: Login | undefined
  /** Undefined at a refresh, too. */
  readonly nonce: string | undefined
  readonly accessToken: string
  readonly claims: Readonly<Record<string, Json>>
}

export interface IdTokenTerms {
  readonly issuer: string
  readonly ring: KeyRing
  readonly algorithm: SigningAlgorithm
  /** Seconds. */
  readonly lifetime: number
  /** Pairwise, or the subject of the host (OpenID Connect Core 8). */
  readonly subjectFor: SubjectFor
}

const type = 'JWT'

export function signIdToken(
  { issuer, ring, algorithm, lifetime }: IdTokenTerms,
  { subject, clientId, login, nonce, accessToken, claims }: IdTokenContent,
  now: number,
): Promise<string> {
  return ring.sign(algorithm, type, {
    ...claims,
    iss: issuer,
    sub: subject,
    aud: clientId,
    exp: now + lifetime,
    iat: now,
    ...(login && { auth_time: login.authTime, acr: login.acr, amr: login.amr }),
    ...(nonce !== undefined && { nonce }),
    at_hash: accessTokenHash(accessToken, algorithm),
  })
}

// OpenID Connect Core 3.1.3.6: the left half of the digest that the algorithm uses. Ed25519 uses SHA-512.
function accessTokenHash(accessToken: string, algorithm: SigningAlgorithm): string {
  const whole = hash(algorithm === 'EdDSA' ? 'sha512' : 'sha256', accessToken, 'buffer')
  return whole.subarray(0, whole.length / 2).toString('base64url')
}

/** OpenID Connect Core 3.1.2.1: the token may have expired. */
export async function hintedSubject(
  { issuer, ring }: IdTokenTerms,
  hint: string,
  clientId: string,
): Promise<string> {
  const { subject } = await verifyJwt(hint, 0, {
    // The keys of the ring go by its own clock.
    ...ownTerms(issuer, ring.source, type.toLowerCase()),
    audience: [clientId],
    soleAudience: true,
    refusal: () => refused('parameter_malformed/hint'),
  })
  return subject
}
