import { setTimeout } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { redisStore, type RedisStore } from '../../lib/index'
import { connectionSettings } from '../../lib/stores/redis/connection'
import { describeOwnRedis } from '../support/describe-own-redis'
import { startFaultyNetwork, type FaultyNetwork } from '../support/faulty-network'
import { application } from '../support/flows/application'
import { nightlyReport } from '../support/flows/clients'
import type { Flow } from '../support/flows/flow'
import { startReplicatedRedis, type ReplicatedRedis } from '../support/redis-replicated'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { waitUntil } from '../support/wait-until'

const prefix = uniquePrefix()

describeOwnRedis('A guard that only reads, and whose master became a replica that follows nobody,', () => {
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
