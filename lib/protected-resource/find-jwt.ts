import { KeysUnavailable, type KeySource } from '../jwt/key-source'
import { RefusedJwt, type JwtFault } from '../jwt/refused-jwt'
import { longestJwt, verifyJwt, type JwtTerms } from '../jwt/verify-jwt'
import { digest as digestOf } from '../protocol/credential'
import { temporarilyUnavailable } from '../protocol/oauth-error'
import type { FindToken, FoundToken } from './admit'
import { jwtAccess, type AccessFault, type JwtDialect } from './jwt-access'
import { VerifiedTokens, type VerifiedToken } from './verified-tokens'
import type { Reason } from '../protocol/reasons'

/** What JWT access tokens are held to. */
export interface JwtAccessTerms extends Omit<JwtTerms, 'issuers'> {
  readonly issuer: string
  readonly keys: KeySource
  readonly dialect: JwtDialect
  /** Tokens that are remembered at most; 0 for none. */
  readonly maximumCached: number
  /** Seconds for which one is remembered at most. */
  readonly maximumAge: number
}

type Objection = Reason<'invalid_token'>

/** Finds what JWT access tokens stand for (RFC 9068 4), at the cost of a look-up for one that was verified before. */
export function findJwt(terms: JwtAccessTerms): FindToken {
  const { keys, clockTolerance, maximumAge } = terms
  const verified = new VerifiedTokens(terms.maximumCached)
  const underWay = new Map<string, Promise<FoundToken>>()
  const forVerification = { ...terms, issuers: new Map([[terms.issuer, keys]]) }

  const verify = async (token: string, digest: string, now: number): Promise<FoundToken> => {
    // Keys that are too old vouch for nothing any more; most of the time the issuer still has the same.
    const keySet = keys.trusted(now) ?? (verified.has(digest) ? await keys.fetched(now) : undefined)
    const known = keySet && verified.getCached(digest, keySet, now)
    if (known !== undefined) return known
    const proven = await verifyJwt(token, now, forVerification)
    const access = jwtAccess(proven, terms.dialect)
    if (typeof access === 'string') return objectionTo(access)
    const endsAt = Math.min(proven.expiresAt + clockTolerance, now + maximumAge)
    const found: VerifiedToken = {
      access,
      tokenData: undefined,
      keySet: proven.keySet,
      verifiedAt: now,
      endsAt,
    }
    verified.remember(digest, found, now)
    return found
  }

  // Who comes with the same token meanwhile has the same answer: it depends on nothing else.
  const verifyOnce = (token: string, digest: string, now: number): Promise<FoundToken> => {
    const other = underWay.get(digest)
    if (other !== undefined) return other
    const own = verify(token, digest, now)
      .catch(refusal)
      .finally(() => underWay.delete(digest))
    underWay.set(digest, own)
    return own
  }

  return (token, now) => {
    if (token.length > longestJwt) return objectionTo('malformed')
    const digest = digestOf(token)
    const keySet = keys.trusted(now)
    return (keySet && verified.getCached(digest, keySet, now)) ?? verifyOnce(token, digest, now)
  }
}

function objectionTo(fault: JwtFault | AccessFault): FoundToken {
  const rejectReason: Objection = `jwt_${fault}`
  return { rejectReason }
}

function refusal(error: unknown): FoundToken {
  if (error instanceof RefusedJwt) return objectionTo(error.fault)
  if (!(error instanceof KeysUnavailable)) throw error
  // The token may be good: the client shall not throw it away.
  throw temporarilyUnavailable('jwt_keys_unavailable', 'The server is temporarily unable to answer.', {
    cause: error.cause,
  })
}
