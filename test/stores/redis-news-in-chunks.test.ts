import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Socket } from 'node:net'
import type { Redis } from 'ioredis'
import { redisStore, type RedisStore } from '../../lib/index'
import { isRecord } from '../../lib/primitives/options-reader'
import { cachedRecord, lastRecall } from '../support/stores/cached-records'
import type { RedisServer } from '../support/redis-server'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { withRedis } from '../support/with-redis'

describe('redisStore with a cache, when many records change one after the other,', () => {
  let server: RedisServer
  let redis: Redis
  withRedis(
    (started) => {
      server = started.server
      redis = started.client
    },
    { own: true },
  )
  let prefix: string
  let store: RedisStore
  let chunks = 0
  /** Counts what arrives on connections of this process over which Redis tells of changes. */
  const watch = (message: unknown) => {
    if (!isOfSocket(message)) return
    const { socket } = message
    let isOfNews = false
    const count = (chunk: Buffer) => {
      isOfNews ||= chunk.includes('__redis__:invalidate')
      if (isOfNews) chunks += 1
    }
    socket.once('connect', () => socket.on('data', count))
  }
  beforeEach(() => {
    subscribe('net.client.socket', watch)
    prefix = uniquePrefix()
    store = redisStore({ url: server.url, prefix, cache: { maximum: 10 } })
  })
  afterEach(async () => {
    unsubscribe('net.client.socket', watch)
    await store.close()
  })

  it('reads the news of them at most once a millisecond, and forgets each', async () => {
    const id = await cachedRecord(store)
    const before = chunks
    const start = performance.now()
    for (let change = 0; change < 2000; change++) await redis.set(`${prefix}authorization:${change}`, 'x')
    await redis.del(`${prefix}authorization:${id}`)
    await lastRecall(store, id)
    const milliseconds = performance.now() - start
    expect(chunks).toBeGreaterThan(before)
    // A timer of 2 ms may end 1 ms early, and a busy machine makes it end later.
    expect(chunks - before).toBeLessThanOrEqual(milliseconds + 1)
  })
})

function isOfSocket(message: unknown): message is { readonly socket: Socket } {
  return isRecord(message) && message['socket'] instanceof Socket
}
