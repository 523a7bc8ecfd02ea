import { type Field, type Fields, group, orOff } from '../primitives/schema'
import { overLimit } from '../protocol/refusals'
import { steadyClock } from '../primitives/clock'
import { shareOfToken } from './counted-for'
import { aLimit, type Limit, type LimitOption } from './limit'
import { TokenBuckets } from './token-buckets'

/**
 * How often one process may issue tokens. Each response with a new access token counts, at any grant type and at the
 * authorization endpoint; refusals and repeated responses do not.
 *
 * A limit is a token bucket: all `attempts` (at most 1 000 000) are available at once, and an empty bucket is full
 * again after `seconds` (at most 86 400). `false` switches a limit off. Over a limit, the error is
 * `temporarily_unavailable`: 429 with `Retry-After` at the token endpoint, a redirect at the authorization endpoint.
 */
export interface IssueLimitOptions {
  /** For one client. Default: 30 000 in 60 seconds. */
  readonly client?: LimitOption
  /**
   * For one client and one owner together, so a client cannot use up an owner's limit at other clients. Default: 600 in
   * 60 seconds.
   */
  readonly owner?: LimitOption
}

type ResolvedIssueLimits = Readonly<Record<keyof IssueLimitOptions, Limit | undefined>>

export const issuingLimits: Field<ResolvedIssueLimits> = orOff(
  { client: undefined, owner: undefined },
  group({ client: aLimit(30_000, 60), owner: aLimit(600, 60) } satisfies Fields<IssueLimitOptions>),
)

export function issueLimits(limits: ResolvedIssueLimits, clock: () => number): IssueLimits | undefined {
  return limits.client === undefined && limits.owner === undefined
    ? undefined
    : new IssueLimits(limits, clock)
}

export class IssueLimits {
  private readonly ofClients: TokenBuckets | undefined
  private readonly ofOwners: TokenBuckets | undefined

  constructor({ client, owner }: ResolvedIssueLimits, clock: () => number) {
    const steady = steadyClock(clock)
    this.ofClients =
      client && new TokenBuckets(client, (seconds) => overLimit('client_issue_limited', seconds), steady)
    this.ofOwners =
      owner && new TokenBuckets(owner, (seconds) => overLimit('owner_issue_limited', seconds), steady)
  }

  /** Counts nothing, and runs before the server looks up or uses up anything. */
  requireRoom(clientId: string): void {
    this.ofClients?.requireRoom(clientId)
  }

  private count(clientId: string, subject: string | undefined): void {
    if (subject !== undefined) {
      this.requireRoom(clientId)
      this.ofOwners?.take(shareOfToken(clientId, subject))
    }
    this.ofClients?.take(clientId)
  }

  /** Counts once: `commit` may apply a transition again. */
  countOfRequest(): (clientId: string, subject: string | undefined) => void {
    let isCounted = false
    return (clientId, subject) => {
      if (!isCounted) this.count(clientId, subject)
      isCounted = true
    }
  }
}
