import { BoundedMap } from '../primitives/maps'
import type { KeySet, KeySource } from './key-source'

export interface VerifiedToken {
  /** Another key set makes the entry invalid. */
  readonly keySet: KeySet
  /** Seconds since the epoch. A clock that goes back before it ends the entry. */
  readonly verifiedAt: number
  /** Seconds since the epoch. */
  readonly endsAt: number
}

/** Cache by digest. Evicts the least recently used token. */
export class VerifiedTokens<Token extends VerifiedToken> {
  private readonly tokens: BoundedMap<Token>

  /** @param maximum 0 for no cache. */
  constructor(private readonly maximum: number) {
    this.tokens = new BoundedMap(maximum)
  }

  getCached(digest: string, keys: KeySource, now: number): Token | undefined {
    return this.provenBy(keys.trusted(now), digest, now)
  }

  /** Asks for keys that are too old: a retired one must not vouch, and the issuer usually still has them. */
  async find(digest: string, keys: KeySource, now: number): Promise<Token | undefined> {
    const keySet = keys.trusted(now) ?? (this.tokens.has(digest) ? await fetched(keys, now) : undefined)
    return this.provenBy(keySet, digest, now)
  }

  remember(digest: string, token: Token): void {
    if (this.maximum > 0) this.tokens.put(digest, token)
  }

  private provenBy(keySet: KeySet | undefined, digest: string, now: number): Token | undefined {
    const token = this.tokens.get(digest)
    if (keySet === undefined || token === undefined) return undefined
    if (now < token.verifiedAt || now >= token.endsAt || token.keySet !== keySet) {
      this.tokens.delete(digest)
      return undefined
    }
    this.tokens.put(digest, token)
    return token
  }
}

const fetched = (keys: KeySource, now: number): Promise<KeySet | undefined> =>
  keys.fetched(now).catch((failure: unknown) => keys.heldAfter?.(failure, now))
