import { NetworkWindows } from '../../limits/network-windows'
import { type Limit, secondsToWait } from '../../limits/limit'
import { networkOf } from '../../limits/network'
import { BoundedMap } from '../../primitives/bounded-map'
import { CircuitBreaker } from '../../primitives/circuit-breaker'
import { SingleFlight } from '../../primitives/single-flight'
import { steadyClock } from '../../primitives/steady-clock'
import { digest as digestOf } from '../../protocol/credential'
import { OAuthError, temporarilyUnavailable, tooManyAttempts } from '../../protocol/oauth-error'
import type { FindToken, FoundToken, TokenSender } from '../admit'
import { CredentialsRefused, type IntrospectionEndpoint, RequestRefused } from './introspection-endpoint'
import { introspectedToken, type IntrospectionTerms } from './introspection-response'

/** What a guard needs to look tokens up at an introspection endpoint. */
interface IntrospectionLookup extends IntrospectionTerms {
  readonly endpoint: IntrospectionEndpoint
  /** How long the guard keeps the answer that a token is not active, in seconds. */
  readonly maximumAgeOfRefusals: number
  /** The largest number of answers in each of the two caches, at least 1. */
  readonly maximumCached: number
  /** The answers "not active" that each network may cause; undefined for no limit. */
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
 * Finds the access of tokens at an introspection endpoint (RFC 7662). The caches hold digests of tokens, and parallel
 * requests with one token share one call. Answers about tokens that are not good have a cache of their own, so random
 * tokens push out no good one.
 */
export function findIntrospected(lookup: IntrospectionLookup): FindToken {
  const { endpoint, maximumAge, maximumAgeOfRefusals, maximumCached } = lookup
  const good = new BoundedMap<KeptAnswer>(maximumCached)
  const refused = new BoundedMap<KeptAnswer>(maximumCached)
  const flights = new SingleFlight<FoundToken>()
  const clock = steadyClock(lookup.clock)
  const circuit = new CircuitBreaker(clock)
  const inactive = new InactiveLimit(lookup.inactive, clock)

  const ask = async (token: string, digest: string, now: number, sender: TokenSender) => {
    const found = await answered(token, now, sender)
    const isGood = found !== undefined && found.rejectReason === undefined
    if (isGood) inactive.takeBack(sender)
    const age = isGood ? maximumAge : maximumAgeOfRefusals
    const endsAt = isGood ? Math.min(found.access.expiresAt, now + age) : now + age
    const [room, other] = isGood ? [good, refused] : [refused, good]
    room.put(digest, { found, askedAt: now, endsAt })
    other.delete(digest)
    return found
  }

  const answered = async (token: string, now: number, sender: TokenSender): Promise<FoundToken> => {
    if (!circuit.mayTry()) {
      inactive.takeBack(sender)
      throw unavailable('introspection_unavailable', undefined)
    }
    try {
      const answer = introspectedToken(await endpoint.ask(token), lookup, now)
      circuit.succeeded()
      return typeof answer === 'string' ? { rejectReason: answer } : answer
    } catch (error) {
      // Any sender can write a token that the endpoint refuses. Such tokens count like those that are not active, and
      // must not stop the calls about others.
      if (error instanceof RequestRefused) circuit.succeeded()
      else {
        circuit.failed()
        inactive.takeBack(sender)
      }
      throw failureOf(error)
    }
  }

  return (token, now, sender) => {
    if (token.length > longestToken) return undefined
    const digest = digestOf(token)
    const kept = keptIn(good, digest, now) ?? keptIn(refused, digest, now)
    if (kept !== undefined) return kept.found
    // Before the flight: who joins a flight must not get the refusal of another network.
    if (!flights.has(digest)) inactive.begin(sender)
    return flights.share(digest, () => ask(token, digest, now, sender))
  }
}

// A clock that was ahead leaves answers from the future. They do not count.
function keptIn(room: BoundedMap<KeptAnswer>, digest: string, now: number): KeptAnswer | undefined {
  const kept = room.get(digest)
  return kept !== undefined && kept.askedAt <= now && now < kept.endsAt ? kept : undefined
}

// The token may be good, so the error must not make the client discard it.
const unavailable = (reason: 'introspection_unavailable' | 'introspection_not_authorized', cause: unknown) =>
  temporarilyUnavailable(reason, 'The server is temporarily unable to answer.', { cause })

function failureOf(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error
  const isOwn = error instanceof CredentialsRefused
  return unavailable(isOwn ? 'introspection_not_authorized' : 'introspection_unavailable', error)
}

/**
 * Bounds the calls about tokens that are not good, for each network: each random token would cost the authorization
 * server a look-up. A call counts when it begins, so that parallel ones do not pass the limit together.
 */
class InactiveLimit {
  private readonly windows: NetworkWindows

  constructor(
    private readonly limit: Limit | undefined,
    private readonly clock: () => number,
  ) {
    this.windows = new NetworkWindows(clock, (limit?.seconds ?? 1) * 1000)
  }

  /** @throws Throttled if the network has used up the limit. */
  begin({ address }: TokenSender): void {
    if (this.limit === undefined) return
    const { totalHits, resetTime } = this.windows.increment(networkOf(address))
    if (totalHits <= this.limit.attempts) return
    const seconds = secondsToWait(((resetTime?.getTime() ?? 0) - this.clock()) / 1000)
    throw tooManyAttempts('introspection_limited', 'Too many unknown tokens from this network.', seconds)
  }

  takeBack({ address }: TokenSender): void {
    if (this.limit !== undefined) this.windows.decrement(networkOf(address))
  }
}
