import { deadlineOf } from '../../store/deadline'
import { BoundedWindows } from '../../limits/bounded-windows'
import { aLimit, type Limit, type LimitOption, secondsToWait } from '../../limits/limit'
import { networkOf } from '../../limits/network'
import { CircuitBreaker } from '../../primitives/concurrency'
import { someSeconds } from '../../primitives/fields'
import { type Fields, group, optional, type Read } from '../../primitives/schema'
import { SingleFlight } from '../../primitives/concurrency'
import { steadyClock } from '../../primitives/clock'
import { isRecord } from '../../primitives/values'
import { OAuthError } from '../../protocol/oauth-error'
import { type Reason, refused, overLimit } from '../../protocol/refusals'
import { safeUrl } from '../../protocol/uri'
import type { FoundToken, TokenSender, TokenSource } from '../admit'
import { knownTokens } from '../known-tokens'
import {
  type Claims,
  claimsFields,
  type ClaimTerms,
  registeredNames,
  type SourceTerms,
  type TokenClaimsOptions,
  tokenOfClaims,
} from '../token-claims'
import { introspectionClient, type IntrospectionKey, type IntrospectionSecret } from './introspection-client'
import { IntrospectionEndpoint, UnusableResponse } from './introspection-endpoint'

/**
 * The introspection endpoint of the issuer knows the tokens (RFC 7662). The guard caches its answers for a short
 * time. If the endpoint does not answer, or refuses the client of the guard, requests get
 * `temporarily_unavailable` (503), never 401.
 */
export interface IntrospectionSource extends TokenClaimsOptions {
  /**
   * The credentials for the endpoint: a secret, or a key for `private_key_jwt`. The server must allow this
   * client to introspect.
   */
  readonly client: IntrospectionSecret | IntrospectionKey
  /**
   * The URL of the endpoint. Default: from the metadata of the issuer (RFC 8414, OpenID Connect Discovery),
   * read again after 10 minutes and after a failure.
   */
  readonly endpoint?: string
  /**
   * Whole seconds until the guard asks again about a token, 0 to 86 400, within its lifetime. A revocation
   * counts after this time. Default 30.
   */
  readonly maximumAge?: number
  /** Whole seconds for which a token is not good without a new question, 0 to 300. Default 5. */
  readonly maximumAgeOfRefusals?: number
  /** Seconds for one call. Default 5, at most 60. */
  readonly deadline?: number
  /**
   * Bounds the calls about tokens that are not good, for each network; `false` for no bound. Default: 60
   * `attempts` in 60 `seconds`. Beyond it, new tokens of this network get 429; those that were good before
   * pass. Behind a proxy, set Express's `trust proxy`: else every request counts for the proxy.
   */
  readonly inactive?: LimitOption
}

const fields = {
  ...claimsFields,
  client: introspectionClient,
  endpoint: optional(safeUrl),
  maximumAge: someSeconds(30, 0, 86_400),
  maximumAgeOfRefusals: someSeconds(5, 0, 300),
  deadline: deadlineOf(5),
  inactive: aLimit(60, 60),
} satisfies Fields<IntrospectionSource>

export const introspectionOptions = group(fields, { undefinedMembers: 'refused' })

const longestToken = 8192

/** RFC 7662 */
export function introspectionSource(read: Read<typeof fields>, guard: SourceTerms): TokenSource {
  const { maximumAge, maximumAgeOfRefusals, maximumCached } = read
  const clock = steadyClock(guard.clock)
  const endpoint = new IntrospectionEndpoint({
    issuer: guard.issuer,
    endpoint: read.endpoint,
    authenticate: read.client(guard),
    patience: read.deadline * 1000,
    clock,
  })
  const health = new EndpointHealth(endpoint, clock)
  const inactive = read.inactive && new InactiveLimit(read.inactive, clock)
  const terms = { ...guard, ...read, names: registeredNames }

  const answered = async (token: string, now: number, sender: TokenSender, wasGood: boolean) => {
    const takeBack = () => {
      if (!wasGood) inactive?.takeBack(sender)
    }
    try {
      await health.require()
      const found = introspected(await endpoint.ask(token), now, terms)
      health.answered()
      if (found !== undefined && found.rejectReason === undefined) {
        health.good = token
        takeBack()
      }
      return found
    } catch (error) {
      // Anyone can write a token that the endpoint, or a filter before it, refuses. It counts as not active,
      // and must not stop the calls about others.
      if (aboutOf(error) === 'request') health.answered()
      else if (!wasGood && error instanceof UnusableResponse) health.doubt()
      else {
        health.failed(error)
        takeBack()
      }
      throw failureOf(error)
    }
  }

  return {
    findToken: knownTokens({
      maximumCached,
      longest: longestToken,
      tooLong: undefined,
      begin: inactive && ((sender) => inactive.begin(sender)),
      async ask(token, now, sender, wasGood) {
        const found = await answered(token, now, sender, wasGood)
        const isGood = found !== undefined && found.rejectReason === undefined
        const endsAt = isGood
          ? Math.min(found.access.expiresAt, now + maximumAge)
          : now + maximumAgeOfRefusals
        return { found, endsAt }
      },
    }),
    ready: () => endpoint.find(),
  }
}

interface IntrospectionTerms extends ClaimTerms {
  readonly issuer: string
  /** Seconds. */
  readonly clockTolerance: number
  readonly maximumAge: number
}

/** RFC 7662 2.2 */
function introspected(answer: unknown, now: number, terms: IntrospectionTerms): FoundToken {
  if (!isRecord(answer)) throw new UnusableResponse('The answer is no JSON object.')
  // Some servers write null for nothing.
  const claims = Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null))
  const { active, exp } = claims
  // RFC 7662 2.2: REQUIRED, and a Boolean. A text such as "true" says nothing.
  if (typeof active !== 'boolean')
    throw new UnusableResponse('The answer has no member active that is true or false.')
  if (!active) return { rejectReason: 'token_invalid' }
  const rejectReason = faultOf(claims, now, terms)
  if (rejectReason !== undefined) return { rejectReason }
  return tokenOfClaims(claims, typeof exp === 'number' ? exp : now + terms.maximumAge, terms)
}

function faultOf(
  { iss, exp, nbf }: Claims,
  now: number,
  { issuer, clockTolerance }: IntrospectionTerms,
): Reason | undefined {
  if (iss !== undefined && iss !== issuer) return 'token_issuer_unknown'
  if (!isAbsentOrTime(exp) || !isAbsentOrTime(nbf)) return 'token_incomplete'
  if (exp !== undefined && exp + clockTolerance <= now) return 'token_expired'
  // RFC 7519 4.1.5
  return nbf !== undefined && nbf > now + clockTolerance ? 'token_not_yet_valid' : undefined
}

const isAbsentOrTime = (value: unknown): value is number | undefined =>
  value === undefined || (typeof value === 'number' && Number.isFinite(value))

const aboutOf = (error: unknown) => (error instanceof UnusableResponse ? error.about : undefined)

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
      if (aboutOf(cause) !== 'request') {
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

// No refusal: the client must not discard a token that may be good.
function failureOf(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error
  if (error instanceof NotAsked && error.cause !== undefined) return failureOf(error.cause)
  const isOwn = aboutOf(error) === 'client'
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
