import { Redis } from 'ioredis'
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
