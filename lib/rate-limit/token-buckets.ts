import type { OverShare } from '../protocol/oauth-error'
import { type Limit, secondsToWait } from './limit'

interface Bucket {
  /** How much of the limit is used up; a fraction while it refills. */
  used: number
  /** When that was, in milliseconds of the clock. */
  at: number
}

// Each addition looks at more buckets than it brings, so that full ones go at the pace at which new ones come.
const sweptPerAddition = 2

/**
 * Token buckets in the memory of this process: each key may take the whole limit at once, and its bucket refills evenly
 * within the limit's seconds. A bucket that is full again is forgotten; no other one ever is, so that no key can begin
 * anew by bringing many others. Keys for which there is no room share one bucket.
 */
export class TokenBuckets {
  private readonly buckets = new Map<string, Bucket>()
  private swept = this.buckets.entries()
  private readonly perMillisecond: number
  private readonly attempts: number

  /**
   * @param refusal what a key without room is refused with.
   * @param clock milliseconds of a clock that does not step.
   * @param maximum keys that have a bucket of their own.
   */
  constructor(
    { attempts, seconds }: Limit,
    private readonly refusal: (secondsLeft: number) => OverShare,
    private readonly clock: () => number,
    private readonly maximum = 100_000,
  ) {
    this.attempts = attempts
    this.perMillisecond = attempts / (seconds * 1000)
  }

  /** Refuses a key that may not take once more now. Takes nothing. @throws OverShare with the seconds to wait. */
  requireRoom(key: string): void {
    const bucket = this.buckets.get(this.placeOf(key))
    if (bucket === undefined) return
    const missing = this.usedOf(bucket, this.clock()) + 1 - this.attempts
    if (missing > 0) throw this.refusal(secondsToWait(Math.ceil(missing / this.perMillisecond / 1000)))
  }

  /** Takes once. @throws OverShare when there is no room; nothing is taken then. */
  take(key: string): void {
    this.requireRoom(key)
    const now = this.clock()
    const place = this.placeOf(key)
    const bucket = this.buckets.get(place)
    if (bucket === undefined) {
      this.sweep()
      this.buckets.set(place, { used: 1, at: now })
    } else {
      bucket.used = this.usedOf(bucket, now) + 1
      bucket.at = now
    }
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

// No client and no owner has an empty name.
const shared = ''
