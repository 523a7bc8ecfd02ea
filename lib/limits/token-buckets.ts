import { type Limit, secondsToWait } from './limit'
import type { CountedNetwork } from './network'

interface Bucket {
  /** At the time `at`; a fraction, because buckets refill. */
  used: number
  at: number
}

// More than one, so full buckets go at least as fast as new ones come.
const sweptPerAddition = 2

/**
 * The map drops only full buckets: an attacker with many keys
 * cannot give a key a new limit.
 *
 * For shares, not fixed windows: a client over its share would wait until the window ends, and its code would expire
 * meanwhile.
 */
export class TokenBuckets {
  private readonly buckets = new Map<string, Bucket>()
  private swept = this.buckets.entries()
  private readonly perMillisecond: number
  private readonly attempts: number

  /** @param clock milliseconds; must not step. @param maximum keys with a bucket of their own. */
  constructor(
    { attempts, seconds }: Limit,
    private readonly refusal: (secondsLeft: number) => Error,
    private readonly clock: () => number,
    private readonly maximum = 100_000,
  ) {
    this.attempts = attempts
    this.perMillisecond = attempts / (seconds * 1000)
  }

  /** Takes nothing. */
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
