import { Cluster, Redis } from 'ioredis'
import { commit } from '../../lib/authorization/commit'
import { secureRandom } from '../../lib/protocol/credential'
import { describeAddress } from '../../lib/stores/redis/connection'
import { redisStore, type RedisStore } from '../../lib/stores/redis/redis-store'
import {
  approvedRecord,
  findRecord,
  inSeconds,
  random22,
  saveRecord,
  threeVersions,
  version,
} from '../../lib/testing/example-records'
import { authorizationStoreContract } from '../../lib/testing/index'
import { oneMoreFailure, rivals } from '../../lib/testing/race-rules'
import { type RedisSentinel, startRedisSentinel } from '../support/redis-sentinel'
import { type RedisServer, startRedis } from '../support/redis-server'
import { redisUnderTest, uniquePrefix } from '../support/stores/redis-under-test'
import { waitUntil } from '../support/wait-until'
import { withRedis, withRedisCluster } from '../support/with-redis'

describe('redisStore on one server', () => {
  let client: Redis
  let server: RedisServer
  withRedis((started) => {
    client = started.client
    server = started.server
  })

  authorizationStoreContract('keeps the contract over a client of the host', async () =>
    redisUnderTest({ client }, () => [client]),
  )

  authorizationStoreContract('keeps the contract over a connection of its own', async () =>
    redisUnderTest({ url: server.url }, () => [client]),
  )

  authorizationStoreContract('keeps the contract with a cache', async () =>
    redisUnderTest({ url: server.url, cache: { maximum: 10 } }, () => [client]),
  )

  authorizationStoreContract('keeps the contract over a client of another make', async () => {
    const nodeRedis = { sendCommand: ([name = '', ...rest]: string[]) => client.call(name, ...rest) }
    const adapter = { call: (...words: string[]) => nodeRedis.sendCommand(words) }
    return redisUnderTest({ client: adapter }, () => [client])
  })

  describe('used by two processes', () => {
    let stores: readonly [RedisStore, RedisStore]
    beforeEach(() => {
      const options = { url: server.url, prefix: uniquePrefix() }
      stores = [redisStore(options), redisStore(options)]
    })
    afterEach(() => Promise.all(stores.map((store) => store.close())))

    it('lets one of 50 creations succeed, and both find its record', async () => {
      const id = random22()
      const attempts = rivals(50, id)
      const successes = await Promise.all(
        attempts.map((attempt, n) => saveRecord(stores[n % 2 ? 1 : 0], attempt)),
      )
      const winners = attempts.filter((_, writer) => successes[writer])
      expect(winners).toHaveLength(1)
      expect(await Promise.all(stores.map((store) => store.find(id)))).toEqual([winners[0], winners[0]])
    })

    it('lets one of 50 saves on one revision succeed, and both find its record', async () => {
      const [first] = threeVersions()
      await saveRecord(stores[0], first)
      const attempts = rivals(50, first.authorization.id)
      const successes = await Promise.all(
        attempts.map((attempt, n) => saveRecord(stores[n % 2 ? 1 : 0], attempt, first)),
      )
      const winners = attempts.filter((_, writer) => successes[writer])
      expect(winners).toHaveLength(1)
      expect(await Promise.all(stores.map((store) => findRecord(store, first)))).toEqual([
        winners[0],
        winners[0],
      ])
    })

    it('loses none of the changes that both commit', async () => {
      const counter = approvedRecord(inSeconds(600))
      await saveRecord(stores[0], version(counter))
      const changes = [0, 1, 0, 1, 0, 1, 0, 1] as const
      await Promise.all(changes.map((n) => commit(stores[n], counter.id, oneMoreFailure, secureRandom)))
      const found = await stores[0].find(counter.id)
      expect(found?.authorization).toEqual({
        ...counter,
        code: { ...counter.code, failures: counter.code.failures + 8 },
      })
    })
  })
})

describe('redisStore on a cluster of three masters', () => {
  let client: Cluster
  withRedisCluster((started) => {
    client = started.client
  })

  authorizationStoreContract('keeps the contract', async () =>
    redisUnderTest({ client }, () => client.nodes('master')),
  )

  it('spreads its records over all of them', async () => {
    const prefix = uniquePrefix()
    const store = redisStore({ client, prefix })
    await Promise.all(Array.from({ length: 60 }, () => saveRecord(store, threeVersions()[0])))
    const keys = await Promise.all(client.nodes('master').map((master) => master.keys(`${prefix}*`)))
    expect(keys.flat()).toHaveLength(60)
    expect(keys.filter((some) => some.length > 0)).toHaveLength(3)
  })
})

describe('redisStore behind Sentinel', () => {
  let sentinel: RedisSentinel
  let client: Redis
  beforeAll(async () => {
    sentinel = await startRedisSentinel()
    client = new Redis({ sentinels: [sentinel.sentinel], name: sentinel.masterName })
    client.on('error', () => {})
  })
  afterAll(async () => {
    client.disconnect()
    await sentinel.stop()
  })

  authorizationStoreContract('keeps the contract', async () => redisUnderTest({ client }, () => [client]))

  it('finds and moves on after a failover what was saved and replicated before', async () => {
    const store = redisStore({ client, prefix: uniquePrefix() })
    const [first, second] = threeVersions()
    await saveRecord(store, first)
    expect(await client.wait(1, 5000)).toBe(1)
    await sentinel.master.kill('SIGKILL')
    await waitUntil('the replica has taken over', () =>
      saveRecord(store, second, first).then(
        (saved) => saved,
        () => false,
      ),
    )
    expect(await findRecord(store, first)).toEqual(second)
  })
})

describe('redis store clients', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.stop())

  test('a client that answers numbers as text saves once, and a wrong revision is still refused', async () => {
    const client = new Redis(server.url, { stringNumbers: true })
    const store = redisStore({ client, prefix: 'text-numbers:' })
    const [first, second, third] = threeVersions()
    await expect(saveRecord(store, first)).resolves.toBe(true)
    await expect(saveRecord(store, second)).resolves.toBe(false)
    await expect(saveRecord(store, second, first)).resolves.toBe(true)
    await expect(saveRecord(store, third, first)).resolves.toBe(false)
    client.disconnect()
  })

  test('a client that answers something other than text rejects, and does not look like an empty store', async () => {
    const client = new Redis(server.url)
    const call = (command: string, ...words: string[]) => client.callBuffer(command, words)
    const store = redisStore({ client: { call }, prefix: 'buffers:' })
    const [first] = threeVersions()
    await saveRecord(store, first)
    await expect(store.find(first.authorization.id)).rejects.toThrow('something other than text')
    client.disconnect()
  })

  test('a client that answers a script with neither 0 nor 1 rejects, and does not pass for a conflict', async () => {
    const store = redisStore({ client: { call: async () => 'QUEUED' } })
    const [first, second] = threeVersions()
    await expect(saveRecord(store, first)).rejects.toThrow('something other than a whole number')
    await expect(saveRecord(store, second, first)).rejects.toThrow('something other than 0 or 1')
  })
})

const secret = 'hunter2'
const lazy = { lazyConnect: true }

describe('the place of Redis, as messages say it', () => {
  it.each<[string, object]>([
    ['Redis at redis.example:6380', new Redis(`rediss://admin:${secret}@redis.example:6380/3`, lazy)],
    ['Redis at localhost:6379', new Redis({ ...lazy, password: secret })],
    ['Redis at /run/redis.sock', new Redis({ ...lazy, path: '/run/redis.sock', password: secret })],
    [
      'Redis tokens behind the sentinels a:26379, b:6379',
      new Redis({
        ...lazy,
        name: 'tokens',
        sentinels: [{ host: 'a', port: 26_379 }, { host: 'b' }],
        sentinelPassword: secret,
      }),
    ],
    [
      'Redis Cluster at a:7000, b:7001, localhost:7002',
      new Cluster([{ host: 'a', port: 7000 }, `redis://:${secret}@b:7001`, 7002], lazy),
    ],
    ['Redis', { call: async () => null }],
    ['Redis', { call: async () => null, options: { socket: { host: 'a' }, password: secret } }],
  ])('is %s', (place, client) => {
    expect(describeAddress(client)).toBe(place)
  })
})
