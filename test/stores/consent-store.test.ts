import type { Cluster, Redis } from 'ioredis'
import { memoryStore, redisStore } from '../../lib/index'
import { consentStoreContract } from '../../lib/testing/index'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { withRedis, withRedisCluster } from '../support/with-redis'

consentStoreContract('The consents of memoryStore keep the contract', () => {
  let now = 1_800_000_000_000
  return {
    consents: memoryStore({ clock: () => now }).consents,
    advance: (seconds) => {
      now += seconds * 1000
    },
  }
})

it('The consents of memoryStore refuse new owners where there is no room, and forget still works', async () => {
  const { consents } = memoryStore({ maximumRecords: 1 })
  const terms = { seconds: 60, age: 0 }
  expect(await consents.remember('one', 'client', 'a', terms)).toBe(true)
  await expect(consents.remember('two', 'client', 'b', terms)).rejects.toThrow(/full/)
  await expect(consents.forget('two', undefined)).rejects.toThrow(/full/)
  await consents.forget('one', undefined)
  expect(await consents.find('one', 'client')).toBeUndefined()
})

describe('The consents of redisStore on one server', () => {
  let client: Redis
  withRedis((started) => {
    client = started.client
  })

  consentStoreContract('keep the contract', () => ({
    consents: redisStore({ client, prefix: uniquePrefix() }).consents,
  }))

  it('are one key for each owner, which expires with the last consent', async () => {
    const prefix = uniquePrefix()
    const { consents } = redisStore({ client, prefix })
    await consents.remember('owner', 'long', 'text', { seconds: 6000, age: 0 })
    await consents.remember('owner', 'short', 'text', { seconds: 60, age: 0 })
    await consents.forget('owner', 'short')
    expect(await client.keys(`${prefix}*`)).toEqual([`${prefix}consents:owner`])
    const left = await client.pttl(`${prefix}consents:owner`)
    expect(left).toBeGreaterThan(5_900_000)
    expect(left).toBeLessThanOrEqual(6_000_000)
  })

  it('leave a mark for an hour where everything is forgotten', async () => {
    const prefix = uniquePrefix()
    const { consents } = redisStore({ client, prefix })
    await consents.remember('owner', 'long', 'text', { seconds: 60_000, age: 0 })
    await consents.forget('owner', undefined)
    const left = await client.pttl(`${prefix}consents:owner`)
    expect(left).toBeGreaterThan(3_500_000)
    expect(left).toBeLessThanOrEqual(3_600_000)
  })
})

describe('The consents of redisStore on a cluster', () => {
  let cluster: Cluster
  withRedisCluster((started) => {
    cluster = started.client
  })

  consentStoreContract('keep the contract', () => ({
    consents: redisStore({ client: cluster, prefix: uniquePrefix() }).consents,
  }))
})
