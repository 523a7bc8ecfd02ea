import { type KeySource, KeysUnavailable } from '../../jwt/key-source'
import { anyTime, type JwtTerms, longestJwt, RefusedJwt, verifyJwt } from '../../jwt/verify-jwt'
import { type VerifiedToken, VerifiedTokens } from '../../jwt/verified-tokens'
import { signingAlgorithms } from '../../jwt/signing-keys/signing-algorithm'
import { SingleFlight } from '../../primitives/single-flight'
import type { AccessTokenContent, AccessTokenReader } from '../../protocol/access-token-format'
import { digest as digestOf } from '../../protocol/credential'
import { refused } from '../../protocol/refusals'
import { contentOf } from './access-token-claims'

/** Also the `typ` of its tokens (RFC 9068 2.1). */
export const formatName = 'at+jwt'

interface ReadToken extends VerifiedToken {
  readonly content: AccessTokenContent
}

// Each about 1 KB. A verification takes a hundred look-ups.
const maximumCached = 10_000

/** RFC 9068 4. @param clock seconds since the epoch. */
export function jwtReader(issuer: string, keys: KeySource, clock: () => number): AccessTokenReader {
  const terms: JwtTerms = {
    issuers: new Map([[issuer, keys]]),
    // The record, or the guard, knows both: a client may revoke an expired token.
    audience: undefined,
    clockTolerance: anyTime,
    algorithms: signingAlgorithms,
    types: [formatName, `application/${formatName}`],
  }
  const verified = new VerifiedTokens<ReadToken>(maximumCached)
  const flights = new SingleFlight<AccessTokenContent | undefined>()

  const verify = async (text: string, digest: string, now: number) => {
    try {
      const { claims, keySet, expiresAt } = await verifyJwt(text, now, terms)
      const content = contentOf(claims)
      if (content !== undefined && now < expiresAt)
        verified.remember(digest, { content, keySet, verifiedAt: now, endsAt: expiresAt }, now)
      return content
    } catch (error) {
      if (error instanceof RefusedJwt) return undefined
      throw error instanceof KeysUnavailable ? keysUnavailable(error) : error
    }
  }

  const read = async (text: string): Promise<AccessTokenContent | undefined> => {
    if (text.length > longestJwt) return undefined
    const now = clock()
    const digest = digestOf(text)
    // A retired key must not vouch: look too old keys up again.
    const keySet = keys.trusted(now) ?? (verified.has(digest) ? await refreshed(keys, now) : undefined)
    const known = keySet && verified.getCached(digest, keySet, now)
    return known?.content ?? flights.share(digest, () => verify(text, digest, now))
  }
  return { name: formatName, decode: read, read }
}

async function refreshed(keys: KeySource, now: number) {
  try {
    return await keys.fetched(now)
  } catch (failure) {
    return keys.heldAfter?.(failure, now)
  }
}

const keysUnavailable = ({ cause, headers }: KeysUnavailable) =>
  refused('signing_keys_unavailable', {}, { cause, headers })
