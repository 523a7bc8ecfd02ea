import type { Redis } from 'ioredis'
import { memoryStore, type Store } from '../../lib/index'
import { redisStore } from '../../lib/paths/redis'
import { documentsOf } from '../support/stores/records'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { withRedis } from '../support/with-redis'

let client: Redis
withRedis((started) => void (client = started.client))

describe.each<[string, (prefix?: string) => Store]>([
  ['memory', () => memoryStore()],
  ['Redis', (prefix = uniquePrefix()) => redisStore({ client, prefix })],
])('A document in %s', (_where, open) => {
  test('is the text that was kept last, whatever its key', async () => {
    const documents = documentsOf(open())
    for (const key of ['a', '__proto__', 'constructor', 'ü:{tag} \u0000', 'x'.repeat(2000)]) {
      expect(await documents.find(key)).toBeUndefined()
      await documents.keep(key, 'one', 60)
      await documents.keep('b', '', 60)
      await documents.keep(key, 'two \u00FC\u0000', 60)
      expect([await documents.find(key), await documents.find('b')]).toEqual(['two \u00FC\u0000', ''])
    }
  })

  test('is kept by one of several processes that fetch it at once, and no failure for the others', async () => {
    const store = open()
    await Promise.all(Array.from({ length: 20 }, (_, at) => documentsOf(store).keep('a', `${at}`, 60)))
    expect(await documentsOf(store).find('a')).toMatch(/^\d+$/)
  })
})

test('A document in memory is forgotten when its time is over', async () => {
  let now = 0
  const documents = documentsOf(memoryStore({ clock: () => now }))
  await documents.keep('a', 'text', 60)
  now = 59_999
  expect(await documents.find('a')).toBe('text')
  now = 60_000
  expect(await documents.find('a')).toBeUndefined()
})

test('A document in Redis is one for all stores below a prefix', async () => {
  const prefix = uniquePrefix()
  const below = (own: string) => documentsOf(redisStore({ client, prefix: own }))
  await below(prefix).keep('a', 'text', 60)
  expect([await below(prefix).find('a'), await below(uniquePrefix()).find('a')]).toEqual(['text', undefined])
})
