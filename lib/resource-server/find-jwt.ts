import { type KeySet, type KeySource, KeysUnavailable } from '../jwt/key-source'
import {
  type JwtFault,
  type JwtTerms,
  longestJwt,
  type ProvenJwt,
  RefusedJwt,
  verifyJwt,
} from '../jwt/verify-jwt'
import { BoundedMap } from '../protocol/bounded-map'
import { isText, isTexts } from '../protocol/configuration'
import { digest as digestOf } from '../protocol/credential'
import { temporarilyUnavailable } from '../protocol/oauth-error'
import { parseScope, type Scope } from '../protocol/scope'
import { type FindToken, type FoundToken, frozen, type GoodToken, type JwtAccess } from './admit'

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
    if (typeof access === 'string') return refusedToken(access)
    const endsAt = Math.min(proven.expiresAt + clockTolerance, now + maximumAge)
    const found: VerifiedToken = {
      access,
      ...nothingKept,
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
    if (token.length > longestJwt) return refusedToken('malformed')
    const digest = digestOf(token)
    const keySet = keys.trusted(now)
    return (keySet && verified.getCached(digest, keySet, now)) ?? verifyOnce(token, digest, now)
  }
}

function refusedToken(fault: JwtFault | AccessFault): FoundToken {
  return { rejectReason: `jwt_${fault}` }
}

function refusal(error: unknown): FoundToken {
  if (error instanceof RefusedJwt) return refusedToken(error.fault)
  if (!(error instanceof KeysUnavailable)) throw error
  // The token may be good: the client shall not throw it away.
  throw temporarilyUnavailable('jwt_keys_unavailable', 'The server is temporarily unable to answer.', {
    cause: error.cause,
  })
}

/** Where an issuer writes what has no registered claim, or has one that it does not use. */
export interface JwtDialect {
  /** The claims that may name the client; the first that is there counts. */
  readonly clientId: readonly string[]
  readonly scope: string
  /** Whether a list of texts is a scope, too. */
  readonly listsScope: boolean
}

// RFC 9068 2.2 and 2.2.3
export const rfc9068: JwtDialect = { clientId: ['client_id'], scope: 'scope', listsScope: false }

/** Why a proven JWT gives no access, as a stable word for events. */
export type AccessFault = Extract<JwtFault, 'incomplete'> | 'bound_to_key' | 'of_another_kind'

/** The access that a proven JWT gives, or why it gives none. */
export function jwtAccess(
  { subject, expiresAt, claims }: ProvenJwt,
  dialect: JwtDialect,
): JwtAccess | AccessFault {
  // RFC 7800 3: its issuer bound the token to a key, so whoever shows no proof of that key may have stolen it.
  if (Object.hasOwn(claims, 'cnf')) return 'bound_to_key'
  // OpenID Connect Core 3.1.3.6 and 3.3.2.11: an ID token, which says who is there and opens nothing.
  if (['at_hash', 'c_hash'].some((name) => Object.hasOwn(claims, name))) return 'of_another_kind'
  const clientId = dialect.clientId.map((name) => claimOf(claims, name)).find((value) => value !== undefined)
  const scope = scopeOf(claimOf(claims, dialect.scope), dialect.listsScope)
  if (!isText(clientId) || scope === undefined) return 'incomplete'
  // RFC 9700 4.15: nobody takes a client for an owner of the same name.
  const owner = subject === clientId ? undefined : subject
  return frozen({ clientId, subject: owner, scope, tokenType: 'bearer' as const, expiresAt, claims })
}

const claimOf = (claims: ProvenJwt['claims'], name: string): unknown =>
  Object.hasOwn(claims, name) ? claims[name] : undefined

function scopeOf(value: unknown, listsScope: boolean): Scope | undefined {
  if (value === undefined || value === '') return []
  if (typeof value === 'string') return parseScope(value)
  const isList = listsScope && isTexts(value) && value.every((token) => parseScope(token)?.length === 1)
  return isList ? [...new Set(value)] : undefined
}

// Plug-ins keep nothing with the token of another issuer.
const nothingKept = { tokenData: undefined, extensionData: {}, tokenExtensionData: {} }

/** A token that was verified, in the form in which a guard finds it. */
export interface VerifiedToken extends GoodToken {
  readonly access: JwtAccess
  /** The keys that vouch for it: it is worth nothing under other ones. */
  readonly keySet: KeySet
  /** When it was verified, in seconds since the epoch: a clock that is set back before then ends it. */
  readonly verifiedAt: number
  /** Seconds since the epoch: from then on it must be verified anew, if it can be. */
  readonly endsAt: number
}

interface Entry {
  readonly token: VerifiedToken
  usedAt: number
}

/**
 * Verified tokens by their digest, of bounded number: the one that was not used for longest goes. Only what was verified
 * comes in, so that strangers push nothing out. A hit is one look-up, and one move in each second.
 */
export class VerifiedTokens {
  // In the order of their last use, by the second.
  private readonly entries: BoundedMap<Entry>

  constructor(private readonly maximum: number) {
    this.entries = new BoundedMap(maximum)
  }

  has(digest: string): boolean {
    return this.entries.has(digest)
  }

  /** @param now seconds since the epoch. */
  getCached(digest: string, keySet: KeySet, now: number): VerifiedToken | undefined {
    const entry = this.entries.get(digest)
    if (entry === undefined) return undefined
    const { keySet: vouching, verifiedAt, endsAt } = entry.token
    if (now < verifiedAt || now >= endsAt || vouching !== keySet) {
      this.entries.delete(digest)
      return undefined
    }
    if (entry.usedAt !== now) {
      entry.usedAt = now
      this.entries.put(digest, entry)
    }
    return entry.token
  }

  remember(digest: string, token: VerifiedToken, now: number): void {
    if (this.maximum > 0) this.entries.put(digest, { token, usedAt: now })
  }
}
