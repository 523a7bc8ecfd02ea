import { knownTokens } from '../../jwt/known-tokens'
import { deadlineOf } from '../../store/deadline'
import { aLimit, type LimitOption } from '../../limits/limit'
import { networkOf } from '../../limits/network'
import { TokenBuckets } from '../../limits/shares'
import { CircuitBreaker } from '../../primitives/concurrency'
import { someSeconds } from '../../primitives/fields'
import { type Fields, group, optional, type Read } from '../../primitives/schema'
import { steadyClock } from '../../primitives/clock'
import { isRecord } from '../../primitives/values'
import { OAuthError } from '../../protocol/oauth-error'
import { type Reason, refused, overLimit } from '../../protocol/refusals'
import { safeUrl } from '../../protocol/uri'
import { type FoundToken, isGood, type TokenSender, type TokenSource } from '../admit'
import {
  type Claims,
  claimsFields,
  type ClaimTerms,
  observedIn,
  registeredNames,
  type SourceTerms,
  type TokenClaimsOptions,
  tokenOfClaims,
} from '../token-claims'
import { introspectionClient, type IntrospectionKey, type IntrospectionSecret } from './introspection-client'
import { IntrospectionEndpoint, UnusableResponse } from './introspection-endpoint'

/**
 * The introspection endpoint of the issuer knows the tokens (RFC 7662). The guard caches its answers shortly.
 * If the endpoint does not answer, or refuses the guard, requests get `temporarily_unavailable` (503), never
 * 401.
 */
export interface IntrospectionSource extends TokenClaimsOptions {
  /** The credentials for the endpoint: a secret, or a key for `private_key_jwt`. */
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
   * `attempts` in 60 `seconds`. Beyond it, tokens that were not good before get 429. Behind a proxy, set
   * Express's `trust proxy`: else every request counts for the proxy.
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

export function introspectionSource(read: Read<typeof fields>, guard: SourceTerms): TokenSource {
  const { maximumAge, maximumAgeOfRefusals, maximumCached } = read
  const clock = steadyClock(guard.clock)
  const endpoint = new IntrospectionEndpoint(guard, read.client, clock, read.deadline * 1000, read.endpoint)
  const circuit = new CircuitBreaker(clock)
  // Each random token would cost the server a look-up. Counts when a call begins.
  const guesses = read.inactive && new TokenBuckets(read.inactive, tooManyGuesses, clock)
  const terms = { ...guard, ...read, names: registeredNames }

  const ask = async (token: string, now: number, { address }: TokenSender, wasGood: boolean) => {
    const takeBack = () => {
      if (!wasGood) guesses?.take(networkOf(address), -1)
    }
    if (!circuit.mayTry()) {
      takeBack()
      throw failureOf(new Error('The introspection endpoint does not answer.'))
    }
    try {
      const found = introspected(await endpoint.ask(token), now, terms)
      circuit.succeeded()
      if (!isGood(found)) return { found, isGood: false, endsAt: now + maximumAgeOfRefusals }
      takeBack()
      return { found, isGood: true, endsAt: Math.min(found.access.expiresAt, now + maximumAge) }
    } catch (error) {
      if (isAboutToken(error, wasGood)) circuit.succeeded()
      else circuit.failed()
      if (!(error instanceof UnusableResponse)) takeBack()
      throw failureOf(error)
    }
  }

  const begin = guesses && (({ address }: TokenSender) => guesses.take(networkOf(address)))
  return {
    findToken: knownTokens<FoundToken, TokenSender>({
      maximumCached,
      longest: longestToken,
      tooLong: undefined,
      begin,
      ask,
    }),
    ready: () => endpoint.find(),
  }
}

type IntrospectionTerms = ClaimTerms & SourceTerms & Read<typeof fields>

/** RFC 7662 2.2 */
function introspected(answer: unknown, now: number, terms: IntrospectionTerms): FoundToken {
  if (!isRecord(answer)) throw new UnusableResponse('The answer is no JSON object.')
  // Some servers write null.
  const claims = Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null))
  const { active, exp } = claims
  // RFC 7662 2.2: a Boolean. A text says nothing.
  if (typeof active !== 'boolean')
    throw new UnusableResponse('The answer has no member active that is true or false.')
  if (!active) return { rejectReason: 'token_invalid' }
  const rejectReason = faultOf(claims, now, terms)
  if (rejectReason !== undefined)
    return { rejectReason, observed: observedIn(rejectReason, () => claims, now, [terms.issuer]) }
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

const tooManyGuesses = (seconds: number) => overLimit('introspection_limited', seconds)

/**
 * Anyone can write a token that the endpoint, or a filter, refuses: it must not stop the calls about others.
 */
const isAboutToken = (error: unknown, wasGood: boolean): boolean =>
  error instanceof UnusableResponse && (wasGood ? error.about === 'request' : error.about !== 'server')

// The client must not discard a token that may be good.
function failureOf(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error
  const isOwn = error instanceof UnusableResponse && error.about === 'client'
  const reason = isOwn ? 'introspection_not_authorized' : 'introspection_unavailable'
  return refused(reason, {}, { cause: error })
}
