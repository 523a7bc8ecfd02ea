import type { Cluster, Redis } from 'ioredis'
import { redisStore } from '../../lib/index'
import { keyStoreContract } from '../../lib/testing/index'
import { memoryKeys } from '../support/stores/waiting-keys'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { withRedis, withRedisCluster } from '../support/with-redis'

keyStoreContract('The keys of memoryStore keep the contract', async () => ({
  keys: memoryKeys(),
  advance: () => {},
}))

describe('The keys of redisStore on one server', () => {
  let client: Redis
  withRedis((started) => {
    client = started.client
  })

  keyStoreContract('keep the contract', async () => ({
    keys: redisStore({ client, prefix: uniquePrefix() }).keys,
  }))

  it('never expire', async () => {
    const prefix = uniquePrefix()
    await redisStore({ client, prefix }).keys.save('name', 'text', 'r'.repeat(22))
    expect(await client.pttl(`${prefix}keys:name`)).toBe(-1)
  })
})

describe('The keys of redisStore on a cluster', () => {
  let cluster: Cluster
  withRedisCluster((started) => {
    cluster = started.client
  })

  keyStoreContract('keep the contract', async () => ({
    keys: redisStore({ client: cluster, prefix: uniquePrefix() }).keys,
  }))
})
