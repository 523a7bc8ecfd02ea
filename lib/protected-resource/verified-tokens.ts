import type { KeySet } from '../jwt/key-set'
import { BoundedMap } from '../protocol/latest'
import type { JwtAccess } from './guarded-access'

/** A token that was verified, in the form in which a guard finds it. */
export interface VerifiedToken {
  readonly access: JwtAccess
  readonly tokenData: undefined
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
