import type { SharedCache } from '../shared-cache'
import type { RedisCommands } from './redis-commands'

export function redisCache(client: RedisCommands, prefix: string): SharedCache {
  return {
    async get(key) {
      const text = await client.call('GET', prefix + key)
      if (text === null || text === undefined) return undefined
      if (typeof text === 'string') return text
      throw new Error('The Redis client replied to GET with something other than text.')
    },
    async set(key, text, seconds) {
      await client.call('SET', prefix + key, text, 'PX', String(seconds * 1000))
    },
  }
}
