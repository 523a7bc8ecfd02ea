import { BoundedMap } from '../primitives/maps'
import type { KeySet } from './key-source'

interface Verified<Found> {
  readonly found: Found
  /** Seconds since the epoch: a clock that was ahead leaves entries of the future, which do not count. */
  readonly at: number
  readonly endsAt: number
  /** The proof holds while the issuer publishes this set. */
  readonly keySet: KeySet | undefined
}

/** Cache by digest. Evicts the least recently used token. */
export class VerifiedTokens<Found> {
  private readonly tokens: BoundedMap<Verified<Found>>

  /** @param maximum 0 for no cache. */
  constructor(private readonly maximum: number) {
    this.tokens = new BoundedMap(maximum)
  }

  get(digest: string, now: number): Found | undefined {
    const token = this.tokens.get(digest)
    if (token === undefined || now < token.at || now >= token.endsAt) return undefined
    if (token.keySet?.isTrusted(now) === false) return undefined
    this.tokens.set(digest, token)
    return token.found
  }

  /** Also an entry that has ended. */
  has(digest: string): boolean {
    return this.tokens.has(digest)
  }

  remember(digest: string, found: Found, at: number, endsAt: number, keySet?: KeySet): void {
    if (this.maximum > 0) this.tokens.set(digest, { found, at, endsAt, keySet })
  }

  /** The entry then only says that the token was good. */
  end(digest: string): void {
    const token = this.tokens.get(digest)
    if (token !== undefined) this.tokens.set(digest, { ...token, endsAt: token.at })
  }

  delete(digest: string): void {
    this.tokens.delete(digest)
  }
}
