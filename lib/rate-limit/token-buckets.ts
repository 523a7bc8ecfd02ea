import { type Limit, secondsToWait } from './limit'

interface Bucket {
  /**
   * How much of the limit the key had used up at the time `at`. The value may be a fraction, because buckets refill.
   */
  used: number
  /** Milliseconds of the clock. */
  at: number
}

// Each new bucket examines two others, so the map drops full buckets at least as fast as new buckets come.
const sweptPerAddition = 2

/**
 * Token buckets in the memory of this process. Each key may take the whole limit at once, and its bucket refills evenly
 * within the seconds of the limit. The map drops only full buckets. So an attacker with many keys cannot push out the
 * bucket of a key and give the key a new limit. Keys without room share one bucket.
 */
export class TokenBuckets {
  private readonly buckets = new Map<string, Bucket>()
  private swept = this.buckets.entries()
  private readonly perMillisecond: number
  private readonly attempts: number

  /**
   * @param refusal makes the error for a key whose bucket is empty.
   * @param clock milliseconds of a clock that does not step.
   * @param maximum how many keys may have a bucket of their own.
   */
  constructor(
    { attempts, seconds }: Limit,
    private readonly refusal: (secondsLeft: number) => Error,
    private readonly clock: () => number,
    private readonly maximum = 100_000,
  ) {
    this.attempts = attempts
    this.perMillisecond = attempts / (seconds * 1000)
  }

  /** Refuses a key whose bucket is empty. Takes nothing. @throws the refusal with the seconds to wait. */
  requireRoom(key: string): void {
    const bucket = this.buckets.get(this.placeOf(key))
    if (bucket === undefined) return
    const missing = this.usedOf(bucket, this.clock()) + 1 - this.attempts
    if (missing > 0) throw this.refusal(secondsToWait(Math.ceil(missing / this.perMillisecond / 1000)))
  }

  /** Takes 1 from the bucket of a key. @throws the refusal if the bucket is empty; the bucket then stays as it is. */
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

// The key of the shared bucket. No client and no resource owner has an empty name.
const shared = ''
