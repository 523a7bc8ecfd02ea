import { type Cluster, type Redis } from 'ioredis'
import type { RedisCommands } from '../../lib/stores/redis/redis-commands'
import { redisStore } from '../../lib/stores/redis/redis-store'
import { redisCache } from '../../lib/stores/redis/redis-shared-cache'
import { isInMemory } from '../../lib/stores/in-memory'
import { isSharedCache, memoryCache, type SharedCache } from '../../lib/clients/shared-cache'
import { Clock } from '../support/flows/clock'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { withRedis, withRedisCluster } from '../support/with-redis'

function keepsTexts(open: () => SharedCache): void {
  it('returns what was set last', async () => {
    const cache = open()
    expect(await cache.get('a')).toBeUndefined()
    await cache.set('a', 'one', 60)
    await cache.set('b', '', 60)
    await cache.set('a', 'two \u00FC\u0000', 60)
    expect(await cache.get('a')).toBe('two \u00FC\u0000')
    expect(await cache.get('b')).toBe('')
  })

  it.each(['__proto__', 'constructor'])('takes the key %s as any other', async (key) => {
    const cache = open()
    expect(await cache.get(key)).toBeUndefined()
    await cache.set(key, 'text', 60)
    expect(await cache.get(key)).toBe('text')
  })
}

describe('A cache in memory', () => {
  keepsTexts(() => memoryCache(Date.now))

  it('forgets a text when its time is over', async () => {
    const clock = new Clock()
    const cache = memoryCache(clock.read)
    await cache.set('a', 'text', 60)
    clock.advance(59.999)
    expect(await cache.get('a')).toBe('text')
    clock.advance(0.001)
    expect(await cache.get('a')).toBeUndefined()
  })

  it('keeps 1000 texts, the latest', async () => {
    const cache = memoryCache(Date.now)
    for (let at = 0; at <= 1000; at++) await cache.set(`${at}`, 'text', 60)
    expect(await cache.get('0')).toBeUndefined()
    expect(await cache.get('1')).toBe('text')
    expect(await cache.get('1000')).toBe('text')
  })

  it('drops the text that ends first, so many short ones push out none that is kept for longer', async () => {
    const cache = memoryCache(Date.now)
    await cache.set('long', 'text', 120)
    for (let at = 0; at < 2000; at++) await cache.set(`${at}`, 'text', 60)
    expect(await cache.get('long')).toBe('text')
    await cache.set('long', 'other', 60)
    expect(await cache.get('1999')).toBe('text')
  })

  it('says that it is in memory', () => {
    expect(isInMemory(memoryCache(Date.now))).toBe(true)
  })
})

describe('A cache on Redis', () => {
  let client: Redis
  withRedis((started) => {
    client = started.client
  })

  keepsTexts(() => redisCache(client, uniquePrefix()))

  it('leaves keys that expire by themselves', async () => {
    const prefix = uniquePrefix()
    await redisStore({ client, prefix }).sharedCache.set('a', 'text', 60)
    expect(await client.keys(`${prefix}*`)).toEqual([`${prefix}cache:a`])
    expect(await client.pttl(`${prefix}cache:a`)).toBeGreaterThan(50_000)
    expect(await client.pttl(`${prefix}cache:a`)).toBeLessThanOrEqual(60_000)
  })

  it('is the same for two stores below one prefix', async () => {
    const prefix = uniquePrefix()
    await redisStore({ client, prefix }).sharedCache.set('a', 'text', 60)
    expect(await redisStore({ client, prefix }).sharedCache.get('a')).toBe('text')
    expect(await redisStore({ client, prefix: uniquePrefix() }).sharedCache.get('a')).toBeUndefined()
  })

  it('takes no reply for a text that is none', async () => {
    const odd: RedisCommands = { call: async () => Buffer.from('text') }
    await expect(redisCache(odd, '').get('a')).rejects.toThrow('something other than text')
  })
})

describe('A cache on a cluster', () => {
  let client: Cluster
  withRedisCluster((started) => {
    client = started.client
  })

  keepsTexts(() => redisCache(client, uniquePrefix()))
})

it.each([[undefined], [null], [{}], [{ get: () => undefined }], [{ get: 1, set: 1 }], [new Set()]])(
  '%j is no cache',
  (value) => {
    expect(isSharedCache(value)).toBe(false)
  },
)
