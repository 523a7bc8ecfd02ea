import { BoundedMap } from '../primitives/bounded-map'
import type { KeySet } from './key-source'

export interface VerifiedToken {
  /** Another key set makes the entry invalid. */
  readonly keySet: KeySet
  /** Seconds since the epoch. A clock that goes back before it ends the entry. */
  readonly verifiedAt: number
  /** Seconds since the epoch. */
  readonly endsAt: number
}

interface Entry<Token> {
  readonly token: Token
  usedAt: number
}

/**
 * Cache by digest. Evicts the least recently used token.
 */
export class VerifiedTokens<Token extends VerifiedToken> {
  private readonly entries: BoundedMap<Entry<Token>>

  /** @param maximum 0 for no cache. */
  constructor(private readonly maximum: number) {
    this.entries = new BoundedMap(maximum)
  }

  has(digest: string): boolean {
    return this.entries.has(digest)
  }

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
