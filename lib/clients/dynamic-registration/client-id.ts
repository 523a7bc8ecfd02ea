import { createId, digest, secureRandom } from '../../protocol/credential'
import type { DynamicClient, DynamicClientStore } from '../../stores/dynamic-client-store'

const prefix = 'dynamic_'
const form = /^dynamic_(?:[A-Za-z0-9_-]{43}|[A-Za-z0-9_-]{22})$/

export const isDynamicClientId = (clientId: string): boolean => form.test(clientId)

/**
 * A digest of issuer and metadata. The generation counts removed registrations, so tokens of a removed client
 * never belong to a later one.
 *
 * @param metadata in canonical form.
 */
export const publicClientId = (issuer: string, metadata: object, generation: number): string =>
  prefix + digest(JSON.stringify([issuer, metadata, generation]))

export const confidentialClientId = (): string => prefix + createId(secureRandom)

/** Clients of all issuers stand below one prefix of the store, and each issuer decides for itself who may register. */
export function ofThisIssuer(
  store: DynamicClientStore,
  issuerDigest: string,
): Pick<DynamicClientStore, 'update' | 'remove'> {
  const isOwn = (client: DynamicClient) => client.issuerDigest === issuerDigest
  return {
    async update(clientId, change) {
      const found = await store.update(clientId, (client) => (isOwn(client) ? change(client) : client))
      return found !== undefined && isOwn(found) ? found : undefined
    },
    remove: (clientId) => store.remove(clientId),
  }
}
