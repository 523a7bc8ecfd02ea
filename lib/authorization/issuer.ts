import { digest } from '../protocol/credential'
import { type AuthorizationStore, confirmAbsence, decorate, type StoredAuthorization } from './store'
import type { Counters } from '../limits/counters'

/** Length of the digest of an issuer, in characters. */
export const issuerDigestLength = 16

/**
 * Names an issuer in records and counters: the first 96 bits of the SHA-256 digest of the issuer, as 16 characters of
 * base64url.
 *
 * 96 bits are enough, because every issuer on one store belongs to one operator. For a million issuers, the chance that
 * two digests are equal is one in 10^17. A tenant who chooses the name of its issuer needs 2^96 attempts to get the
 * digest of a given other issuer.
 */
export function issuerDigest(issuer: string): string {
  return digest(issuer).slice(0, issuerDigestLength)
}

/**
 * Decorates a store for one issuer: reads find only the records of this issuer. `save` and `remove` compare no issuers,
 * so callers read before they remove. Only this function compares issuers; a store knows nothing of them.
 */
export function storeOfIssuer(store: AuthorizationStore, ownDigest: string): AuthorizationStore {
  const isOwn = ({ authorization }: StoredAuthorization) => authorization.issuerDigest === ownDigest
  const own = (found: StoredAuthorization | undefined) =>
    found !== undefined && isOwn(found) ? found : undefined
  return decorate(store, {
    getCached: (id) => own(store.getCached?.(id)),
    find: (id) => store.find(id).then(own),
    async confirmAbsent(id) {
      if (await confirmAbsence(store, id)) return true
      const found = await store.find(id)
      return found !== undefined && !isOwn(found)
    },
  })
}

/**
 * Decorates counters for one issuer: a key that is good once is good once at each issuer. Failed attempts count for all
 * issuers together, because all issuers have the same registered clients with the same secrets.
 */
export function countersOfIssuer(counters: Counters, ownDigest: string): Counters {
  return {
    add: (key, amount, seconds) => counters.add(key, amount, seconds),
    useOnce: (key, seconds, share) => counters.useOnce(`${ownDigest}:${key}`, seconds, share),
  }
}
