import type { KeySet } from '../jwt/key-source'
import { VerifiedTokens } from '../jwt/verified-tokens'
import { SingleFlight } from '../primitives/concurrency'
import { digest as digestOf } from '../protocol/credential'
import { type FindToken, type FoundToken, type GoodToken, isGood, type TokenSender } from './admit'

interface Asked {
  readonly found: FoundToken
  /** Seconds since the epoch: until then, the answer counts. */
  readonly endsAt: number
  /** Of the issuer, if a signature proves the token. */
  readonly keySet?: KeySet
}

interface Asking {
  /** In each of the two caches. */
  readonly maximumCached: number
  /** Characters. */
  readonly longest: number
  readonly tooLong: FoundToken
  /** Before a call. @throws OAuthError if this network may cause none. */
  readonly begin?: ((sender: TokenSender) => void) | undefined
  /** @param wasGood whether the token was good before, so it is no guess. */
  ask(token: string, now: number, sender: TokenSender, wasGood: boolean): Promise<Asked>
}

/**
 * The caches hold digests, and parallel requests with one token share one call. Tokens that are not good have their own
 * cache: random ones push out no good one.
 */
export function knownTokens(asking: Asking): FindToken {
  const { maximumCached, longest, tooLong } = asking
  // Ended answers stay: a token that was good before is no guess.
  const good = new VerifiedTokens<GoodToken>(maximumCached)
  const others = new VerifiedTokens<FoundToken>(maximumCached)
  const flights = new SingleFlight<FoundToken>()

  const ask = async (token: string, digest: string, now: number, sender: TokenSender) => {
    const { found, endsAt, keySet } = await asking.ask(token, now, sender, good.has(digest))
    if (isGood(found)) {
      good.remember(digest, found, now, endsAt, keySet)
      others.delete(digest)
    } else {
      good.end(digest)
      if (endsAt > now) others.remember(digest, found, now, endsAt)
    }
    return found
  }

  return (token, now, sender) => {
    if (token.length > longest) return tooLong
    const digest = digestOf(token)
    const known = good.get(digest, now) ?? others.get(digest, now)
    if (known !== undefined) return known
    // Before the flight: who joins a flight must not get the refusal of another network.
    if (!flights.has(digest) && !good.has(digest)) asking.begin?.(sender)
    return flights.share(digest, () => ask(token, digest, now, sender))
  }
}
