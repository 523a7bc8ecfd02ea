import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { createAuthorizationServer, redisStore, type SharedCache } from '../../lib/index'
import { canonicalOptions } from '../support/flows/application'
import { Clock } from '../support/flows/clock'
import { withRedis } from '../support/with-redis'

function keepsTexts(open: () => SharedCache): void {
  test('returns the text that was set last, whatever its key', async () => {
    const cache = open()
    for (const key of ['a', '__proto__', 'constructor']) {
      expect(await cache.get(key)).toBeUndefined()
      await cache.set(key, 'one', 60)
      await cache.set('b', '', 60)
      await cache.set(key, 'two \u00FC\u0000', 60)
      expect([await cache.get(key), await cache.get('b')]).toEqual(['two \u00FC\u0000', ''])
    }
  })
}

/** The cache of a server whose store has none. */
function inMemory(clock = new Clock()): SharedCache {
  const caches: SharedCache[] = []
  const open = ({ sharedCache }: { sharedCache: SharedCache }) => {
    caches.push(sharedCache)
    return { find: () => undefined }
  }
  createAuthorizationServer({ ...canonicalOptions, clock: clock.read, clients: { open } })
  const [cache] = caches
  if (cache === undefined) throw new Error('The server has no cache.')
  return cache
}

describe('A cache in memory', () => {
  keepsTexts(() => inMemory())

  test('forgets a text when its time is over', async () => {
    const clock = new Clock()
    const cache = inMemory(clock)
    await cache.set('a', 'text', 60)
    clock.advance(59.999)
    expect(await cache.get('a')).toBe('text')
    clock.advance(0.001)
    expect(await cache.get('a')).toBeUndefined()
  })

  test('keeps 1000 texts, and drops the one that ends first', async () => {
    const cache = inMemory()
    await cache.set('long', 'text', 120)
    for (let at = 0; at < 1000; at++) await cache.set(`${at}`, 'text', 60)
    expect([await cache.get('0'), await cache.get('1'), await cache.get('long')]).toEqual([
      undefined,
      'text',
      'text',
    ])
    await cache.set('long', 'other', 60)
    expect(await cache.get('1')).toBe('text')
  })
})

describe('A cache on Redis', () => {
  let client: Redis
  withRedis((started) => {
    client = started.client
  })
  const cacheBelow = (prefix = `test:${randomUUID()}:`) => redisStore({ client, prefix }).sharedCache

  keepsTexts(() => cacheBelow())

  test('is one for all stores below a prefix, and its keys expire by themselves', async () => {
    const prefix = `test:${randomUUID()}:`
    await cacheBelow(prefix).set('a', 'text', 60)
    expect([await cacheBelow(prefix).get('a'), await cacheBelow().get('a')]).toEqual(['text', undefined])
    expect(await client.keys(`${prefix}*`)).toEqual([`${prefix}cache:a`])
    expect(await client.pttl(`${prefix}cache:a`)).toBeGreaterThan(0)
    expect(await client.pttl(`${prefix}cache:a`)).toBeLessThanOrEqual(60_000)
  })
})
