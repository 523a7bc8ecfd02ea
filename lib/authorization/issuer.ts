import { digest } from '../protocol/credential'
import {
  type AuthorizationStore,
  confirmAbsence,
  type StoredAuthorization,
} from '../stores/authorization-store'
import type { Counters } from '../stores/counters'

/** Characters of an issuer's digest. */
export const issuerDigestLength = 16

/**
 * Names an issuer in records and counters: 16 characters of base64url, the first 96 bits of its SHA-256.
 *
 * 96 bits suffice, because every issuer on one store belongs to one operator. Chance never makes two of them equal (for
 * a million issuers the odds are one in 10^17). A tenant who may choose the name of its issuer needs 2^96 attempts to
 * hit the digest of another one.
 */
export function issuerDigest(issuer: string): string {
  return digest(issuer).slice(0, issuerDigestLength)
}

/**
 * The store as one issuer sees it: a record that another issuer wrote is unknown to every verb. This is the only place
 * that compares issuers, so a store needs to know nothing of them.
 */
export function storeOfIssuer(store: AuthorizationStore, ownDigest: string): AuthorizationStore {
  const isOwn = ({ authorization }: StoredAuthorization) => authorization.issuerDigest === ownDigest
  const own = (found: StoredAuthorization | undefined) =>
    found !== undefined && isOwn(found) ? found : undefined
  return {
    getCached: (id) => own(store.getCached?.(id)),
    find: (id) => store.find(id).then(own),
    save: (authorization, revision, expected) => store.save(authorization, revision, expected),
    remove: (id) => store.remove(id),
    confirmAbsent:
      store.confirmAbsent &&
      (async (id) => {
        if (await confirmAbsence(store, id)) return true
        const found = await store.find(id)
        return found !== undefined && !isOwn(found)
      }),
  }
}

/**
 * The counters as one issuer sees them: what may be used once may be used once at each issuer. Failed attempts count
 * for all issuers together, because the registered clients with their secrets are common to all, too.
 */
export function countersOfIssuer(counters: Counters, ownDigest: string): Counters {
  return {
    add: (key, amount, seconds) => counters.add(key, amount, seconds),
    useOnce: (key, seconds, clientId) => counters.useOnce(`${ownDigest}:${key}`, seconds, clientId),
  }
}
