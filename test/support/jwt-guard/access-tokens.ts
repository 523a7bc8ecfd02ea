import { randomUUID } from 'node:crypto'
import { hub, jwt, type Signer } from '../assertions/jwt'

/** What the resource server of the stories is called by the issuer. */
export const photoServer = 'https://photos.example'

type Claims = Readonly<Record<string, unknown>>

/** What a good access token says (RFC 9068 2.2); now in seconds since the epoch. */
export function accessClaims(now: number, bend: Claims = {}): Claims {
  const named = { iss: hub.issuer, sub: 'alice', aud: photoServer, client_id: 'photo-book' }
  return { ...named, scope: 'photos:read', jti: randomUUID(), iat: now, exp: now + 3600, ...bend }
}

/** An access token, put together by hand, so that it can be bent in every way. */
export function accessJwt(claims: unknown, by: Signer = hub, header: Claims = {}): string {
  return jwt(by, claims, { typ: 'at+jwt', ...header })
}
