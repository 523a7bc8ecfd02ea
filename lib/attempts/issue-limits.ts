import type { OptionsReader } from '../protocol/configuration'
import { shortKey } from '../protocol/credential'
import { tooManyForShare } from '../protocol/oauth-error'
import { steadyClock } from '../protocol/steady-clock'
import { readLimits, type Limit, type LimitOption } from './limit'
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
    this.ofClients = client && new TokenBuckets(client, steady)
    this.ofOwners = owner && new TokenBuckets(owner, steady)
  }

  /**
   * Refuses a client that has no room left, before anything is looked up or used up for its request. Counts nothing.
   *
   * @throws OverShare
   */
  requireRoom(clientId: string): void {
    const wait = this.ofClients?.wait(clientId)
    if (wait !== undefined) throw tooManyForShare('client_issue_limited', description, wait)
  }

  /**
   * Counts one answer with tokens.
   *
   * @param subject the resource owner; undefined for a client that acts for itself.
   * @throws OverShare when there is no room for it; it is not counted then.
   */
  count(clientId: string, subject: string | undefined): void {
    this.requireRoom(clientId)
    if (subject !== undefined && this.ofOwners !== undefined) {
      // A client identifier has no line break (RFC 6749 appendix A.1), so no two pairs read the same.
      const owner = `${clientId}\n${shortKey(subject)}`
      const wait = this.ofOwners.wait(owner)
      if (wait !== undefined) throw tooManyForShare('owner_issue_limited', description, wait)
      this.ofOwners.take(owner)
    }
    this.ofClients?.take(clientId)
  }
}

// One text for both: how many tokens others have is nothing for a client to know.
const description = 'Too many tokens were issued. Try again later.'
