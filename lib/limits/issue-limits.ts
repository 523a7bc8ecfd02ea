import type { OptionsReader } from '../primitives/options-reader'
import { tooManyForShare } from '../protocol/oauth-error'
import { steadyClock } from '../primitives/steady-clock'
import { shareOfToken } from './counted-for'
import { type Limit, type LimitOption, readLimits } from './limit'
import { TokenBuckets } from './token-buckets'

/**
 * How often one process may issue tokens. Each response with a new access token counts, for every grant type and at the
 * authorization endpoint. Refusals and repetitions of an earlier response do not count.
 *
 * A limit is a token bucket: all `attempts` are available at once, and an empty bucket is full again after `seconds`.
 * `attempts` are at most 1 000 000, and `seconds` at most 86 400. `false` switches a limit off. Over a limit, the token
 * endpoint answers 429 with `temporarily_unavailable` and `Retry-After`, and the authorization endpoint redirects with
 * `temporarily_unavailable`.
 */
export interface IssueLimitOptions {
  /** For one client. Default: 30 000 in 60 seconds. */
  readonly client?: LimitOption
  /**
   * For one client and one resource owner together, so one client cannot use up the limit of an owner at other clients.
   * Default: 600 in 60 seconds.
   */
  readonly owner?: LimitOption
}

/** The limits with their defaults. Undefined means that a limit is off. */
export type ResolvedIssueLimits = Readonly<Record<keyof IssueLimitOptions, Limit | undefined>>

/** Reads the limits from an option. `false` switches both limits off. */
export function readIssueLimits(reading: OptionsReader, option: string): ResolvedIssueLimits {
  if (reading.take(option) === false) return { client: undefined, owner: undefined }
  return readLimits(reading, option, (limit) => ({
    client: limit('client', 30_000, 60),
    owner: limit('owner', 600, 60),
  }))
}

/** Makes the limits of one server; undefined if both are off. @param clock milliseconds since the epoch. */
export function issueLimits(limits: ResolvedIssueLimits, clock: () => number): IssueLimits | undefined {
  return limits.client === undefined && limits.owner === undefined
    ? undefined
    : new IssueLimits(limits, clock)
}

/** Counts responses with tokens, in the memory of this process and without a round trip. */
export class IssueLimits {
  private readonly ofClients: TokenBuckets | undefined
  private readonly ofOwners: TokenBuckets | undefined

  /** @param clock milliseconds since the epoch. */
  constructor({ client, owner }: ResolvedIssueLimits, clock: () => number) {
    const steady = steadyClock(clock)
    this.ofClients = client && new TokenBuckets(client, refusalOf('client_issue_limited'), steady)
    this.ofOwners = owner && new TokenBuckets(owner, refusalOf('owner_issue_limited'), steady)
  }

  /**
   * Refuses a client that is over its limit, before the server looks anything up or uses anything up for the request.
   * Counts nothing.
   *
   * @throws OverShare over the limit of the client.
   */
  requireRoom(clientId: string): void {
    this.ofClients?.requireRoom(clientId)
  }

  /**
   * Counts one response with tokens.
   *
   * @param subject the resource owner; undefined for a client that acts for itself.
   * @throws OverShare over a limit. The response then does not count.
   */
  private count(clientId: string, subject: string | undefined): void {
    this.requireRoom(clientId)
    if (subject !== undefined) this.ofOwners?.take(shareOfToken(clientId, subject))
    this.ofClients?.take(clientId)
  }

  /** Makes the count of one request: several calls count once, because `commit` may apply a transition again. */
  countOfRequest(): (clientId: string, subject: string | undefined) => void {
    let isCounted = false
    return (clientId, subject) => {
      if (!isCounted) this.count(clientId, subject)
      isCounted = true
    }
  }
}

// Both limits have the same text, because a client must not learn how many tokens others have.
const refusalOf = (reason: 'client_issue_limited' | 'owner_issue_limited') => (seconds: number) =>
  tooManyForShare(reason, 'Too many tokens were issued. Try again later.', seconds)
