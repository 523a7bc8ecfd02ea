import { type Cluster, Redis } from 'ioredis'
import { redisStore, type RedisStore } from '../../lib/stores/redis/redis-store'
import type { RedisServer } from '../support/redis-server'
import { withRedis, withRedisCluster } from '../support/with-redis'
import { startReplyLosingProxy } from '../support/stores/reply-losing-proxy'
import { clientObjectsContract } from './client-objects-contract'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { clientRegistryContract } from '../../lib/testing/index'

const photos = { client_id: 'photos', client_type: 'public', scope: 'a' } as const
const more = { ...photos, description: 'more' }

describe('clients on one Redis', () => {
  let redis: Redis
  let server: RedisServer
  withRedis((started) => {
    redis = started.client
    server = started.server
  })

  const open = () => redisStore({ client: redis, prefix: uniquePrefix() }).clients
  clientRegistryContract('keep the contract', () => ({ clients: open() }))
  clientObjectsContract('keep objects', open)

  it('are one hash under the prefix, a field for each client, which never expires', async () => {
    const prefix = uniquePrefix()
    const { clients } = redisStore({ client: redis, prefix })
    await clients.add(photos)
    await clients.add({ ...photos, client_id: 'other' })
    expect(await redis.keys(`${prefix}*`)).toEqual([`${prefix}clients`])
    expect(await redis.ttl(`${prefix}clients`)).toBe(-1)
    const value = await redis.hget(`${prefix}clients`, 'photos')
    expect(value?.slice(0, 22)).toMatch(/^[A-Za-z0-9_-]{22}$/)
    expect(JSON.parse(value?.slice(22) ?? '')).toEqual(photos)
  })

  it('take no part of the space of other servers on the same Redis', async () => {
    const [one, other] = [uniquePrefix(), uniquePrefix()].map((prefix) =>
      redisStore({ client: redis, prefix }),
    )
    await one?.clients.add(photos)
    expect(await other?.clients.find('photos')).toBeUndefined()
  })

  it('are seen by another process at once, and lose none of the changes that both make', async () => {
    const options = { url: server.url, prefix: uniquePrefix() }
    const stores: readonly [RedisStore, RedisStore] = [redisStore(options), redisStore(options)]
    try {
      const [{ clients: one }, { clients: other }] = stores
      await one.add(photos)
      expect(await other.find('photos')).toEqual(photos)
      await one.update('photos', () => more)
      expect(await other.find('photos')).toEqual(more)
      const counted = Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? one : other).update('photos', (now) => ({ ...now, scope: `${now.scope}a` })),
      )
      await Promise.all(counted)
      expect((await one.find('photos'))?.scope).toBe('a'.repeat(21))
    } finally {
      await Promise.all(stores.map((store) => store.close()))
    }
  })

  it('do not grow the memory of a process without end, and are found beyond what it keeps', async () => {
    const { clients } = redisStore({ client: redis, prefix: uniquePrefix() })
    const ids = Array.from({ length: 1100 }, (_, n) => `client ${n}`)
    await Promise.all(ids.map((client_id) => clients.add({ ...photos, client_id })))
    const first = await clients.find('client 0')
    expect(await clients.find('client 0')).toBe(first)
    for (const id of ids) expect((await clients.find(id))?.client_id).toBe(id)
    // A process keeps 1000 clients: it has read the first one anew, and still has the last 1000.
    const again = await clients.find('client 0')
    expect(again).toEqual(first)
    expect(again).not.toBe(first)
    const last = await clients.find('client 1099')
    expect(await clients.find('client 1099')).toBe(last)
  })

  it.each([
    ['no JSON', 'x'.repeat(22) + '{"client_secret_hashes":["sha256:digest'],
    ['no registration', `${'x'.repeat(22)}[1]`],
    ['nothing', ''],
  ])('reject with a text that quotes nothing when the stored value is %s', async (_what, value) => {
    const prefix = uniquePrefix()
    await redis.hset(`${prefix}clients`, 'photos', value)
    const { clients } = redisStore({ client: redis, prefix })
    const refusal = 'The stored text is no registration of a client.'
    await expect(clients.find('photos')).rejects.toThrow(refusal)
    await expect(clients.list()).rejects.toThrow(refusal)
    await expect(clients.update('photos', () => more)).rejects.toThrow(refusal)
  })

  it.each([undefined, {}, 'OK', 7])('reject when a client answers a write with %p', async (answer) => {
    const client = { call: async (command: string) => (command === 'HGET' ? null : answer) }
    await expect(redisStore({ client }).clients.add(photos)).rejects.toThrow('something other')
  })

  it.each([{}, 7, ['x']])('reject when a client answers a read with %p', async (answer) => {
    const { clients } = redisStore({ client: { call: async () => answer } })
    await expect(clients.find('photos')).rejects.toThrow('something other than text')
    await expect(clients.list()).rejects.toThrow(/something other than|no registration/)
  })

  it('give up a change under which the client moves all the time', async () => {
    const answers: Record<string, unknown> = { HGET: `${'x'.repeat(22)}{"client_id":"photos"}`, EVALSHA: 0 }
    const { clients } = redisStore({ client: { call: async (command) => answers[command] } })
    await expect(clients.update('photos', () => more)).rejects.toThrow('in each of 100 rounds')
  })

  it('count a write as done whose reply was lost, and do it once', async () => {
    const proxy = await startReplyLosingProxy(server.port)
    const lossy = new Redis(proxy.url, { maxRetriesPerRequest: 2 })
    lossy.on('error', () => {})
    try {
      const { clients } = redisStore({ client: lossy, prefix: uniquePrefix() })
      await lossy.ping()
      proxy.loseNextReply()
      expect(await clients.add(photos)).toBe(true)
      await clients.update('photos', (now) => ({ ...now, scope: 'b' }))
      const change = jest.fn((now: typeof photos | object) => ({ ...photos, ...now, scope: 'c' }))
      await clients.find('photos')
      let reads = 0
      const loseTheWrite = (now: object) => {
        if (reads++ === 0) proxy.loseNextReply()
        return change(now)
      }
      expect(await clients.update('photos', loseTheWrite)).toMatchObject({ scope: 'c' })
      expect(change).toHaveBeenCalledTimes(1)
      expect(proxy.lostReplies()).toBe(2)
    } finally {
      lossy.disconnect()
      await proxy.stop()
    }
  })

  it.each(['HSETNX', 'EVALSHA'])('look once more when %s rejects after it was carried out', async (lost) => {
    const state = { failing: false }
    const client = {
      call: async (command: string, ...words: string[]) => {
        const answer: unknown = await redis.call(command, ...words)
        if (command !== lost || !state.failing) return answer
        state.failing = false
        throw new Error('Command timed out')
      },
    }
    const { clients } = redisStore({ client, prefix: uniquePrefix() })
    state.failing = lost === 'HSETNX'
    expect(await clients.add(photos)).toBe(true)
    await clients.update('photos', (now) => ({ ...now, scope: 'b' }))
    state.failing = lost === 'EVALSHA'
    expect(await clients.update('photos', () => more)).toEqual(more)
    expect(await clients.list()).toEqual([more])
  })
})

describe('clients on a cluster of three masters', () => {
  let redis: Cluster
  withRedisCluster((started) => {
    redis = started.client
  })

  const open = () => redisStore({ client: redis, prefix: uniquePrefix() }).clients
  clientRegistryContract('keep the contract', () => ({ clients: open() }))
  clientObjectsContract('keep objects', open)
})
