import { hash } from 'node:crypto'
import type { KeySet } from '../jwt/key-set'
import type { JwtAccess } from './guarded-access'

/** A token that was verified, in the form in which a guard finds it. */
export interface VerifiedToken {
  readonly access: JwtAccess
  readonly kept: undefined
  /** The keys that vouch for it: it is worth nothing under other ones. */
  readonly keySet: KeySet
  /** Seconds since the epoch: from then on it must be verified anew, if it can be. */
  readonly endsAt: number
}

interface Entry {
  readonly token: VerifiedToken
  usedAt: number
}

/** What a token is known by, 32 characters; the token itself is not kept. */
export const digestOf = (token: string): string => hash('sha256', token, 'binary')

/**
 * Verified tokens by their digest, of bounded number: the one that was not used for longest goes. Only what was verified
 * comes in, so that strangers push nothing out. A hit is one look-up, and one move in each second.
 */
export class VerifiedTokens {
  // In the order of their last use, by the second.
  private readonly entries = new Map<string, Entry>()

  constructor(private readonly maximum: number) {}

  has(digest: string): boolean {
    return this.entries.has(digest)
  }

  /** @param now seconds since the epoch. */
  recall(digest: string, keySet: KeySet, now: number): VerifiedToken | undefined {
    const entry = this.entries.get(digest)
    if (entry === undefined) return undefined
    if (now >= entry.token.endsAt || entry.token.keySet !== keySet) {
      this.entries.delete(digest)
      return undefined
    }
    if (entry.usedAt !== now) {
      entry.usedAt = now
      this.entries.delete(digest)
      this.entries.set(digest, entry)
    }
    return entry.token
  }

  remember(digest: string, token: VerifiedToken, now: number): void {
    if (this.maximum === 0) return
    this.entries.delete(digest)
    const oldest = this.entries.keys().next()
    if (this.entries.size >= this.maximum && oldest.done !== true) this.entries.delete(oldest.value)
    this.entries.set(digest, { token, usedAt: now })
  }
}
