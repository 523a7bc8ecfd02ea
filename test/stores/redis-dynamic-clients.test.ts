import { Cluster, Redis } from 'ioredis'
import { memoryDynamicClients } from '../../lib/stores/memory-dynamic-clients'
import { redisStore } from '../../lib/stores/redis/redis-store'
import type { RedisCommands } from '../../lib/stores/redis/commands'
import { dynamicClientStoreContract, type DynamicClientsUnderTest } from '../../lib/testing/index'
import { Clock } from '../support/flows/clock'
import { startRedisCluster, type RedisCluster } from '../support/redis-cluster'
import type { RedisServer } from '../support/redis-server'
import { startReplyLosingProxy } from '../support/stores/reply-losing-proxy'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { withRedis } from '../support/with-redis'

const notes = {
  registration: { client_id: 'notes', client_type: 'public', scope: 'a' },
  issuedAt: 1,
  secretExpiries: [],
  registrationTokenDigest: undefined,
} as const

/** A store for the contract. Its time passes in the lifetimes that Redis counts down, and in the set of all ends. */
function underTest(client: RedisCommands, masters: () => readonly Redis[]): DynamicClientsUnderTest {
  const prefix = uniquePrefix()
  return {
    clients: redisStore({ client, prefix }).dynamicClients,
    advance: async (seconds) => {
      for (const master of masters())
        for (const key of await master.keys(`${prefix}*`)) await letPass(master, key, seconds * 1000)
    },
  }
}

async function letPass(master: Redis, key: string, milliseconds: number): Promise<void> {
  const left = await master.pttl(key)
  if (left >= 0) await master.pexpire(key, left - milliseconds)
  else
    for (const id of await master.zrange(key, '0', '-1')) await master.zincrby(key, String(-milliseconds), id)
}

dynamicClientStoreContract('dynamic clients in memory keep the contract', () => {
  const clock = new Clock()
  return {
    clients: memoryDynamicClients({ clock: clock.read }),
    advance: (seconds) => clock.advance(seconds),
  }
})

describe('dynamic clients on one Redis', () => {
  let redis: Redis
  let server: RedisServer
  withRedis((started) => {
    redis = started.client
    server = started.server
  })

  dynamicClientStoreContract('keep the contract', () => underTest(redis, () => [redis]))

  it('are one key each, which expires, and one set of their ends', async () => {
    const prefix = uniquePrefix()
    const { dynamicClients } = redisStore({ client: redis, prefix })
    await dynamicClients.add(notes, 60, 10)
    expect((await redis.keys(`${prefix}*`)).toSorted()).toEqual([
      `${prefix}{dynamic-clients}`,
      `${prefix}{dynamic-clients}:notes`,
    ])
    const value = await redis.get(`${prefix}{dynamic-clients}:notes`)
    expect(value?.slice(0, 22)).toMatch(/^[A-Za-z0-9_-]{22}$/)
    expect(JSON.parse(value?.slice(22) ?? '')).toEqual({ ...notes, registrationTokenDigest: undefined })
    const left = await redis.pttl(`${prefix}{dynamic-clients}:notes`)
    const ends = Number(await redis.zscore(`${prefix}{dynamic-clients}`, 'notes'))
    expect(left).toBeLessThanOrEqual(60_000)
    const [seconds = 0, micros = 0] = (await redis.time()).map(Number)
    expect(Math.abs(ends - left - seconds * 1000 - micros / 1000)).toBeLessThan(1000)
  })

  it('stay the same object while the stored text does, and are read anew after a change', async () => {
    const [one, other] = [0, 1].map(() => redisStore({ client: redis, prefix: 'same:' }).dynamicClients)
    await one?.add(notes, 60, 10)
    const found = await one?.find('notes')
    expect(await one?.find('notes')).toBe(found)
    await other?.update('notes', (now) => ({ ...now, issuedAt: 2 }))
    expect((await one?.find('notes'))?.issuedAt).toBe(2)
  })

  it.each([
    ['no JSON', 'x'.repeat(22) + '{"registrationTokenDigest":"digest'],
    ['another thing', `${'x'.repeat(22)}[1]`],
    ['nothing', ''],
  ])(
    'that are %s are a failure of the store, whose message holds nothing of the text',
    async (_what, text) => {
      const prefix = uniquePrefix()
      await redis.set(`${prefix}{dynamic-clients}:notes`, text)
      const failure = await redisStore({ client: redis, prefix })
        .dynamicClients.find('notes')
        .catch((error: unknown) => String(error))
      expect(failure).toBe('Error: The stored text is no client that registered itself.')
    },
  )

  it('count a write as done whose reply was lost, and do it once', async () => {
    const proxy = await startReplyLosingProxy(server.port)
    const lossy = new Redis(proxy.url, { maxRetriesPerRequest: 2 })
    lossy.on('error', () => {})
    try {
      const { dynamicClients } = redisStore({ client: lossy, prefix: uniquePrefix() })
      await lossy.ping()
      proxy.loseNextReply()
      expect(await dynamicClients.add(notes, 60, 1)).toMatchObject({ issuedAt: 1 })
      await dynamicClients.update('notes', (now) => ({ ...now, issuedAt: 2 }))
      let reads = 0
      const changed = await dynamicClients.update('notes', (now) => {
        if (reads++ === 0) proxy.loseNextReply()
        return { ...now, issuedAt: now.issuedAt + 1 }
      })
      expect([changed?.issuedAt, reads, proxy.lostReplies()]).toEqual([3, 1, 2])
    } finally {
      lossy.disconnect()
      await proxy.stop()
    }
  })
})

describe('dynamic clients on a cluster', () => {
  let cluster: RedisCluster
  let client: Cluster
  let masters: Redis[]
  beforeAll(async () => {
    cluster = await startRedisCluster()
    client = new Cluster(cluster.nodes)
    masters = cluster.servers.map(({ url }) => new Redis(url))
  })
  afterAll(async () => {
    client.disconnect()
    for (const master of masters) master.disconnect()
    await cluster.stop()
  })

  dynamicClientStoreContract('keep the contract', () => underTest(client, () => masters))
})
