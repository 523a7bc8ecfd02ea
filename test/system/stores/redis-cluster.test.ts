import { Cluster, Redis } from 'ioredis'
import { redisStore, type RedisStore } from '../../../lib/paths/redis'
import { storeContract } from '../../../lib/paths/testing'
import { type RedisSentinel, startRedisSentinel } from '../../support/redis-sentinel'
import { startRedisCluster, type RedisCluster } from '../../support/redis-cluster'
import { endOf, findRecord, saveRecord, threeVersions } from '../../support/stores/records'
import { redisUnderTest, uniquePrefix } from '../../support/stores/redis-under-test'
import { waitUntil } from '../../support/wait-until'

const waitForReplicas = { replicas: 1, within: 1 }
const codesOf = async (store: RedisStore) => (await store.check()).map(({ code }) => code)

describe('redisStore on a cluster of three masters with one replica each', () => {
  let cluster: RedisCluster
  let client: Cluster
  let masters: readonly Redis[]
  let replicas: readonly Redis[]
  beforeAll(async () => {
    cluster = await startRedisCluster({ replicas: 1 })
    client = new Cluster(cluster.nodes)
    masters = cluster.servers.map(({ url }) => new Redis(url))
    replicas = cluster.replicas.map(({ url }) => new Redis(url))
  })
  afterAll(async () => {
    for (const connection of [client, ...masters, ...replicas]) connection.disconnect()
    await cluster.stop()
  })
  afterEach(() => cluster.replicas[0]?.kill('SIGCONT'))

  storeContract('keeps the contract', () => redisUnderTest({ client }, () => masters))
  storeContract('keeps the contract while it waits for a replica', () =>
    redisUnderTest({ client, waitForReplicas }, () => masters),
  )

  const keysOf = (nodes: readonly Redis[], prefix: string) =>
    Promise.all(nodes.map((node) => node.keys(`${prefix}*`)))

  it('spreads its records over all masters, and a replica of each has what it calls saved', async () => {
    const prefix = uniquePrefix()
    const store = redisStore({ client, prefix, waitForReplicas })
    await Promise.all(Array.from({ length: 60 }, () => saveRecord(store, threeVersions()[0])))
    for (const keys of [await keysOf(masters, prefix), await keysOf(replicas, prefix)]) {
      expect(keys.flat()).toHaveLength(60)
      expect(keys.filter((some) => some.length > 0)).toHaveLength(3)
    }
  })

  it('waits at the master that keeps the key: with one replica silent, the keys of the others are saved', async () => {
    const prefix = uniquePrefix()
    const store = redisStore({ client, prefix, waitForReplicas })
    await cluster.replicas[0]?.kill('SIGSTOP')
    // One of each kind, one after another, because those of one master wait in line for each other.
    const outcomes = new Map<boolean, unknown>()
    while (outcomes.size < 2) {
      const [first] = threeVersions()
      const isAtFirst =
        (await client.cluster('KEYSLOT', `${prefix}authorization:${first.authorization.id}`)) <= 5460
      if (!outcomes.has(isAtFirst)) outcomes.set(isAtFirst, await endOf(saveRecord(store, first)))
    }
    expect([outcomes.get(true), outcomes.get(false)]).toEqual([
      'Error: The write reached 0 of 1 replicas within 1 s.',
      true,
    ])
  })

  it('follows a slot to its new master, and waits there', async () => {
    const prefix = uniquePrefix()
    const store = redisStore({ client, prefix, waitForReplicas })
    const [first, second, third] = threeVersions()
    const key = `${prefix}authorization:${first.authorization.id}`
    await saveRecord(store, first)
    const slot = await client.cluster('KEYSLOT', key)
    const from = slot <= 5460 ? 0 : slot <= 10_922 ? 1 : 2
    const to = (from + 1) % 3
    const ids = await Promise.all(masters.map((master) => master.call('CLUSTER', 'MYID').then(String)))
    await masters[to]?.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', ids[from] ?? '')
    await masters[from]?.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', ids[to] ?? '')
    await masters[from]?.call('MIGRATE', '127.0.0.1', cluster.servers[to]?.port ?? 0, key, 0, 5000)
    for (const n of [to, from]) await masters[n]?.call('CLUSTER', 'SETSLOT', slot, 'NODE', ids[to] ?? '')
    expect(await saveRecord(store, second, first)).toBe(true)
    expect((await keysOf(replicas, prefix)).map((keys) => keys.length)).toEqual(
      [0, 1, 2].map((n) => (n === to ? 1 : 0)),
    )
    expect(await saveRecord(store, third, second)).toBe(true)
    expect(await findRecord(store, first)).toEqual(third)
  })

  it('warns of a client that asks one node alone, and of one that sends again to another node', async () => {
    const options = [{}, { retryDelayOnFailover: 0 }].map((settings) => new Cluster(cluster.nodes, settings))
    const alone = redisStore({ url: cluster.servers[1]?.url ?? '', prefix: uniquePrefix() })
    const found = await Promise.all(
      [alone, ...options.map((known) => redisStore({ client: known }))].map(codesOf),
    )
    await alone.close()
    for (const known of options) known.disconnect()
    expect(found).toEqual([['EAS_REDIS_CLUSTER'], ['EAS_REDIS_RESEND'], []])
  })
})

describe('redisStore behind Sentinel', () => {
  let sentinel: RedisSentinel
  let client: Redis
  beforeAll(async () => {
    sentinel = await startRedisSentinel()
    const settings = { maxRetriesPerRequest: 0 }
    client = new Redis({ sentinels: [sentinel.sentinel], name: sentinel.masterName, ...settings })
    client.on('error', () => {})
  })
  afterAll(async () => {
    client.disconnect()
    await sentinel.stop()
  })

  it('has nothing to warn of, and finds after a failover what was saved and replicated before', async () => {
    const store = redisStore({ client, prefix: uniquePrefix() })
    expect(await codesOf(store)).toEqual([])
    const [first, second] = threeVersions()
    await saveRecord(store, first)
    expect(await client.wait(1, 5000)).toBe(1)
    await sentinel.master.kill('SIGKILL')
    await waitUntil(
      'the replica has taken over',
      async () => (await endOf(saveRecord(store, second, first))) === true,
    )
    expect(await findRecord(store, first)).toEqual(second)
  })
})
