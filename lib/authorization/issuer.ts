import { digest } from '../protocol/credential'

export const issuerDigestLength = 16

/**
 * The first 96 bits of the SHA-256 digest, as base64url.
 *
 * 96 bits are enough: one operator owns every issuer on one store. Among a million issuers, two digests are equal with
 * a chance of one in 10^17. A tenant who chooses its issuer needs 2^96 attempts to hit another one.
 */
export const issuerDigest = (issuer: string): string => digest(issuer).slice(0, issuerDigestLength)
