import { createId, digest, secureRandom } from '../protocol/credential'

const prefix = 'dynamic_'
const form = /^dynamic_(?:[A-Za-z0-9_-]{43}|[A-Za-z0-9_-]{22})$/

/**
 * Whether a client identifier has the form of a client that registered itself. Such identifiers are looked up in the
 * store of dynamic clients, all others are not.
 */
export function isDynamicClientId(clientId: string): boolean {
  return form.test(clientId)
}

/**
 * The identifier of a public client: a digest of its issuer and its metadata. Equal metadata give the same identifier,
 * and an identifier can never belong to other metadata.
 *
 * @param metadata in canonical form.
 */
export function publicClientId(issuer: string, metadata: object): string {
  return prefix + digest(JSON.stringify([issuer, metadata]))
}

/** A new random identifier, for a confidential client. */
export function confidentialClientId(): string {
  return prefix + createId(secureRandom)
}
