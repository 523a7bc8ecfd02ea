import type { Redis } from 'ioredis'

/** How many clients are connected. */
export async function connectionsOf(redis: Redis): Promise<number> {
  return String(await redis.client('LIST'))
    .trim()
    .split('\n').length
}
