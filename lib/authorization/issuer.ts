import { digest } from '../protocol/credential'
import type { Counters } from '../limits/counters'

export const issuerDigestLength = 16

/**
 * The first 96 bits of the SHA-256 digest, as base64url.
 *
 * 96 bits are enough: one operator owns every issuer on one store. Among a million issuers, two digests are equal with
 * a chance of one in 10^17. A tenant who chooses its issuer needs 2^96 attempts to hit another one.
 */
export const issuerDigest = (issuer: string): string => digest(issuer).slice(0, issuerDigestLength)

/**
 * A single-use key is good once at each issuer. Failed attempts count for all issuers together: they share the clients
 * and their secrets.
 */
export function countersOfIssuer(counters: Counters, ownDigest: string): Counters {
  return {
    add: (key, amount, seconds) => counters.add(key, amount, seconds),
    useOnce: (key, seconds, share) => counters.useOnce(`${ownDigest}:${key}`, seconds, share),
  }
}
