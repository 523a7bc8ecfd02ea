import { createId, digest, secureRandom } from '../../protocol/credential'

const prefix = 'dynamic_'
const form = /^dynamic_(?:[A-Za-z0-9_-]{43}|[A-Za-z0-9_-]{22})$/

export const isDynamicClientId = (clientId: string): boolean => form.test(clientId)

/**
 * A digest of issuer and metadata: an app that registers at each start stays one client.
 *
 * @param metadata in canonical form.
 */
export const publicClientId = (issuer: string, metadata: object): string =>
  prefix + digest(JSON.stringify([issuer, metadata]))

export const confidentialClientId = (): string => prefix + createId(secureRandom)
