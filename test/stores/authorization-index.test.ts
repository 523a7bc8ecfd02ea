import type { Cluster, Redis } from 'ioredis'
import { memoryStore, redisStore } from '../../lib/index'
import { authorizationIndexContract } from '../../lib/testing/index'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { withRedis, withRedisCluster } from '../support/with-redis'

authorizationIndexContract('The index of memoryStore keeps the contract', () => {
  let now = 1_800_000_000_000
  return {
    index: memoryStore({ clock: () => now }).index,
    advance: (seconds) => {
      now += seconds * 1000
    },
  }
})

describe('The index of redisStore on one server', () => {
  let client: Redis
  withRedis((started) => {
    client = started.client
  })

  authorizationIndexContract('keeps the contract', () => ({
    index: redisStore({ client, prefix: uniquePrefix() }).index,
  }))

  it('keeps one key for each owner, which expires with the last entry', async () => {
    const prefix = uniquePrefix()
    const { index } = redisStore({ client, prefix })
    const add = (clientId: string, seconds: number) =>
      index.add('owner', { authorizationId: clientId.padEnd(22, '-'), clientId }, { seconds, age: 0 })
    await add('long', 600)
    await add('short', 60)
    expect(await client.keys(`${prefix}*`)).toEqual([`${prefix}index:owner`])
    const left = await client.pttl(`${prefix}index:owner`)
    expect(left).toBeGreaterThan(500_000)
    expect(left).toBeLessThanOrEqual(600_000)
  })
})

describe('The index of redisStore on a cluster', () => {
  let cluster: Cluster
  withRedisCluster((started) => {
    cluster = started.client
  })

  authorizationIndexContract('keeps the contract', () => ({
    index: redisStore({ client: cluster, prefix: uniquePrefix() }).index,
  }))
})
