import { Cluster } from 'ioredis'
import { startRedisCluster, type RedisCluster } from './redis-cluster'

describe('a Redis cluster', () => {
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

  test('calls its state ok', async () => {
    expect(await client.cluster('INFO')).toContain('cluster_state:ok')
  })

  test('keeps what it is given, and spreads it over its three masters', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    await Promise.all(keys.map((key) => client.set(key, `value of ${key}`)))
    expect(await Promise.all(keys.map((key) => client.get(key)))).toEqual(
      keys.map((key) => `value of ${key}`),
    )
    const sizes = await Promise.all(client.nodes('master').map((node) => node.dbsize()))
    expect(sizes.filter((size) => size > 0)).toHaveLength(3)
  })
})
