import type { Redis } from 'ioredis'

/** A number that the server keeps of itself. */
export async function statistic(redis: Redis, name: string): Promise<number> {
  const line = (await redis.info('stats')).split('\r\n').find((text) => text.startsWith(`${name}:`))
  return Number(line?.slice(name.length + 1))
}

/** How many clients are connected. */
export async function connectionsOf(redis: Redis): Promise<number> {
  return String(await redis.client('LIST'))
    .trim()
    .split('\n').length
}
