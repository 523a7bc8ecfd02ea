import { jwt, type Signer, signer } from '../assertions/jwt'
import { bent, photoBook, photoPrint } from './clients'
import { authorizationRequest } from './flow'

/** The keys of two clients, and of nobody. */
export const ownKey = signer('photo-print', '1')
export const rsaKey = signer('photo-print', '2', 'RS256')
export const bookKey = signer('photo-book', '1')
export const strangeKey = signer('photo-print', '1')

/** A confidential client with keys for its request objects. */
export const signingPrint = bent(photoPrint, { jwks: { keys: [ownKey.jwk, rsaKey.jwk] } })
/** A public client with a key. */
export const signingBook = bent(photoBook, { jwks: { keys: [bookKey.jwk] } })

type Members = Readonly<Record<string, unknown>>

/** What a good request object says; now in seconds since the epoch. */
export const objectClaims = (now: number, client = signingPrint): Members => ({
  ...authorizationRequest(client),
  iss: client.registration.client_id,
  aud: 'http://localhost',
  iat: now,
  nbf: now,
  exp: now + 60,
})

/** A request object as this key signs it. A member that is undefined is left out. */
export const requestObject = (claims: Members, header: Members = {}, by: Signer = ownKey): string =>
  jwt(by, claims, { typ: 'oauth-authz-req+jwt', ...header })
