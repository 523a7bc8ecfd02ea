import { Cluster, Redis } from 'ioredis'
import { redisStore } from '../../../lib/stores/redis/redis-store'
import { startRedisCluster, type RedisCluster } from '../../support/redis-cluster'
import { redisUnderTest, uniquePrefix } from '../../support/stores/redis-under-test'
import { authorizationStoreContract } from '../../../lib/testing/index'
import { findRecord, saveRecord, threeVersions } from '../../../lib/testing/example-records'

const waitForReplicas = { replicas: 1, within: 1 }

describe('redisStore that waits for a replica, on a cluster of three masters with one each', () => {
  let cluster: RedisCluster
  let client: Cluster
  let replicas: readonly Redis[]
  beforeAll(async () => {
    cluster = await startRedisCluster({ replicas: 1 })
    client = new Cluster(cluster.nodes)
    replicas = cluster.replicas.map(({ url }) => new Redis(url))
  })
  afterAll(async () => {
    client.disconnect()
    for (const replica of replicas) replica.disconnect()
    await cluster.stop()
  })
  afterEach(() => cluster.replicas[0]?.kill('SIGCONT'))

  authorizationStoreContract('keeps the contract', async () =>
    redisUnderTest({ client, waitForReplicas }, () => client.nodes('master')),
  )

  const written = (prefix: string) => Promise.all(replicas.map((replica) => replica.keys(`${prefix}*`)))

  it('has on the replicas what it calls saved, whichever master keeps it', async () => {
    const prefix = uniquePrefix()
    const store = redisStore({ client, prefix, waitForReplicas })
    await Promise.all(Array.from({ length: 60 }, () => saveRecord(store, threeVersions()[0])))
    const keys = await written(prefix)
    expect(keys.flat()).toHaveLength(60)
    expect(keys.filter((some) => some.length > 0)).toHaveLength(3)
  })

  it('waits at the master that keeps the key: with one replica silent, the keys of the others are saved', async () => {
    const prefix = uniquePrefix()
    const store = redisStore({ client, prefix, waitForReplicas })
    await cluster.replicas[0]?.kill('SIGSTOP')
    // One after another, because those of one master wait in line for each other.
    const outcomes: [string, boolean][] = []
    const isOfOneKind = () => new Set(outcomes.map(([, isAtFirst]) => isAtFirst)).size < 2
    for (let n = 0; n < 12 || isOfOneKind(); n++) {
      const [first] = threeVersions()
      const slot = await client.cluster('KEYSLOT', `${prefix}authorization:${first.authorization.id}`)
      const saved = await saveRecord(store, first).catch((error: unknown) => String(error))
      outcomes.push([String(saved), slot <= 5460])
    }
    const silent = 'Error: The write reached 0 of 1 replicas within 1 s.'
    expect(outcomes).toEqual(outcomes.map(([, isAtFirst]) => [isAtFirst ? silent : 'true', isAtFirst]))
  })

  it('follows a slot to its new master, and waits there', async () => {
    const prefix = uniquePrefix()
    const store = redisStore({ client, prefix, waitForReplicas })
    const [first, second, third] = threeVersions()
    const key = `${prefix}authorization:${first.authorization.id}`
    await saveRecord(store, first)
    const slot = await client.cluster('KEYSLOT', key)
    const masters = cluster.servers.map(({ url }) => new Redis(url))
    try {
      const from = slot <= 5460 ? 0 : slot <= 10_922 ? 1 : 2
      const to = (from + 1) % 3
      const ids = await Promise.all(masters.map((master) => master.call('CLUSTER', 'MYID').then(String)))
      await masters[to]?.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', ids[from] ?? '')
      await masters[from]?.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', ids[to] ?? '')
      await masters[from]?.call('MIGRATE', '127.0.0.1', cluster.servers[to]?.port ?? 0, key, 0, 5000)
      for (const n of [to, from]) await masters[n]?.call('CLUSTER', 'SETSLOT', slot, 'NODE', ids[to] ?? '')
      expect(await saveRecord(store, second, first)).toBe(true)
      expect((await written(prefix)).map((keys) => keys.length)).toEqual(
        [0, 1, 2].map((n) => (n === to ? 1 : 0)),
      )
      expect(await saveRecord(store, third, second)).toBe(true)
      expect(await findRecord(store, first)).toEqual(third)
    } finally {
      for (const master of masters) master.disconnect()
    }
  })
})
