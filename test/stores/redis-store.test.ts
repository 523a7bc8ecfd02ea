import { Cluster, Redis } from 'ioredis'
import { commit } from '../../lib/authorization/commit'
import { secureRandom } from '../../lib/protocol/credential'
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
import { describeOwnRedis } from '../support/describe-own-redis'
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster'
import { type RedisSentinel, startRedisSentinel } from '../support/redis-sentinel'
import type { RedisServer } from '../support/redis-server'
import { redisUnderTest, uniquePrefix } from '../support/stores/redis-under-test'
import { waitUntil } from '../support/wait-until'
import { withRedis } from '../support/with-redis'

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

describeOwnRedis('redisStore on a cluster of three masters', () => {
  let cluster: RedisCluster
  let client: Cluster
  beforeAll(async () => {
    cluster = await startRedisCluster()
    client = new Cluster(cluster.nodes)
  })
  afterAll(async () => {
    client.disconnect()
    await cluster.stop()
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

describeOwnRedis('redisStore behind Sentinel', () => {
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
