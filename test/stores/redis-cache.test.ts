import { setTimeout } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { commit } from '../../lib/authorization/commit'
import { redisStore, type RedisStore, type RedisStoreOptions } from '../../lib/index'
import { secureRandom } from '../../lib/protocol/credential'
import {
  activeRecord,
  approvedRecord,
  inSeconds,
  saveRecord,
  version,
} from '../../lib/testing/example-records'
import { oneMoreFailure } from '../../lib/testing/race-rules'
import type { RedisServer } from '../support/redis-server'
import { cachedRecord, forgetsOnly, isCached, recalls, savedRecord } from '../support/stores/cached-records'
import { type HoldingProxy, startHoldingProxy } from '../support/stores/holding-proxy'
import { statistic } from '../support/stores/redis-statistics'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { waitUntil } from '../support/wait-until'
import { withRedis } from '../support/with-redis'

const cache = { maximum: 100 }

describe('redisStore with a cache, while Redis is well,', () => {
  let server: RedisServer
  let redis: Redis
  withRedis(
    (started) => {
      server = started.server
      redis = started.client
    },
    { own: true },
  )
  const opened: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of opened.splice(0).toReversed()) await close()
  })
  let prefix: string
  let store: RedisStore
  /** Another process, as far as Redis knows. */
  let other: RedisStore
  const open = (options: Partial<Extract<RedisStoreOptions, { url: string }>> = {}): RedisStore => {
    const made = redisStore({ url: server.url, prefix, ...options })
    opened.push(() => made.close())
    return made
  }
  const proxied = async (): Promise<HoldingProxy> => {
    const proxy = await startHoldingProxy(server.port)
    opened.push(() => proxy.stop())
    return proxy
  }
  beforeEach(() => {
    prefix = uniquePrefix()
    store = open({ cache })
    other = open()
  })

  it('recalls what it has read, as it is in Redis', async () => {
    const id = await cachedRecord(store)
    expect(store.getCached?.(id)).toEqual(await other.find(id))
  })

  it('recalls nothing without the option', async () => {
    const id = await savedRecord(other)
    await other.find(id)
    expect(other.getCached?.(id)).toBeUndefined()
  })

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['is removed by another process', (id) => other.remove(id)],
    [
      'is saved by another process',
      async (id) => {
        const found = await other.find(id)
        if (found !== undefined) await saveRecord(other, version(found.authorization), found)
      },
    ],
    ['expires in Redis', (id) => redis.pexpire(`${prefix}authorization:${id}`, 1)],
    ['is deleted by hand', (id) => redis.unlink(`${prefix}authorization:${id}`)],
    [
      'is written over by a transaction',
      (id) => redis.multi().set(`${prefix}authorization:${id}`, 'x').exec(),
    ],
  ])('forgets a record that %s, and no other', async (_change, change) => {
    const [known, id] = [await cachedRecord(store), await cachedRecord(store)]
    await change(id)
    expect(await forgetsOnly(store, id, known)).toBe(true)
  })

  it('forgets what goes when the memory of Redis is full', async () => {
    const id = await cachedRecord(store)
    await redis.config('SET', 'maxmemory-policy', 'allkeys-random', 'maxmemory', '1')
    opened.push(() => redis.config('SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '0'))
    await redis.set('one more', '1').catch(() => {})
    await waitUntil('it is evicted', async () => (await other.find(id)) === undefined)
    await waitUntil('it is forgotten', async () => !recalls(store, id))
    expect(await store.find(id)).toBeUndefined()
  })

  it.each(['FLUSHALL', 'FLUSHDB'])('forgets all of them at %s, and goes on', async (command) => {
    const ids = [await cachedRecord(store), await cachedRecord(store)]
    await redis.call(command)
    await waitUntil('they are forgotten', async () => !ids.some((id) => recalls(store, id)), 0.9)
    expect(recalls(store, await cachedRecord(store))).toBe(true)
  })

  it('has forgotten a record once its own removal or save is done', async () => {
    const proxy = await proxied()
    const own = open({ url: proxy.url, cache })
    const [removed, saved] = [await cachedRecord(own, other), await cachedRecord(own, other)]
    proxy.hold('news')
    const found = await other.find(saved)
    await own.remove(removed)
    if (found !== undefined) await saveRecord(own, version(found.authorization), found)
    expect([recalls(own, removed), recalls(own, saved)]).toEqual([false, false])
    proxy.release('news')
  })

  it('keeps nothing that was read before a change, if the answer comes after the news of it [revocation-13]', async () => {
    const proxy = await proxied()
    const own = open({ url: proxy.url, cache })
    const [known, mark] = [await cachedRecord(own, other), await cachedRecord(own, other)]
    const id = await savedRecord(other)
    proxy.hold('answers')
    const before = proxy.held('answers')
    const reading = own.find(id)
    await waitUntil('Redis has answered', async () => proxy.held('answers') > before)
    await other.remove(id)
    await other.remove(mark)
    expect(await forgetsOnly(own, mark, known)).toBe(true)
    proxy.release('answers')
    expect(await reading).toBeDefined()
    expect([recalls(own, id), await own.find(id)]).toEqual([false, undefined])
  })

  it('forgets what it keeps, if the news of a change comes after the answer', async () => {
    const proxy = await proxied()
    const own = open({ url: proxy.url, cache })
    const [known, id] = [await cachedRecord(own, other), await cachedRecord(own, other)]
    proxy.hold('news')
    const reading = own.find(id)
    await own.find(known)
    await other.remove(id)
    await reading
    expect(recalls(own, id)).toBe(true)
    proxy.release('news')
    expect(await forgetsOnly(own, id, known)).toBe(true)
  })

  it('lets a record die by its own clock, though Redis has it still', async () => {
    let ahead = 0
    const own = open({ cache, clock: () => Date.now() + ahead })
    const [short, long] = [await savedRecord(other, 60), await savedRecord(other, 600)]
    await isCached(own, short)
    await isCached(own, long)
    ahead = 61_000
    expect([recalls(own, short), recalls(own, long)]).toEqual([false, true])
  })

  it('commits what it finds in Redis, never what it recalls', async () => {
    const proxy = await proxied()
    const own = open({ url: proxy.url, cache })
    const { accessTokens } = activeRecord(inSeconds(600))
    const counter = approvedRecord(inSeconds(600), { accessTokens })
    await saveRecord(other, version(counter))
    await isCached(own, counter.id)
    proxy.hold('news')
    await commit(other, counter.id, oneMoreFailure, secureRandom)
    expect(await commit(own, counter.id, oneMoreFailure, secureRandom)).toBe(counter.code.failures + 2)
    proxy.release('news')
  })

  it('loses no change that several processes with a cache commit', async () => {
    const writers = [store, other, open({ cache })]
    const counter = approvedRecord(inSeconds(600), {
      accessTokens: activeRecord(inSeconds(600)).accessTokens,
    })
    await saveRecord(other, version(counter))
    const writes = [0, 1, 2, 0, 1, 2, 0, 1, 2].map((n) =>
      commit(writers[n] ?? store, counter.id, oneMoreFailure, secureRandom),
    )
    await Promise.all(writes)
    expect(await other.find(counter.id)).toMatchObject({
      authorization: { code: { failures: counter.code.failures + 9 } },
    })
  })

  it('listens for its own prefix alone', async () => {
    const id = await cachedRecord(store)
    const neighbour = open({ prefix: `${prefix}x` })
    const record = await store.find(id)
    if (record !== undefined) await saveRecord(neighbour, record)
    await neighbour.remove(id)
    await setTimeout(50)
    expect(recalls(store, id)).toBe(true)
  })

  it('sends Redis nothing without requests', async () => {
    await cachedRecord(store)
    const sentIn = async (milliseconds: number) => {
      const before = await statistic(redis, 'total_commands_processed')
      await setTimeout(milliseconds)
      return (await statistic(redis, 'total_commands_processed')) - before
    }
    // The question itself.
    await waitUntil('nothing else is sent', async () => (await sentIn(600)) === 1)
    expect(await sentIn(1000)).toBe(1)
  })
})
