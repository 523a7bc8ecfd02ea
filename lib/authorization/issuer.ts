import { digest } from '../protocol/credential'

export const issuerDigestLength = 16

/**
 * 96 bits are enough: of a million issuers, two are equal with a chance of one in 10^17, and a tenant who chooses its
 * issuer needs 2^96 attempts to hit another one.
 */
export const issuerDigest = (issuer: string): string => digest(issuer).slice(0, issuerDigestLength)
