import type { OptionsReader } from '../protocol/configuration'
import { shortKey } from '../protocol/credential'
import { tooManyForShare } from '../protocol/oauth-error'
import { steadyClock } from '../protocol/steady-clock'
import type { Counters } from '../stores/counters'
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
  count(clientId: string, subject: string | undefined): void {
    this.requireRoom(clientId)
    // A client identifier has no line break (RFC 6749 appendix A.1), so different pairs always make different keys.
    if (subject !== undefined) this.ofOwners?.take(`${clientId}\n${shortKey(subject)}`)
    this.ofClients?.take(clientId)
  }
}

// Both limits have the same text, because a client must not learn how many tokens others have.
const refusalOf = (reason: 'client_issue_limited' | 'owner_issue_limited') => (seconds: number) =>
  tooManyForShare(reason, 'Too many tokens were issued. Try again later.', seconds)

/** The default limit on single uses of one client in one process. */
export const usualSingleUses: Limit = { attempts: 60_000, seconds: 60 }

/**
 * Decorates counters: limits how many keys, such as nonces of mac tokens, each client may use up. All clients share
 * the room of the counters, and one client with good credentials must not fill it. The limit stands in the memory of
 * this process, without a round trip.
 *
 * @param limit undefined for no limit.
 * @param clock milliseconds since the epoch.
 */
export function withSingleUseLimit(
  counters: Counters,
  limit: Limit | undefined,
  clock: () => number,
): Counters {
  if (limit === undefined) return counters
  const uses = new TokenBuckets(limit, tooManyUses, steadyClock(clock))
  return {
    add: (key, amount, seconds) => counters.add(key, amount, seconds),
    async useOnce(key, seconds, clientId) {
      if (clientId !== undefined) uses.take(clientId)
      return counters.useOnce(key, seconds, clientId)
    },
  }
}

const tooManyUses = (seconds: number) =>
  tooManyForShare('single_use_limited', 'There were too many such requests. Try again later.', seconds)

/** Decorates counters: every single use belongs to this client. */
export function countersOfClient(counters: Counters, clientId: string): Counters {
  return {
    add: (key, amount, seconds) => counters.add(key, amount, seconds),
    useOnce: (key, seconds) => counters.useOnce(key, seconds, clientId),
  }
}
