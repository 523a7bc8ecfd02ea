import { setTimeout } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Response } from 'supertest'
import { redisStore, type RedisStore, type RedisStoreOptions } from '../../../lib/paths/redis'
import { connectionSettings } from '../../../lib/stores/redis/connection'
import { startFaultyNetwork, type FaultyNetwork } from '../../support/faulty-network'
import { application } from '../../support/flows/application'
import { nightlyReport, photoPrint } from '../../support/flows/clients'
import type { Flow } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import {
  infoSays,
  startReplicaOf,
  startReplicatedRedis,
  type ReplicatedRedis,
} from '../../support/redis-replicated'
import { uniquePrefix } from '../../support/stores/redis-under-test'
import { waitUntil } from '../../support/wait-until'

const prefix = uniquePrefix()
const itself = { grant_type: 'client_credentials', scope: 'photos:read' }

let redis: ReplicatedRedis
let network: FaultyNetwork
let master: Redis
let replica: Redis
const opened: (() => unknown)[] = []
beforeEach(async () => {
  redis = await startReplicatedRedis()
  network = await startFaultyNetwork(redis.master.port)
  master = client(redis.master.url)
  replica = client(redis.replica.url)
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((close) => close()))
  await network.stop()
  await redis.stop()
})

function client(url: string): Redis {
  const made = new Redis(url, connectionSettings)
  made.on('error', () => {})
  opened.push(() => made.disconnect())
  return made
}

function serving(store: RedisStore): Flow {
  opened.push(() => store.close())
  return application({ store, storeDeadline: 10 }).flow
}

type Waiting = Pick<RedisStoreOptions, 'waitForReplicas'>
const overUrl = (waiting: Waiting = {}) => redisStore({ url: network.url, prefix, ...waiting })
const overHost = (waiting: Waiting = {}) => redisStore({ client: client(network.url), prefix, ...waiting })

/** The replica takes over, and the old master follows this port from now on: by default one where none is. */
async function failOver(follow = 1): Promise<void> {
  await replica.replicaof('NO', 'ONE')
  await master.replicaof('127.0.0.1', follow)
  network.leadTo(redis.replica.port)
}

describe('A guard that only reads, and whose master became a replica without a master,', () => {
  /** A guard that has taken a token, which is then revoked at the new master. @returns what it says of it now. */
  async function guarding(store: RedisStore): Promise<() => Promise<number>> {
    const issuing = serving(redisStore({ url: redis.master.url, prefix }))
    const { body } = await issuing.request(nightlyReport, itself)
    const token = String(body.access_token)
    await master.incr('mark')
    await master.wait(1, 10_000)
    const flow = serving(store)
    const status = async () => (await flow.photos(token)).status
    expect(await status()).toBe(200)
    await failOver()
    await serving(redisStore({ client: replica, prefix })).revoke(nightlyReport, token)
    return status
  }

  it.each([
    ['over a connection of the store', overUrl, 0],
    ['over the client of a host that reconnects at READONLY', overHost, 0],
    ['after a pause, at the first request', overUrl, 1000],
  ])('refuses what was revoked since: %s', async (_over, store, pause) => {
    const status = await guarding(store())
    await setTimeout(pause)
    // The word of the old master holds for a second, and no longer.
    expect(pause > 0 && (await status()) === 200).toBe(false)
    await waitUntil('the guard refuses the revoked token', async () => (await status()) === 401)
  })
})

describe('A store that waits for replicas, demoted before its first write,', () => {
  const waiting = { waitForReplicas: { replicas: 1, within: 5 } }

  /** Opens a server all of whose connections lead to the master, and that has written nothing. */
  async function idle(store: (options: Waiting) => RedisStore, connections: number): Promise<Flow> {
    const count = async () => String(await master.client('LIST')).split('\n').length
    const before = await count()
    const flow = serving(store(waiting))
    await waitUntil('the connections stand', async () => (await count()) === before + connections)
    return flow
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
    await failOver()
    // The delay, 5 s by default, lets further replicas share one transfer.
    await replica.config('SET', 'repl-diskless-sync-delay', '0')
    const further = await startReplicaOf(redis.replica.port)
    opened.push(() => further.stop())
    const { refreshToken } = await serving(overUrl(waiting)).tokens(photoPrint)
    expect(await settled(() => flow.refresh(photoPrint, refreshToken))).toBe('tokens')
  })
})
