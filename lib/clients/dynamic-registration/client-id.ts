import { createId, digest, secureRandom } from '../../protocol/credential'
import { type DynamicClient, type DynamicClientStore, isPublic } from '../dynamic-client-store'
import { publicMetadataOf } from './registration-metadata'

const prefix = 'dynamic_'
const form = /^dynamic_(?:[A-Za-z0-9_-]{43}|[A-Za-z0-9_-]{22})$/

export function isDynamicClientId(clientId: string): boolean {
  return form.test(clientId)
}

/**
 * A digest of issuer and metadata. The generation counts removed registrations, so tokens of a removed client
 * never belong to a later one.
 *
 * @param metadata in canonical form.
 */
export function publicClientId(issuer: string, metadata: object, generation: number): string {
  const named = generation === 0 ? [issuer, metadata] : [issuer, metadata, generation]
  return prefix + digest(JSON.stringify(named))
}

export function confidentialClientId(): string {
  return prefix + createId(secureRandom)
}

interface NamedIssuer {
  readonly issuer: string
  readonly issuerDigest: string
}

/**
 * Clients of all issuers stand below one prefix of the store, and each issuer decides for itself who may
 * register.
 *
 * Version 0.1.0 kept no issuer. A public client of this version belongs to the issuer whose digest its
 * identifier is. A confidential one belongs to every issuer until it ends.
 */
export function isOfIssuer({ issuer, issuerDigest }: NamedIssuer, client: DynamicClient): boolean {
  if (client.issuerDigest !== undefined) return client.issuerDigest === issuerDigest
  if (!isPublic(client)) return true
  const { registration } = client
  return publicClientId(issuer, publicMetadataOf(registration), 0) === registration.client_id
}

export function ofThisIssuer(
  issuer: NamedIssuer & { readonly store: DynamicClientStore },
): Pick<DynamicClientStore, 'update' | 'remove'> {
  const { store } = issuer
  const isOwn = (client: DynamicClient) => isOfIssuer(issuer, client)
  return {
    async update(clientId, change) {
      const found = await store.update(clientId, (client) => (isOwn(client) ? change(client) : client))
      return found !== undefined && isOwn(found) ? found : undefined
    },
    remove: (clientId) => store.remove(clientId),
  }
}
