import type { Redis } from 'ioredis'
import type { ClientRateLimitInfo, Options, Store } from 'express-rate-limit'

// One act: between counting and setting the end, no process can fail and leave a count that never ends.
const count = `
if ARGV[1] == '-1' and redis.call('EXISTS', KEYS[1]) == 0 then return {0, 0} end
local hits = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  left = tonumber(ARGV[2])
end
return {hits, left}
`

/** Keeps the counts of one limit in Redis, for all processes. While Redis is away it throws, and counts again after. */
export class LimitStore implements Store {
  private windowMs = 60_000

  constructor(
    private readonly redis: Redis,
    readonly prefix: string,
  ) {}

  // Asks Redis for nothing: it may be away at the start.
  init({ windowMs }: Options): void {
    this.windowMs = windowMs
  }

  async increment(key: string): Promise<ClientRateLimitInfo> {
    return this.add(key, 1)
  }

  async decrement(key: string): Promise<void> {
    await this.add(key, -1)
  }

  async resetKey(key: string): Promise<void> {
    await this.redis.del(this.prefix + key)
  }

  private async add(key: string, amount: 1 | -1): Promise<ClientRateLimitInfo> {
    const reply: unknown = await this.redis.eval(count, 1, this.prefix + key, amount, this.windowMs)
    const [totalHits = 0, left = 0] = Array.isArray(reply) ? reply.map(Number) : []
    return { totalHits, resetTime: new Date(Date.now() + left) }
  }
}
