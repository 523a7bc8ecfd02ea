import { hash } from 'node:crypto'
import type { PluginServer } from '../doors/plug-in'
import { verifyJwt } from '../jwt/verify-jwt'
import { type KeyRing, ownTerms } from '../jwt/signing-keys/key-ring'
import type { SigningAlgorithm } from '../jwt/signing-keys/signing-key'
import type { ExtensionTokenResponse } from '../protocol/extension'
import type { Json } from '../protocol/json'
import { refused } from '../protocol/refusals'
import type { OwnerClaims, ScopeClaims, SubjectFor } from './owner-claims'

/** OpenID Connect Core 2 */
interface IdTokenContent extends Pick<ExtensionTokenResponse, 'login' | 'accessToken'> {
  readonly subject: string
  readonly clientId: string
  readonly nonce: string | undefined
  readonly claims: Readonly<Record<string, Json>>
}

export interface IdentityTerms {
  readonly server: PluginServer
  readonly ring: KeyRing
  readonly algorithm: SigningAlgorithm
  /** Seconds. */
  readonly lifetime: number
  /** OpenID Connect Core 8. */
  readonly subjectFor: SubjectFor
  readonly claims: OwnerClaims
  readonly byScope: ScopeClaims
}

const type = 'JWT'

export function signIdToken(
  { server, ring, lifetime }: IdentityTerms,
  algorithm: SigningAlgorithm,
  { subject, clientId, login, nonce, accessToken, claims }: IdTokenContent,
): Promise<string> {
  const now = server.now()
  return ring.sign(algorithm, type, {
    ...claims,
    iss: server.issuer,
    sub: subject,
    aud: clientId,
    exp: now + lifetime,
    iat: now,
    ...(login && { auth_time: login.authTime, acr: login.acr, amr: login.amr }),
    ...(nonce !== undefined && { nonce }),
    at_hash: accessTokenHash(accessToken, algorithm),
  })
}

// OpenID Connect Core 3.1.3.6. Ed25519 uses SHA-512.
function accessTokenHash(accessToken: string, algorithm: SigningAlgorithm): string {
  const whole = hash(algorithm === 'EdDSA' ? 'sha512' : 'sha256', accessToken, 'buffer')
  return whole.subarray(0, whole.length / 2).toString('base64url')
}

/** OpenID Connect Core 3.1.2.1: the token may have expired. */
export async function hintedSubject(terms: IdentityTerms, hint: string, clientId: string): Promise<string> {
  const { server, ring } = terms
  const { subject } = await verifyJwt(hint, 0, {
    ...ownTerms(server.issuer, ring.source, type.toLowerCase()),
    audience: [clientId],
    soleAudience: true,
    refusal: () => refused('parameter_malformed/hint'),
  })
  return subject
}
