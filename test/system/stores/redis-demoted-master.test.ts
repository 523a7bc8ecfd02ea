import { setTimeout } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Response } from 'supertest'
import { redisStore, type RedisStore } from '../../../lib/index'
import { connectionSettings } from '../../../lib/stores/redis/connection'
import { startFaultyNetwork, type FaultyNetwork } from '../../support/faulty-network'
import { application } from '../../support/flows/application'
import { nightlyReport, photoPrint } from '../../support/flows/clients'
import type { Flow } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { infoSays } from '../../support/redis-sentinel'
import { startReplicaOf, startReplicatedRedis, type ReplicatedRedis } from '../../support/redis-replicated'
import { uniquePrefix } from '../../support/stores/redis-under-test'
import { waitUntil } from '../../support/wait-until'

const prefix = uniquePrefix()

describe('A guard that only reads, and whose master became a replica without a master,', () => {
  let redis: ReplicatedRedis
  let network: FaultyNetwork
  let issuing: Flow
  let accessToken: string
  const opened: (() => unknown)[] = []
  const open = (store: RedisStore): Flow => {
    opened.push(() => store.close())
    return application({ store, storeDeadline: 10 }).flow
  }

  beforeEach(async () => {
    redis = await startReplicatedRedis()
    network = await startFaultyNetwork(redis.master.port)
    issuing = open(redisStore({ url: redis.master.url, prefix }))
    const itself = { grant_type: 'client_credentials', scope: 'photos:read' }
    accessToken = String((await issuing.request(nightlyReport, itself)).body.access_token)
    const master = new Redis(redis.master.url)
    await master.wait(1, 10_000)
    master.disconnect()
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((close) => close()))
    await network.stop()
    await redis.stop()
  })

  /** The replica takes over, the old master hears nothing of it any more, and the token is revoked at the new one. */
  async function failOver(): Promise<void> {
    const [old, next] = [new Redis(redis.master.url), new Redis(redis.replica.url)]
    await next.replicaof('NO', 'ONE')
    await old.replicaof('127.0.0.1', '1')
    network.leadTo(redis.replica.port)
    await open(redisStore({ client: next, prefix })).revoke(nightlyReport, accessToken)
    old.disconnect()
    next.disconnect()
  }

  const statusAt = async (guarding: Flow): Promise<number> => (await guarding.photos(accessToken)).status

  const overHost = (): RedisStore => {
    const client = new Redis(network.url, connectionSettings)
    client.on('error', () => {})
    opened.push(() => client.disconnect())
    return redisStore({ client, prefix })
  }

  it.each([
    ['over a connection of the store', () => redisStore({ url: network.url, prefix })],
    ['over the client of a host that reconnects at READONLY', overHost],
  ])('refuses what was revoked since, and finds what is new: %s', async (_over, store) => {
    const guarding = open(store())
    expect(await statusAt(guarding)).toBe(200)
    await failOver()
    await waitUntil('the guard refuses the revoked token', async () => (await statusAt(guarding)) === 401)
  })

  it('lets the first request after a pause not pass, either', async () => {
    const guarding = open(redisStore({ url: network.url, prefix }))
    expect(await statusAt(guarding)).toBe(200)
    await failOver()
    // The word of the old master holds for a second.
    await setTimeout(1000)
    expect(await statusAt(guarding)).not.toBe(200)
    await waitUntil('the guard refuses the revoked token', async () => (await statusAt(guarding)) === 401)
  })
})

describe('A store that waits for replicas, demoted before its first write,', () => {
  const within = 5
  const itself = { grant_type: 'client_credentials', scope: 'photos:read' }
  let redis: ReplicatedRedis
  let network: FaultyNetwork
  const opened: (() => unknown)[] = []

  beforeEach(async () => {
    redis = await startReplicatedRedis()
    network = await startFaultyNetwork(redis.master.port)
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((close) => close()))
    await network.stop()
    await redis.stop()
  })

  const client = (url: string): Redis => {
    const made = new Redis(url, connectionSettings)
    made.on('error', () => {})
    opened.push(() => made.disconnect())
    return made
  }

  const waitForReplicas = { replicas: 1, within }
  const serving = (store: RedisStore): Flow => {
    opened.push(() => store.close())
    return application({ store, storeDeadline: 2 * within }).flow
  }
  const overUrl = () => redisStore({ url: network.url, prefix, waitForReplicas })
  const overHost = () => redisStore({ client: client(network.url), prefix, waitForReplicas })

  /** Opens a server all of whose connections lead to the master, and that has written nothing. */
  async function idle(store: () => RedisStore, connections: number): Promise<Flow> {
    const master = client(redis.master.url)
    const count = async () => String(await master.client('LIST')).split('\n').length
    const before = await count()
    const flow = serving(store())
    await waitUntil('the connections stand', async () => (await count()) === before + connections)
    return flow
  }

  /** The replica takes over, and the old master follows this port from now on. */
  async function failOver(follow: number): Promise<void> {
    await client(redis.replica.url).replicaof('NO', 'ONE')
    await client(redis.master.url).replicaof('127.0.0.1', follow)
    network.leadTo(redis.replica.port)
  }

  /** What a request is answered once the store has found the new master. */
  async function settled(send: () => Promise<Response>): Promise<string> {
    let outcome = ''
    await waitUntil('the request is answered', async () => {
      outcome = outcomeOf(await send())
      return !outcome.endsWith('temporarily_unavailable')
    })
    return outcome
  }

  it.each([
    ['over connections of the store', overUrl, 2],
    ['over the client of a host that reconnects at READONLY', overHost, 1],
  ])('creates at the new master: %s', async (_over, store, connections) => {
    const flow = await idle(store, connections)
    await failOver(redis.replica.port)
    await infoSays(redis.master.port, 'replication', 'master_link_status:up')
    expect(await settled(() => flow.request(nightlyReport, itself))).toBe('tokens')
  })

  it('changes what the old master does not know', async () => {
    const flow = await idle(overUrl, 2)
    // It follows no master.
    await failOver(1)
    // The delay, 5 s by default, lets further replicas share one transfer.
    await client(redis.replica.url).config('SET', 'repl-diskless-sync-delay', '0')
    const replica = await startReplicaOf(redis.replica.port)
    opened.push(() => replica.stop())
    const other = serving(redisStore({ url: network.url, prefix, waitForReplicas }))
    const { refreshToken } = await other.tokens(photoPrint)
    expect(await settled(() => flow.refresh(photoPrint, refreshToken))).toBe('tokens')
  })
})
