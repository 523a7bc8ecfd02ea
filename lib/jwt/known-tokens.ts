import { type Eventual, SingleFlight } from '../primitives/concurrency'
import { BoundedMap } from '../primitives/maps'
import { digest as digestOf } from '../protocol/credential'
import type { KeySet } from './key-source'

interface Answer<Found> {
  readonly found: Found
  readonly isGood: boolean
  /** Seconds since the epoch. */
  readonly endsAt: number
  /** The proof holds while the issuer publishes this set. */
  readonly keySet?: KeySet
}

interface Known<Found> extends Answer<Found> {
  /** None of the future counts: a clock was ahead. */
  readonly at: number
}

interface Asking<Found, Sender> {
  readonly maximumCached: number
  /** Characters. */
  readonly longest: number
  readonly tooLong: Found
  /** @throws OAuthError if this network may cause no call. */
  readonly begin?: ((sender: Sender) => void) | undefined
  ask(token: string, now: number, sender: Sender, wasGood: boolean): Promise<Answer<Found>>
}

/**
 * Parallel requests with one token share one call. Random tokens have their own cache, and evict no good one.
 */
export function knownTokens<Found, Sender>(asking: Asking<Found, Sender>) {
  const { maximumCached, longest, tooLong } = asking
  // Ended answers stay: who was good before is no guess.
  const good = new BoundedMap<Known<Found>>(maximumCached)
  const others = new BoundedMap<Known<Found>>(maximumCached)
  const flights = new SingleFlight<Found>()

  const ask = async (token: string, digest: string, now: number, sender: Sender) => {
    const answer = await asking.ask(token, now, sender, good.has(digest))
    if (maximumCached > 0) remember(digest, { ...answer, at: now })
    return answer.found
  }
  const remember = (digest: string, known: Known<Found>) => {
    const former = good.get(digest)
    if (known.isGood) {
      good.set(digest, known)
      others.delete(digest)
    } else {
      if (former !== undefined) good.set(digest, { ...former, endsAt: former.at })
      if (known.endsAt > known.at) others.set(digest, known)
    }
  }

  return (token: string, now: number, sender: Sender): Eventual<Found> => {
    if (token.length > longest) return tooLong
    const digest = digestOf(token)
    const known = counting(good, digest, now) ?? counting(others, digest, now)
    if (known !== undefined) return known.found
    // Before the flight: who joins it must not get the refusal of another network.
    if (!flights.has(digest) && !good.has(digest)) asking.begin?.(sender)
    return flights.share(digest, () => ask(token, digest, now, sender))
  }
}

function counting<Found>(tokens: BoundedMap<Known<Found>>, digest: string, now: number) {
  const token = tokens.get(digest)
  if (token === undefined || now < token.at || now >= token.endsAt) return undefined
  if (token.keySet?.isTrusted(now) === false) return undefined
  tokens.set(digest, token)
  return token
}
