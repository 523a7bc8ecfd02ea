import { steadyClock } from '../primitives/clock'
import { type Fields, group, orOff } from '../primitives/schema'
import { type Client, passesNetworkLimit } from '../protocol/client'
import { shortKey } from '../protocol/credential'
import { overLimit } from '../protocol/refusals'
import { aLimit, type Limit, type LimitOption, secondsToWait } from './limit'
import { type CountedNetwork, widestOf } from './network'

interface Bucket {
  // A fraction: buckets refill.
  used: number
  at: number
}

// More than one: full buckets go as fast as new ones come.
const sweptPerAddition = 2

export const keysAtMost = 100_000

// Drops only full buckets: many keys give an attacker no new limit. In a fixed window, a client over its share would
// wait so long that its code expires.
export class TokenBuckets {
  private readonly buckets = new Map<string, Bucket>()
  private swept = this.buckets.entries()
  private readonly perMillisecond: number
  private readonly attempts: number

  // `clock` must not step. `maximum`: keys with a bucket of their own.
  constructor(
    { attempts, seconds }: Limit,
    private readonly refusal: (secondsLeft: number) => Error,
    private readonly clock: () => number,
    private readonly maximum = keysAtMost,
  ) {
    this.attempts = attempts
    this.perMillisecond = attempts / (seconds * 1000)
  }

  requireRoom(key: string, amount = 1): void {
    this.requireRoomIn(this.buckets.get(this.placeOf(key)), amount, this.clock())
  }

  take(key: string, amount = 1): void {
    const now = this.clock()
    const place = this.placeOf(key)
    const bucket = this.buckets.get(place)
    const used = this.requireRoomIn(bucket, amount, now)
    if (bucket === undefined) {
      this.sweep()
      this.buckets.set(place, { used, at: now })
    } else {
      bucket.used = used
      bucket.at = now
    }
  }

  takeFromAll(networks: readonly CountedNetwork[]): void {
    const amounts = new Map(networks.map(({ network, factor }) => [network, 1 / factor]))
    for (const [network, amount] of amounts) this.requireRoom(network, amount)
    for (const [network, amount] of amounts) this.take(network, amount)
  }

  private requireRoomIn(bucket: Bucket | undefined, amount: number, now: number): number {
    const used = (bucket === undefined ? 0 : this.usedOf(bucket, now)) + amount
    const missing = used - this.attempts
    if (bucket !== undefined && missing > 0)
      throw this.refusal(secondsToWait(missing / this.perMillisecond / 1000))
    return used
  }

  private placeOf(key: string): string {
    if (this.buckets.size < this.maximum || this.buckets.has(key)) return key
    this.sweep()
    return this.buckets.size < this.maximum ? key : shared
  }

  private usedOf({ used, at }: Bucket, now: number): number {
    return Math.max(0, used - (now - at) * this.perMillisecond)
  }

  private sweep(): void {
    const now = this.clock()
    for (let looked = 0; looked < sweptPerAddition; looked++) {
      const next = this.swept.next()
      if (next.done === true) {
        this.swept = this.buckets.entries()
        return
      }
      const [key, bucket] = next.value
      if (this.usedOf(bucket, now) === 0) this.buckets.delete(key)
    }
  }
}

const shared = ''

export const shareOf = (client: Client, address: string | undefined): string =>
  passesNetworkLimit(client) ? client.client_id : `network ${widestOf(address)}`

// A guard knows no registration: a client acts for itself, or for one owner.
export const shareOfToken = (clientId: string, subject: string | undefined): string =>
  // RFC 6749 appendix A.1: client identifiers have no line break.
  subject === undefined ? clientId : `${clientId}\n${shortKey(subject)}`

/**
 * How often one process may issue tokens. Each response with a new access token counts.
 *
 * A limit is a token bucket: all `attempts` (at most 1 000 000) are available at once, and an empty bucket is full
 * again after `seconds` (at most 86 400). `false` switches it off. Over a limit, the error is
 * `temporarily_unavailable`: 429 with `Retry-After` at the token endpoint, a redirect at the authorization endpoint.
 */
export interface IssueLimitOptions {
  /** For one client. Default: 30 000 in 60 seconds. */
  readonly client?: LimitOption
  /**
   * For one client and one owner together: a client cannot use up an owner's limit at others. Default: 600 in 60
   * seconds.
   */
  readonly owner?: LimitOption
}

export const issuingLimits = orOff(
  { client: undefined, owner: undefined },
  group({ client: aLimit(30_000, 60), owner: aLimit(600, 60) } satisfies Fields<IssueLimitOptions>),
)

export type IssueLimits = ReturnType<typeof issueLimits>

export function issueLimits({ client, owner }: ReturnType<typeof issuingLimits>, clock: () => number) {
  const steady = steadyClock(clock)
  const ofClients =
    client && new TokenBuckets(client, (seconds) => overLimit('client_issue_limited', seconds), steady)
  const ofOwners =
    owner && new TokenBuckets(owner, (seconds) => overLimit('owner_issue_limited', seconds), steady)
  return {
    // Before the server looks up or uses up anything.
    requireRoom: (clientId: string): void => ofClients?.requireRoom(clientId),
    // Counts once: `commit` may apply a transition again.
    countOfRequest() {
      let isCounted = false
      return (clientId: string, subject: string | undefined): void => {
        if (isCounted) return
        if (subject !== undefined) {
          ofClients?.requireRoom(clientId)
          ofOwners?.take(shareOfToken(clientId, subject))
        }
        ofClients?.take(clientId)
        isCounted = true
      }
    },
  }
}
