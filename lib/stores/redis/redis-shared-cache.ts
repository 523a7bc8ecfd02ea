import type { SharedCache } from '../shared-cache'
import { foundText, type RedisCommands } from './redis-commands'

export function redisCache(client: RedisCommands, prefix: string): SharedCache {
  return {
    get: async (key) => foundText(await client.call('GET', prefix + key)),
    async set(key, text, seconds) {
      await client.call('SET', prefix + key, text, 'PX', String(seconds * 1000))
    },
  }
}
