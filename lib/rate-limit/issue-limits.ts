import type { OptionsReader } from '../protocol/configuration'
import { shortKey } from '../protocol/credential'
import { tooManyForShare } from '../protocol/oauth-error'
import { steadyClock } from '../protocol/steady-clock'
import type { Counters } from '../stores/counters'
import { type Limit, type LimitOption, readLimits } from './limit'
import { TokenBuckets } from './token-buckets'

/**
 * How often tokens may be issued, in this process. Counted is each answer with a new access token: for codes, refreshes,
 * clients that act for themselves, extension grants, and at the authorization endpoint. Refused requests and repeated
 * answers are not counted. A limit is there at once and refills evenly within its `seconds`. Beyond it the token
 * endpoint answers 429 with `Retry-After`, and the authorization endpoint redirects with `temporarily_unavailable`.
 */
export interface IssueLimitOptions {
  /** To one client. Default: 30 000 `attempts` in 60 `seconds`. */
  readonly client?: LimitOption
  /** To one client for one resource owner, so that no client uses up what the owner has at others. Default: 600 in 60. */
  readonly owner?: LimitOption
}

/** The limits, complete; one that is undefined is switched off. */
export type ResolvedIssueLimits = Readonly<Record<keyof IssueLimitOptions, Limit | undefined>>

/** Reads the option of this name; false switches both limits off. */
export function readIssueLimits(reading: OptionsReader, option: string): ResolvedIssueLimits {
  if (reading.take(option) === false) return { client: undefined, owner: undefined }
  return readLimits(reading, option, (limit) => ({
    client: limit('client', 30_000, 60),
    owner: limit('owner', 600, 60),
  }))
}

/** Counts what is issued, in the memory of this process and without a round trip. */
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
   * Refuses a client that has no room left, before anything is looked up or used up for its request. Counts nothing.
   *
   * @throws OverShare
   */
  requireRoom(clientId: string): void {
    this.ofClients?.requireRoom(clientId)
  }

  /**
   * Counts one answer with tokens.
   *
   * @param subject the resource owner; undefined for a client that acts for itself.
   * @throws OverShare when there is no room for it; it is not counted then.
   */
  count(clientId: string, subject: string | undefined): void {
    this.requireRoom(clientId)
    // A client identifier has no line break (RFC 6749 appendix A.1), so no two pairs read the same.
    if (subject !== undefined) this.ofOwners?.take(`${clientId}\n${shortKey(subject)}`)
    this.ofClients?.take(clientId)
  }
}

// One text for both: how many tokens others have is nothing for a client to know.
const refusalOf = (reason: 'client_issue_limited' | 'owner_issue_limited') => (seconds: number) =>
  tooManyForShare(reason, 'Too many tokens were issued. Try again later.', seconds)

/** Uses of one client in one process, unless the host says otherwise. */
export const usualSingleUses: Limit = { attempts: 60_000, seconds: 60 }

/**
 * Limits what each client may use up once (nonces, assertions) of these counters, in this process and without a
 * round trip: a client with good credentials must not fill what all clients share.
 *
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

/** Counters that know whose requests use them. */
export function countersOfClient(counters: Counters, clientId: string): Counters {
  return {
    add: (key, amount, seconds) => counters.add(key, amount, seconds),
    useOnce: (key, seconds) => counters.useOnce(key, seconds, clientId),
  }
}
