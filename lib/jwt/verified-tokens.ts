import { BoundedMap } from '../primitives/bounded-map'
import type { KeySet } from './key-source'

/** A verified JWT in the cache. */
export interface VerifiedToken {
  /** The key set that verified the token. The entry is not valid under another key set. */
  readonly keySet: KeySet
  /**
   * The time of the verification, in seconds since the epoch. If the clock goes back before this time, the entry ends.
   */
  readonly verifiedAt: number
  /** Seconds since the epoch. From this time on, the token must be verified again. */
  readonly endsAt: number
}

interface Entry<Token> {
  readonly token: Token
  usedAt: number
}

/**
 * Cache of verified tokens by their digest. Evicts the least recently used token. Contains only verified tokens, so an
 * attacker cannot fill the cache with invalid tokens. A hit costs one look-up, and one reordering per second.
 */
export class VerifiedTokens<Token extends VerifiedToken> {
  // The least recently used token first, with the precision of one second.
  private readonly entries: BoundedMap<Entry<Token>>

  /** @param maximum 0 for no cache. */
  constructor(private readonly maximum: number) {
    this.entries = new BoundedMap(maximum)
  }

  has(digest: string): boolean {
    return this.entries.has(digest)
  }

  /** @param now seconds since the epoch. */
  getCached(digest: string, keySet: KeySet, now: number): Token | undefined {
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

  remember(digest: string, token: Token, now: number): void {
    if (this.maximum > 0) this.entries.put(digest, { token, usedAt: now })
  }
}
