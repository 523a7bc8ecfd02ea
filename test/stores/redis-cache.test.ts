import { Redis } from 'ioredis'
import { setTimeout } from 'node:timers/promises'
import { commit } from '../../lib/authorization/commit'
import { secureRandom } from '../../lib/protocol/credential'
import { ConfigurationError, redisStore, type RedisStore, type RedisStoreOptions } from '../../lib/index'
import { oneMoreFailure } from '../../lib/testing/authorization-store/race-rules'
import { active, approved, inSeconds } from '../../lib/testing/authorization-store/examples'
import { save, version } from '../../lib/testing/authorization-store/version'
import { describeOwnRedis } from '../support/describe-own-redis'
import type { RedisServer } from '../support/redis-server'
import { cachedRecord, isCached, isForgotten, recalls, savedRecord } from '../support/stores/cached-records'
import { startHoldingProxy, type HoldingProxy } from '../support/stores/holding-proxy'
import { runInNode } from '../support/stores/node-program'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { waitUntil } from '../support/wait-until'
import { withRedis } from '../support/with-redis'

const cache = { maximum: 100 }

describeOwnRedis('redisStore with a cache', () => {
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
  const open = (options: Partial<RedisStoreOptions> = {}): RedisStore => {
    const made = redisStore({ url: server.url, prefix, ...options } as RedisStoreOptions)
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

  describe('while Redis is well', () => {
    it('recalls what it has read, as it is in Redis', async () => {
      const id = await cachedRecord(store)
      expect(store.recall?.(id)).toEqual(await other.find(id))
    })

    it('recalls nothing without the option', async () => {
      const id = await savedRecord(other)
      await other.find(id)
      expect(other.recall?.(id)).toBeUndefined()
    })

    it.each<[string, (id: string) => Promise<unknown>]>([
      ['is removed by another process', (id) => other.remove(id)],
      [
        'is saved by another process',
        async (id) => {
          const found = await other.find(id)
          if (found !== undefined) await save(other, version(found.authorization), found)
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
      await isForgotten(store, id, known)
    })

    it('forgets what goes when the memory of Redis is full', async () => {
      const id = await cachedRecord(store)
      await redis.config('SET', 'maxmemory-policy', 'allkeys-random', 'maxmemory', '1')
      opened.push(() => redis.config('SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '0'))
      await redis.set('one more', '1').catch(() => {})
      await waitUntil('it is evicted', async () => (await other.find(id)) === undefined)
      await waitUntil('it is forgotten', async () => !recalls(store, id))
    })

    it.each(['FLUSHALL', 'FLUSHDB'])('forgets all of them at %s, and goes on', async (command) => {
      const ids = [await cachedRecord(store), await cachedRecord(store)]
      await redis.call(command)
      await waitUntil('they are forgotten', async () => !ids.some((id) => recalls(store, id)), 0.9)
      await cachedRecord(store)
    })

    it('has forgotten a record once its own removal or save is done', async () => {
      const proxy = await proxied()
      const own = open({ url: proxy.url, cache })
      const [removed, saved] = [await cachedRecord(own, other), await cachedRecord(own, other)]
      proxy.hold('news')
      const found = await other.find(saved)
      await own.remove(removed)
      if (found !== undefined) await save(own, version(found.authorization), found)
      expect([recalls(own, removed), recalls(own, saved)]).toEqual([false, false])
      proxy.release('news')
    })

    it('keeps nothing that was read before a change, if the answer comes after the news of it', async () => {
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
      await isForgotten(own, mark, known)
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
      await isForgotten(own, id, known)
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
      const { accessTokens } = active(inSeconds(600))
      const counter = approved(inSeconds(600), { accessTokens })
      await save(other, version(counter))
      await isCached(own, counter.id)
      proxy.hold('news')
      await commit(other, counter.id, oneMoreFailure, secureRandom)
      expect(await commit(own, counter.id, oneMoreFailure, secureRandom)).toBe(counter.code.failures + 2)
      proxy.release('news')
    })

    it('loses no change that several processes with a cache commit', async () => {
      const writers = [store, other, open({ cache })]
      const counter = approved(inSeconds(600), { accessTokens: active(inSeconds(600)).accessTokens })
      await save(other, version(counter))
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
      if (record !== undefined) await save(neighbour, record)
      await neighbour.remove(id)
      await setTimeout(50)
      expect(recalls(store, id)).toBe(true)
    })

    it('leaves Redis alone while nobody asks', async () => {
      await cachedRecord(store)
      await setTimeout(600)
      const commands = async () => /total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1]
      const before = Number(await commands())
      await setTimeout(1000)
      expect(Number(await commands()) - before).toBe(1)
    })
  })

  describe('that cannot be', () => {
    it.each<[string, unknown, readonly string[]]>([
      ['no object', 100, ['cache must be an object.']],
      ['true', true, ['cache must be an object.']],
      ['without a maximum', {}, ['cache.maximum is missing: it must be a whole number from 1 to 100000.']],
      ['of none', { maximum: 0 }, ['cache.maximum must be a whole number from 1 to 100000.']],
      ['of too many', { maximum: 100_001 }, ['cache.maximum must be a whole number from 1 to 100000.']],
      ['of a text', { maximum: '10' }, ['cache.maximum must be a whole number from 1 to 100000.']],
      ['of a part', { maximum: 1.5 }, ['cache.maximum must be a whole number from 1 to 100000.']],
      [
        'misspelt',
        { maximum: 1, maximun: 2 },
        ['cache.maximun is not known here; the known names are maximum.'],
      ],
    ])('is refused: %s', (_what, wrong, mistakes) => {
      expect(mistakesOf({ url: server.url, cache: wrong })).toEqual(mistakes)
    })

    it('is refused with a client of the host, beside every other mistake', () => {
      expect(mistakesOf({ client: {}, cache: { maximum: -1 } })).toEqual([
        'client must have the function call, as the clients of ioredis have.',
        'cache.maximum must be a whole number from 1 to 100000.',
        'cache needs connections of the store itself: give url in place of client.',
      ])
    })
  })

  describe('where Redis refuses what it needs', () => {
    const limited = async (...rules: readonly string[]): Promise<RedisStore> => {
      const name = `limited${Math.random()}`
      await redis.call('ACL', 'SETUSER', name, 'on', '>secret', '~*', '&*', '+@all', ...rules)
      return open({ cache, url: server.url.replace('//', `//${name}:secret@`) })
    }

    it.each([
      ['CLIENT TRACKING', ['-client|tracking']],
      ['its channel', ['resetchannels']],
      ['writes', ['-set']],
    ])('works without it and says so: %s', async (_refused, rules) => {
      const own = await limited(...rules)
      const id = await savedRecord(other)
      await other.find(id)
      const [caution, ...more] = await own.check()
      expect([caution?.code, more]).toEqual(['EAS_REDIS_TRACKING', []])
      expect(caution?.message).toMatch('NOPERM')
      expect(await own.find(id)).toBeDefined()
      expect(recalls(own, id)).toBe(false)
    })

    it('does not go on asking for it all the time', async () => {
      const own = await limited('-client|tracking')
      await own.check()
      const connections = async () => /total_connections_received:(\d+)/.exec(await redis.info('stats'))?.[1]
      const before = Number(await connections())
      await setTimeout(2500)
      expect(Number(await connections()) - before).toBeLessThanOrEqual(2)
    })

    it('works without it and says so when Redis accepts everything and tells of nothing', async () => {
      // As a proxy of a hoster may: here the names of keys are not those that were agreed on.
      const own = open({ cache, url: `${server.url}?keyPrefix=other:` })
      const id = await savedRecord(own)
      expect((await own.check()).map(({ code }) => code)).toEqual(['EAS_REDIS_TRACKING'])
      await own.find(id)
      expect(recalls(own, id)).toBe(false)
    })

    it('finds nothing to say where Redis does it', async () => {
      expect(await store.check()).toEqual([])
    })
  })

  it('close() ends both connections, once and for all', async () => {
    const connections = async () =>
      String(await redis.client('LIST'))
        .trim()
        .split('\n').length
    const before = await connections()
    const own = open({ cache })
    const id = await cachedRecord(own)
    expect(await connections()).toBe(before + 2)
    await own.close()
    expect(recalls(own, id)).toBe(false)
    await waitUntil('the connections are gone', async () => (await connections()) === before)
    await setTimeout(300)
    expect(await connections()).toBe(before)
    await expect(own.close()).resolves.toBeUndefined()
  })

  it('may begin and end without Redis, and leaves nothing behind', () => {
    const program = `
      const { redisStore } = require('./lib/index')
      const store = redisStore({ url: 'redis://127.0.0.1:1', cache: { maximum: 10 } })
      store.find('an id').catch(() => {})
      setTimeout(() => store.close().then(() => console.log('closed')), 500)`
    expect(runInNode(program)).toEqual({ status: 0, output: 'closed\n' })
  })
})

function mistakesOf(options: unknown): readonly string[] {
  try {
    redisStore(Object(options))
  } catch (error) {
    if (error instanceof ConfigurationError)
      return error.mistakes.map(({ path, problem }) => `${path} ${problem}`)
  }
  return []
}
