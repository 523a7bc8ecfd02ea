import { setTimeout } from 'node:timers/promises'
import { Cluster, Redis } from 'ioredis'
import { memoryDynamicClients } from '../../lib/stores/memory-dynamic-clients'
import { connectionSettings } from '../../lib/stores/redis/connection'
import { redisStore, type RedisStore } from '../../lib/stores/redis/redis-store'
import type { RedisCommands } from '../../lib/stores/redis/redis-commands'
import { dynamicClientStoreContract, type DynamicClientsUnderTest } from '../../lib/testing/index'
import { type FaultyNetwork, startFaultyNetwork } from '../support/faulty-network'
import { Clock } from '../support/flows/clock'
import { startRedisCluster, type RedisCluster } from '../support/redis-cluster'
import type { RedisServer } from '../support/redis-server'
import { letPass } from '../support/stores/dynamic-clients-time'
import { startReplyLosingProxy } from '../support/stores/reply-losing-proxy'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { withRedis } from '../support/with-redis'

const notes = {
  registration: { client_id: 'notes', client_type: 'public', scope: 'a' },
  issuedAt: 1,
  secretExpiries: [],
  registrationTokenDigest: undefined,
} as const

const addition = { client: notes, lifetime: 60, maximum: 10 }

/** A store for the contract. Its time passes in the lifetimes that Redis counts down, and in the set of all ends. */
function underTest(client: RedisCommands, masters: () => readonly Redis[]): DynamicClientsUnderTest {
  const prefix = uniquePrefix()
  return {
    clients: redisStore({ client, prefix }).dynamicClients,
    advance: async (seconds) => {
      for (const master of masters()) await letPass(master, prefix, seconds)
    },
  }
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

  /** How long an act leaves a mark, from when it ends in Redis at the earliest. */
  const lifetimeOf = async (mark: string, act: () => Promise<unknown>) => {
    const begun = performance.now()
    await act()
    const left = await redis.pttl(mark)
    return { least: left, most: left + performance.now() - begun }
  }

  it('are one key each, which expires, and one set of their ends', async () => {
    const prefix = uniquePrefix()
    const { dynamicClients } = redisStore({ client: redis, prefix })
    await dynamicClients.add(addition)
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
    const gone = Number(await redis.call('PEXPIRETIME', `${prefix}{dynamic-clients}:notes`))
    expect(Math.abs(ends - gone)).toBeLessThan(1000)
  })

  it('stand under the name of their network until they are in use, and leave nothing of it behind', async () => {
    const prefix = uniquePrefix()
    const { dynamicClients } = redisStore({ client: redis, prefix })
    const own = `${prefix}{dynamic-clients}`
    const networkKeys = async () => (await redis.keys(`${own}-*`)).toSorted()
    const unused = { ...addition, network: 'abcd', grace: 10 }
    await dynamicClients.add(unused)
    expect(await networkKeys()).toEqual([`${own}-networks`, `${own}-unused`, `${own}-unused:abcd`])
    await dynamicClients.extend('notes', 120, 120)
    expect(await networkKeys()).toEqual([])
    for (const client_id of ['one', 'two'])
      await dynamicClients.add({
        ...unused,
        client: { ...notes, registration: { ...notes.registration, client_id } },
      })
    await dynamicClients.remove('one')
    await letPass(redis, prefix, 60)
    await dynamicClients.add({
      ...addition,
      client: { ...notes, registration: { ...notes.registration, client_id: 'three' } },
    })
    expect((await networkKeys()).filter((key) => !key.includes('-removed:'))).toEqual([])
  })

  it('give way although a process of version 0.1.0 has swept others of their network', async () => {
    const prefix = uniquePrefix()
    const { dynamicClients } = redisStore({ client: redis, prefix })
    const ofNetwork = (client_id: string, lifetime: number) => ({
      client: { ...notes, registration: { ...notes.registration, client_id } },
      lifetime,
      maximum: 2,
      network: 'abcd',
      grace: 1,
    })
    await dynamicClients.add(ofNetwork('swept', 2))
    await letPass(redis, prefix, 2)
    await redis.zremrangebyscore(`${prefix}{dynamic-clients}`, '-inf', '+inf')
    for (const id of ['first', 'second']) await dynamicClients.add(ofNetwork(id, 60))
    await letPass(redis, prefix, 1)
    expect((await dynamicClients.add(ofNetwork('third', 60))).outcome).toBe('stored')
    const found = await Promise.all(['first', 'second', 'third'].map((id) => dynamicClients.find(id)))
    expect(found.filter((client) => client !== undefined)).toHaveLength(2)
    expect(await redis.zscore(`${prefix}{dynamic-clients}-networks`, 'abcd')).toBe('2')
  })

  it('leave a mark apart from the clients when they are removed, which ends like their tokens', async () => {
    const prefix = uniquePrefix()
    const { dynamicClients } = redisStore({ client: redis, prefix })
    await dynamicClients.add({ ...addition, client: { ...notes, tokenLifetime: 3600 } })
    const mark = `${prefix}{dynamic-clients}-removed:notes`
    const { least, most } = await lifetimeOf(mark, () => dynamicClients.remove('notes'))
    expect(least).toBeLessThan(3_600_000 + 1000)
    expect(most).toBeGreaterThan(3_600_000 - 1000)
    // The version 0.1.0 reads the keys of clients, and finds none.
    expect(await redis.keys(`${prefix}*`)).toEqual([mark])
    expect(await redis.get(mark)).toBe('1')
  })

  it('are clients for which the mark lasts a minute if they are confidential', async () => {
    const prefix = uniquePrefix()
    const { dynamicClients } = redisStore({ client: redis, prefix })
    await dynamicClients.add({
      ...addition,
      client: { ...notes, registrationTokenDigest: 'a' },
      lifetime: 3600,
    })
    const mark = `${prefix}{dynamic-clients}-removed:notes`
    const { least, most } = await lifetimeOf(mark, () => dynamicClients.remove('notes'))
    expect(least).toBeLessThan(60_000 + 1000)
    expect(most).toBeGreaterThan(60_000 - 1000)
  })

  it('are removed, with a mark, although the memory of Redis is full', async () => {
    const { dynamicClients } = redisStore({ client: redis, prefix: uniquePrefix() })
    await dynamicClients.add(addition)
    await redis.config('SET', 'maxmemory', '1')
    try {
      await dynamicClients.remove('notes')
    } finally {
      await redis.config('SET', 'maxmemory', '0')
    }
    expect(await dynamicClients.find('notes')).toBeUndefined()
    expect(await dynamicClients.add(addition)).toEqual({ outcome: 'removed', generation: 1 })
  })

  it('are not added with a deadline that a mark may not outlive', async () => {
    // The clock of Redis was set back by two minutes since the process read it.
    const call = (command: string, ...words: string[]) => {
      const deadline = Number(words.at(-1))
      const isLate = words.length > 8 && deadline > 0
      return redis.call(command, ...(isLate ? [...words.slice(0, -1), String(deadline + 120_000)] : words))
    }
    const { dynamicClients } = redisStore({ client: { call }, prefix: uniquePrefix() })
    await expect(dynamicClients.add(addition)).rejects.toThrow('reached Redis too late')
    expect(await dynamicClients.find('notes')).toBeUndefined()
  })

  it('are found, disabled and removed as version 0.1.0 stored them', async () => {
    const prefix = uniquePrefix()
    const { dynamicClients } = redisStore({ client: redis, prefix })
    const store = async () => {
      const value = 'r'.repeat(22) + JSON.stringify(notes)
      await redis.set(`${prefix}{dynamic-clients}:notes`, value, 'PX', 3_600_000)
      await redis.zadd(`${prefix}{dynamic-clients}`, Date.now() + 3_600_000, 'notes')
    }
    const daysLeft = async (key: string) => Math.round((await redis.pttl(prefix + key)) / 86_400_000)
    await store()
    expect(await dynamicClients.find('notes')).toEqual(notes)
    await dynamicClients.update('notes', (found) => ({
      ...found,
      registration: { ...found.registration, disabled: true },
    }))
    expect(await daysLeft('{dynamic-clients}:notes')).toBe(90)
    await dynamicClients.remove('notes')
    expect(await daysLeft('{dynamic-clients}-removed:notes')).toBe(90)
    expect(await dynamicClients.add(addition)).toEqual({ outcome: 'removed', generation: 1 })
  })

  it('stay the same object while the stored text does, and are read anew after a change', async () => {
    const [one, other] = [0, 1].map(() => redisStore({ client: redis, prefix: 'same:' }).dynamicClients)
    await one?.add(addition)
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
      expect(await dynamicClients.add({ ...addition, maximum: 1 })).toMatchObject({ outcome: 'stored' })
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

describe('An addition that arrives once more, after its client was removed, brings nothing back', () => {
  let redis: Redis
  let server: RedisServer
  withRedis((started) => {
    redis = started.client
    server = started.server
  })
  const confidential = { ...notes, registrationTokenDigest: 'a' }

  let network: FaultyNetwork
  let store: RedisStore
  const prefix = uniquePrefix()
  beforeEach(async () => {
    network = await startFaultyNetwork(server.port)
    store = redisStore({ url: network.url, prefix })
    await redis.flushall()
    network.copyWrites(true)
    await store.dynamicClients.add({ ...addition, client: confidential })
    network.copyWrites(false)
  })
  afterEach(async () => {
    await store.close()
    await network.stop()
  })

  it('at once, because of the mark', async () => {
    expect(await store.dynamicClients.find('notes')).toBeDefined()
    await store.dynamicClients.remove('notes')
    expect(await network.deliverCopies()).toBeGreaterThan(0)
    expect(await store.dynamicClients.find('notes')).toBeUndefined()
  })

  it('late, because of its deadline', async () => {
    await setTimeout(connectionSettings.commandTimeout + 100)
    await store.dynamicClients.remove('notes')
    // The mark has ended.
    expect(await redis.del(`${prefix}{dynamic-clients}-removed:notes`)).toBe(1)
    expect(await network.deliverCopies()).toBeGreaterThan(0)
    expect(await store.dynamicClients.find('notes')).toBeUndefined()
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
