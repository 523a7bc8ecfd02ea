import { type Cluster, type Redis } from 'ioredis'
import { redisStore } from '../../lib/index'
import { redisCounters } from '../../lib/stores/redis/redis-counters'
import type { RedisCommands } from '../../lib/stores/redis/redis-commands'
import type { RedisServer } from '../support/redis-server'
import { startReplyLosingProxy } from '../support/stores/reply-losing-proxy'
import { withRedis, withRedisCluster } from '../support/with-redis'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { countersContract } from '../../lib/testing/index'

const openOn = (client: () => RedisCommands) => async () => ({
  counters: redisCounters(client(), uniquePrefix()),
})

describe('redisCounters on one server', () => {
  let client: Redis
  withRedis((started) => {
    client = started.client
  })

  countersContract(
    'keep the contract',
    openOn(() => client),
  )

  it('find that they have won when a command is sent again after its reply was lost', async () => {
    const prefix = uniquePrefix()
    const twice: RedisCommands = {
      call: async (...words) => {
        await client.call(...words)
        return client.call(...words)
      },
    }
    expect(await redisCounters(twice, prefix).useOnce('once', 60)).toBe(true)
    expect(await redisCounters(client, prefix).useOnce('once', 60)).toBe(false)
  })

  it('leave keys that expire by themselves, and nothing when a count is taken back', async () => {
    const prefix = uniquePrefix()
    const counters = redisCounters(client, prefix)
    await counters.add('a', 1, 60)
    await counters.useOnce('b', 60)
    await counters.add('c', 1, 60)
    await counters.add('c', -1, 60)
    const keys = await client.keys(`${prefix}*`)
    expect(keys.toSorted()).toEqual([`${prefix}count:a`, `${prefix}spent:b`])
    for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(50_000)
  })

  it.each([['OK'], [['x', 1]], [{}]])('take the reply %j for a failure', async (reply) => {
    const counters = redisCounters({ call: async () => reply }, '')
    await expect(counters.add('a', 1, 60)).rejects.toThrow('something other than two numbers')
    await expect(counters.useOnce('a', 60)).rejects.toThrow('something other than 0 or 1')
  })
})

describe('The counters of redisStore over a connection of its own', () => {
  let server: RedisServer
  let client: Redis
  withRedis((started) => {
    server = started.server
    client = started.client
  })

  it('count an attempt once at most, though the reply was lost with its connection', async () => {
    const prefix = uniquePrefix()
    const proxy = await startReplyLosingProxy(server.port)
    const store = redisStore({ url: proxy.url, prefix })
    await store.counters.add('known', 1, 60)
    proxy.loseNextReply()
    await expect(store.counters.add('lost', 1, 60)).rejects.toBeInstanceOf(Error)
    expect(proxy.lostReplies()).toBe(1)
    // What was sent again would arrive before this.
    expect(await store.counters.add('lost', 1, 60)).toMatchObject({ count: 2 })
    expect(await client.get(`${prefix}count:lost`)).toBe('2')
    await store.close()
    await proxy.stop()
  })
})

describe('redisCounters on a cluster of three masters', () => {
  let client: Cluster
  withRedisCluster((started) => {
    client = started.client
  })

  countersContract(
    'keep the contract',
    openOn(() => client),
  )
})
