import { BoundedWindows } from '../../limits/bounded-windows'
import { type Limit, secondsToWait } from '../../limits/limit'
import { networkOf } from '../../limits/network'
import { BoundedMap } from '../../primitives/maps'
import { CircuitBreaker, SingleFlight } from '../../primitives/concurrency'
import { steadyClock } from '../../primitives/clock'
import { digest as digestOf } from '../../protocol/credential'
import { OAuthError } from '../../protocol/oauth-error'
import { refused, overLimit } from '../../protocol/refusals'
import type { FindToken, FoundToken, TokenSender } from '../admit'
import {
  CredentialsRefused,
  type IntrospectionEndpoint,
  NothingSaid,
  RequestRefused,
} from './introspection-endpoint'
import { introspectedToken, type IntrospectionTerms } from './introspection-response'

interface IntrospectionLookup extends IntrospectionTerms {
  readonly endpoint: IntrospectionEndpoint
  /** Seconds for an answer "not active". */
  readonly maximumAgeOfRefusals: number
  /** In each of the two caches, at least 1. */
  readonly maximumCached: number
  /** Answers "not active" for each network; undefined for no limit. */
  readonly inactive: Limit | undefined
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

interface KeptAnswer {
  readonly found: FoundToken
  readonly askedAt: number
  /** Seconds since the epoch. */
  readonly endsAt: number
}

const longestToken = 8192

/**
 * RFC 7662. The caches hold digests, and parallel requests with one token share one call. Bad tokens have
 * their own cache: random ones push out no good one.
 */
export function findIntrospected(lookup: IntrospectionLookup): FindToken {
  const { endpoint, maximumAge, maximumAgeOfRefusals, maximumCached } = lookup
  // Old answers stay: a token that was good before is no guess.
  const good = new BoundedMap<KeptAnswer>(maximumCached)
  const notGood = new BoundedMap<KeptAnswer>(maximumCached)
  const flights = new SingleFlight<FoundToken>()
  const clock = steadyClock(lookup.clock)
  const health = new EndpointHealth(endpoint, clock)
  const inactive = lookup.inactive && new InactiveLimit(lookup.inactive, clock)

  const ask = async (token: string, digest: string, now: number, sender: TokenSender) => {
    const before = good.get(digest)
    const found = await answered(token, before !== undefined, now, sender)
    const isGood = found !== undefined && found.rejectReason === undefined
    const endsAt = isGood ? Math.min(found.access.expiresAt, now + maximumAge) : now + maximumAgeOfRefusals
    const room = isGood ? good : notGood
    room.put(digest, { found, askedAt: now, endsAt })
    if (isGood) notGood.delete(digest)
    else if (before !== undefined) good.put(digest, { ...before, endsAt: now })
    return found
  }

  const answered = async (token: string, wasGood: boolean, now: number, sender: TokenSender) => {
    const takeBack = () => {
      if (!wasGood) inactive?.takeBack(sender)
    }
    try {
      await health.require()
      const answer = read(await endpoint.ask(token), now)
      const found = typeof answer === 'string' ? { rejectReason: answer } : answer
      health.answered()
      if (found !== undefined && found.rejectReason === undefined) {
        health.good = token
        takeBack()
      }
      return found
    } catch (error) {
      // Anyone can write a token that the endpoint, or a filter before it, refuses. It counts as not active,
      // and must not stop the calls about others.
      if (error instanceof RequestRefused) health.answered()
      else if (!wasGood && isResponse(error)) health.doubt()
      else {
        health.failed(error)
        takeBack()
      }
      throw failureOf(error)
    }
  }

  const read = (answer: unknown, now: number) => {
    try {
      return introspectedToken(answer, lookup, now)
    } catch (cause) {
      throw new NothingSaid('The endpoint says nothing about the token.', { cause })
    }
  }

  return (token, now, sender) => {
    if (token.length > longestToken) return undefined
    const digest = digestOf(token)
    const kept = keptIn(good, digest, now) ?? keptIn(notGood, digest, now)
    if (kept !== undefined) return kept.found
    // Before the flight: who joins a flight must not get the refusal of another network.
    if (!flights.has(digest) && !good.has(digest)) inactive?.begin(sender)
    return flights.share(digest, () => ask(token, digest, now, sender))
  }
}

const isResponse = (error: unknown) => error instanceof CredentialsRefused || error instanceof NothingSaid

/** The endpoint does not answer. The cause is the failure of a trial. */
class NotAsked extends Error {
  override readonly name = 'NotAsked'
}

/**
 * Strangers write tokens, and a failure with a response may be about one: after some of them, and while the
 * circuit is open, the guard tries with a token that was good.
 */
class EndpointHealth {
  private readonly circuit: CircuitBreaker
  private readonly trials = new SingleFlight<unknown>()
  private doubts = 0
  good: string | undefined

  constructor(
    private readonly endpoint: IntrospectionEndpoint,
    clock: () => number,
  ) {
    this.circuit = new CircuitBreaker(clock)
  }

  async require(): Promise<void> {
    const isDoubtful = this.good !== undefined && this.doubts >= doubtsAtMost
    if (this.circuit.isClosed && !isDoubtful) return
    if (!this.circuit.mayTry()) throw new NotAsked(silence)
    const { good } = this
    if (good !== undefined) await this.trials.share('', () => this.try(good))
  }

  answered(): void {
    this.doubts = 0
    this.circuit.succeeded()
  }

  doubt(): void {
    this.doubts += 1
  }

  failed(error: unknown): void {
    if (!(error instanceof NotAsked)) this.circuit.failed()
  }

  private async try(good: string): Promise<void> {
    try {
      await this.endpoint.ask(good)
    } catch (cause) {
      if (!(cause instanceof RequestRefused)) {
        this.circuit.open()
        throw new NotAsked(silence, { cause })
      }
    }
    this.answered()
  }
}

const silence = 'The introspection endpoint does not answer.'
// The fifth failure opens the circuit.
const doubtsAtMost = 4

// Answers from the future do not count: a clock that was ahead left them.
function keptIn(room: BoundedMap<KeptAnswer>, digest: string, now: number): KeptAnswer | undefined {
  const kept = room.get(digest)
  return kept !== undefined && kept.askedAt <= now && now < kept.endsAt ? kept : undefined
}

// No refusal: the client must not discard a token that may be good.
function failureOf(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error
  if (error instanceof NotAsked && error.cause !== undefined) return failureOf(error.cause)
  const isOwn = error instanceof CredentialsRefused
  const reason = isOwn ? 'introspection_not_authorized' : 'introspection_unavailable'
  return refused(reason, {}, { cause: error })
}

/**
 * For each network: each random token would cost the authorization server a look-up. Counts when a call
 * begins: parallel ones do not pass together.
 */
class InactiveLimit {
  private readonly windows: BoundedWindows

  constructor(
    private readonly limit: Limit,
    private readonly clock: () => number,
  ) {
    this.windows = new BoundedWindows(clock, limit.seconds * 1000)
  }

  begin({ address }: TokenSender): void {
    const { totalHits, resetTime } = this.windows.increment(networkOf(address))
    if (totalHits <= this.limit.attempts) return
    const seconds = secondsToWait(((resetTime?.getTime() ?? 0) - this.clock()) / 1000)
    throw overLimit('introspection_limited', seconds)
  }

  takeBack({ address }: TokenSender): void {
    this.windows.decrement(networkOf(address))
  }
}
