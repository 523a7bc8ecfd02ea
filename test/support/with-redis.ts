import { Cluster, Redis } from 'ioredis'
import { type RedisCluster, startRedisCluster } from './redis-cluster'
import { startRedis, type RedisServer, type RedisServerOptions } from './redis-server'

/** Starts a Redis before the first test of a group and stops it after the last; hands over the server and a client. */
export function withRedis(
  begin: (started: { readonly server: RedisServer; readonly client: Redis }) => void,
  options: RedisServerOptions = {},
): void {
  const started = { stop: async () => {} }
  beforeAll(async () => {
    const server = await startRedis(options)
    const client = new Redis(server.url)
    started.stop = async () => {
      client.disconnect()
      await server.stop()
    }
    begin({ server, client })
  })
  afterAll(() => started.stop())
}

/** Starts a cluster of three masters before the first test of a group and stops it after the last; hands over both. */
export function withRedisCluster(
  begin: (started: { readonly cluster: RedisCluster; readonly client: Cluster }) => void,
): void {
  const started = { stop: async () => {} }
  beforeAll(async () => {
    const cluster = await startRedisCluster()
    const client = new Cluster(cluster.nodes)
    started.stop = async () => {
      client.disconnect()
      await cluster.stop()
    }
    begin({ cluster, client })
  })
  afterAll(() => started.stop())
}
