import { credentialId, digest, type CredentialKind } from '../protocol/credential'

const kinds: readonly CredentialKind[] = [
  'authorizationRequest',
  'authorizationCode',
  'accessToken',
  'refreshToken',
]

/** What an event tells of a credential; undefined when the text has not the form of one: it may be anybody's password. */
export function markOf(text: string | undefined): string | undefined {
  if (text === undefined || kinds.every((kind) => credentialId(kind, text) === undefined)) return undefined
  return markOfDigest(digest(text))
}

/** The same by the digest that the record keeps. */
export function markOfDigest(text: string): string {
  return Buffer.from(text, 'base64url').toString('hex').slice(0, 8)
}
