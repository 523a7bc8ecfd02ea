import type { KeySource } from '../../jwt/key-source'
import { ownTerms } from '../../jwt/signing-keys/key-ring'
import { longestJwt, RefusedJwt, verifyJwt } from '../../jwt/verify-jwt'
import { VerifiedTokens } from '../../jwt/verified-tokens'
import { SingleFlight } from '../../primitives/concurrency'
import type { AccessTokenContent, AccessTokenReader } from '../../protocol/access-token-format'
import { digest as digestOf } from '../../protocol/credential'
import { contentOf } from './access-token-claims'

/** Also the `typ` of its tokens (RFC 9068 2.1). */
export const formatName = 'at+jwt'

// Each about 1 KB. A verification takes a hundred look-ups.
const maximumCached = 10_000

/** RFC 9068 4. @param clock seconds since the epoch. */
export function jwtReader(issuer: string, keys: KeySource, clock: () => number): AccessTokenReader {
  // The record, or the guard, knows audience and end: a client may revoke an expired token.
  const terms = ownTerms(issuer, keys, formatName)
  const verified = new VerifiedTokens<AccessTokenContent>(maximumCached)
  const flights = new SingleFlight<AccessTokenContent | undefined>()

  const verify = async (text: string, digest: string, now: number) => {
    try {
      const { claims, keySet, expiresAt } = await verifyJwt(text, now, terms)
      const content = contentOf(claims)
      if (content !== undefined && now < expiresAt) verified.remember(digest, content, now, expiresAt, keySet)
      return content
    } catch (error) {
      if (error instanceof RefusedJwt) return undefined
      throw error
    }
  }

  const read = async (text: string): Promise<AccessTokenContent | undefined> => {
    if (text.length > longestJwt) return undefined
    const now = clock()
    const digest = digestOf(text)
    return verified.get(digest, now) ?? flights.share(digest, () => verify(text, digest, now))
  }
  return { name: formatName, decode: read, read }
}
