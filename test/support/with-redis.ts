import { Redis } from 'ioredis'
import { startRedis, type RedisServer } from './redis-server'

/** Starts a Redis before the first test of a group and stops it after the last; hands over the server and a client. */
export function withRedis(
  begin: (started: { readonly server: RedisServer; readonly client: Redis }) => void,
): void {
  const started = { stop: async () => {} }
  beforeAll(async () => {
    const server = await startRedis()
    const client = new Redis(server.url)
    started.stop = async () => {
      client.disconnect()
      await server.stop()
    }
    begin({ server, client })
  })
  afterAll(() => started.stop())
}
