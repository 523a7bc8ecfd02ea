import type { Redis } from 'ioredis'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { ConfigurationError, redisStore, type RedisStore, type RedisStoreOptions } from '../../lib/index'
import type { RedisServer } from '../support/redis-server'
import { cachedRecord, recalls, savedRecord } from '../support/stores/cached-records'
import { runInNode } from '../support/stores/node-program'
import { connectionsOf, statistic } from '../support/stores/redis-statistics'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { waitUntil } from '../support/wait-until'
import { withRedis } from '../support/with-redis'

describe('a cache of redisStore', () => {
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
      ['cache.maximun is not known here. Did you mean maximum? The known names are maximum.'],
    ],
  ])('is refused: %s', (_what, wrong, issues) => {
    expect(mistakesOf({ url: 'redis://localhost', cache: wrong })).toEqual(issues)
  })

  it('is refused with a client of the host, beside every other mistake', () => {
    expect(mistakesOf({ client: {}, cache: { maximum: -1 } })).toEqual([
      'client must have the function call, as the clients of ioredis have.',
      'cache.maximum must be a whole number from 1 to 100000.',
      'cache needs connections of the store itself: give url in place of client.',
    ])
  })
})

describe('redisStore with a cache', () => {
  let server: RedisServer
  let redis: Redis
  withRedis(
    (started) => {
      server = started.server
      redis = started.client
    },
    { own: true },
  )
  let prefix: string
  let stores: RedisStore[]
  let other: RedisStore
  const open = (options: Partial<Extract<RedisStoreOptions, { url: string }>>): RedisStore => {
    const made = redisStore({ url: server.url, prefix, ...options })
    stores.push(made)
    return made
  }
  beforeEach(() => {
    prefix = uniquePrefix()
    stores = []
    other = open({})
  })
  afterEach(() => Promise.all(stores.map((store) => store.close())))

  const cache = { maximum: 100 }
  const limited = async (...rules: readonly string[]): Promise<RedisStore> => {
    const name = `limited${Math.random()}`
    await redis.call('ACL', 'SETUSER', name, 'on', '>secret', '~*', '&*', '+@all', ...rules)
    return open({ cache, url: server.url.replace('//', `//${name}:secret@`) })
  }

  describe('where Redis refuses what it needs', () => {
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
      const before = await statistic(redis, 'total_connections_received')
      await setTimeout(2500)
      expect((await statistic(redis, 'total_connections_received')) - before).toBeLessThanOrEqual(2)
    })

    it('works without it and warns when Redis accepts everything and announces nothing', async () => {
      // As a proxy of a hoster may: here the names of keys are not those that were agreed on.
      const own = open({ cache, url: `${server.url}?keyPrefix=other:` })
      const id = await savedRecord(own)
      expect((await own.check()).map(({ code }) => code)).toEqual(['EAS_REDIS_TRACKING'])
      await own.find(id)
      expect(recalls(own, id)).toBe(false)
    })

    it('needs no more than the page of stores says', async () => {
      const page = readFileSync(join(__dirname, '../../docs/stores.md'), 'utf8')
      const [, named = ''] = /^\| access rules .*`(.+)`/m.exec(page) ?? []
      const rules = named.replaceAll('\\', '').split(' ')
      expect(rules).toContain('+client|tracking')
      // For the store itself, and for the check of ioredis that a server is ready.
      const usual = ['resetchannels', '-@all', '+get', '+evalsha', '+eval', '+del', '+time', '+info']
      const own = await limited(...usual, ...rules)
      expect(await own.check()).toEqual([])
      expect(recalls(own, await cachedRecord(own))).toBe(true)
    })

    it('finds nothing to say where Redis does it', async () => {
      expect(await open({ cache }).check()).toEqual([])
    })
  })

  it('close() ends both connections, once and for all', async () => {
    await other.find('an id')
    const before = 2
    await waitUntil('stores of other tests are gone', async () => (await connectionsOf(redis)) === before)
    const own = open({ cache })
    const id = await cachedRecord(own)
    expect(await connectionsOf(redis)).toBe(before + 2)
    await own.close()
    expect(recalls(own, id)).toBe(false)
    await waitUntil('the connections are gone', async () => (await connectionsOf(redis)) === before)
    await setTimeout(300)
    expect(await connectionsOf(redis)).toBe(before)
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
      return error.issues.map(({ path, message }) => `${path} ${message}`)
  }
  return []
}
