import { setTimeout } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { redisStore, type RedisStore } from '../../../lib/paths/redis'
import { type FaultyNetwork, startFaultyNetwork } from '../../support/faulty-network'
import { type RedisServer, type RedisServerOptions, startRedis } from '../../support/redis-server'
import { cachedRecord, isCached, lastRecall, recalls, savedRecord } from '../../support/stores/cached-records'
import { startHoldingProxy } from '../../support/stores/holding-proxy'
import { authorizationsOf, findById, removeById } from '../../support/stores/records'
import { connectionsOf } from '../../support/stores/redis-statistics'
import { uniquePrefix } from '../../support/stores/redis-under-test'
import { waitUntil } from '../../support/wait-until'

/** Milliseconds: what is promised, and what a timer of the test may be late by. */
const trustedFor = 1000
const lateness = 100

describe('redisStore with a cache', () => {
  const opened: (() => unknown)[] = []
  const servers: RedisServer[] = []
  afterEach(async () => {
    for (const close of opened.splice(0).toReversed()) await close()
    await Promise.all(servers.splice(0).map((started) => started.stop()))
  })
  const keep = <T>(value: T, close: (value: T) => unknown): T => {
    opened.push(() => close(value))
    return value
  }
  const start = async (options: RedisServerOptions = {}): Promise<RedisServer> => {
    // The delay, 5 s by default, lets further replicas share one transfer.
    const extraArguments = ['--repl-diskless-sync-delay', '0']
    const started = await startRedis({ ...options, own: true, extraArguments })
    servers.push(started)
    return started
  }
  const connect = (url: string) => keep(new Redis(url), (client) => client.disconnect())

  let server: RedisServer
  let network: FaultyNetwork
  let redis: Redis
  let store: RedisStore
  let other: RedisStore
  let prefix: string
  beforeEach(async () => {
    server = await start()
    network = keep(await startFaultyNetwork(server.port), (started) => started.stop())
    redis = connect(server.url)
    prefix = uniquePrefix()
    store = keep(redisStore({ url: network.url, prefix, cache: { maximum: 100 } }), (made) => made.close())
    other = redisStore({ client: redis, prefix })
  })

  /** Expects that the cache forgets a record before the trust in it ends by itself, however late a busy machine looks. */
  const expectForgottenAtOnce = async (cached: RedisStore, id: string) => {
    const since = performance.now()
    expect((await lastRecall(cached, id)) - since).toBeLessThan(trustedFor * 0.9)
  }

  const keyOf = (id: string) => `${prefix}authorization:${id}`

  it.each([
    ['on which Redis tells of changes', 'pubsub'],
    ['over which it reads', 'normal'],
  ])('forgets everything when the connection is lost %s [revocation-14]', async (_which, type) => {
    const id = await cachedRecord(store)
    // One act: no process is left to learn of the removal.
    const deaf = redis.multi().call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes').del(keyOf(id))
    await deaf.exec()
    await expectForgottenAtOnce(store, id)
    await cachedRecord(store, other)
    expect(recalls(store, id)).toBe(false)
  })

  it('keeps its connections and its cache after many losses', async () => {
    await cachedRecord(store)
    const before = await connectionsOf(redis)
    const warned = jest.spyOn(process, 'emitWarning')
    for (let loss = 0; loss < 12; loss++) {
      const id = await cachedRecord(store, other)
      await redis.call('CLIENT', 'KILL', 'TYPE', loss % 2 ? 'pubsub' : 'normal', 'SKIPME', 'yes')
      await removeById(other, id)
      await waitUntil('it is forgotten', async () => !recalls(store, id))
    }
    await cachedRecord(store, other)
    await waitUntil('no connection is left over', async () => (await connectionsOf(redis)) === before)
    expect(warned).not.toHaveBeenCalled()
    warned.mockRestore()
  })

  it('is not used when the network has been silent for a second, and misses no change of that time', async () => {
    const [id, untouched] = [await cachedRecord(store), await cachedRecord(store)]
    network.silence()
    const silentSince = performance.now()
    await removeById(other, id)
    expect((await lastRecall(store, id, untouched)) - silentSince).toBeLessThan(trustedFor)
    await isCached(store, untouched)
    expect([recalls(store, id), await findById(store, id)]).toEqual([false, undefined])
  })

  it('is not used when only the news stop, either [revocation-15]', async () => {
    const proxy = keep(await startHoldingProxy(server.port), (started) => started.stop())
    const own = redisStore({ url: proxy.url, prefix, cache: { maximum: 100 } })
    keep(own, (made) => made.close())
    const id = await cachedRecord(own)
    proxy.hold('news')
    const silentSince = performance.now()
    await removeById(other, id)
    expect((await lastRecall(own, id)) - silentSince).toBeLessThan(trustedFor)
    expect(await findById(own, id)).toBeUndefined()
    proxy.release('news')
  })

  it('is not used later than a second after the last proof was sent, however late the news of it come', async () => {
    const proxy = keep(await startHoldingProxy(server.port), (started) => started.stop())
    const own = redisStore({ url: proxy.url, prefix, cache: { maximum: 100 } })
    keep(own, (made) => made.close())
    const id = await cachedRecord(own)
    proxy.hold('news')
    await waitUntil('the news of a proof are held', async () => proxy.held('news') > 0)
    const sentBefore = performance.now()
    await setTimeout(trustedFor * 0.6)
    proxy.release('news')
    proxy.hold('news')
    await removeById(other, id)
    // A machine that stands still sees less of the time in which it would be wrong, and never sees wrong what is right.
    for (let at = performance.now(); recalls(own, id); at = performance.now()) {
      expect(at).toBeLessThan(sentBefore + trustedFor)
      await setTimeout(5)
    }
    proxy.release('news')
  })

  it('is not used when Redis has stood still for a second, and is right when it goes on', async () => {
    const [id, untouched] = [await cachedRecord(store), await cachedRecord(store)]
    await server.kill('SIGSTOP')
    const stillSince = performance.now()
    const removing = removeById(other, id)
    expect((await lastRecall(store, untouched)) - stillSince).toBeLessThan(trustedFor)
    await server.kill('SIGCONT')
    await removing
    const removedAt = performance.now()
    await isCached(store, untouched)
    // The mark that renews the trust may come shortly before the report of the removal.
    expect((await lastRecall(store, id)) - removedAt).toBeLessThan(trustedFor)
    expect([recalls(store, id), await findById(store, id)]).toEqual([false, undefined])
  })

  it('is right when this process stood still for longer than a second', async () => {
    const id = await cachedRecord(store)
    await removeById(other, id).catch(() => {})
    const asleep = new Int32Array(new SharedArrayBuffer(4))
    const known = await cachedRecord(store)
    void redis.del(keyOf(known))
    // So that the command leaves before.
    await setTimeout(0)
    Atomics.wait(asleep, 0, 0, trustedFor + lateness)
    // Nothing that Redis sent meanwhile is read yet.
    expect(recalls(store, known)).toBe(false)
  })

  it('begins when Redis comes, and again when it comes back empty at its old place', async () => {
    const id = await cachedRecord(store)
    await server.stop()
    await expectForgottenAtOnce(store, id)
    await expect(findById(store, id)).rejects.toBeInstanceOf(Error)
    server = await start({ port: server.port })
    await cachedRecord(store, other)
    expect([recalls(store, id), await findById(store, id)]).toEqual([false, undefined])
  })

  it('follows the connection that reads to another server', async () => {
    const next = await start()
    const there = redisStore({ client: connect(next.url), prefix })
    const id = await cachedRecord(store)
    const found = await findById(other, id)
    if (found !== undefined) await authorizationsOf(there).save(found.authorization, found.revision)
    network.leadTo(next.port)
    await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await expectForgottenAtOnce(store, id)
    await isCached(store, id)
    await removeById(there, id)
    await expectForgottenAtOnce(store, id)
    expect(await findById(store, id)).toBeUndefined()
  })

  it('is off while the news would come from a replica', async () => {
    const replica = await start()
    await connect(replica.url).call('REPLICAOF', '127.0.0.1', String(server.port))
    const there = redisStore({ client: connect(replica.url), prefix })
    const id = await cachedRecord(store)
    await waitUntil('it is replicated', async () => (await findById(there, id)) !== undefined)
    network.leadTo(replica.port)
    await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await expectForgottenAtOnce(store, id)
    for (let reads = 0; reads < 5; reads++) {
      await setTimeout(100)
      expect([await findById(store, id), recalls(store, id)]).toEqual([expect.anything(), false])
    }
    network.leadTo(server.port)
    await isCached(store, id)
  })

  it('is off at a replica, from the start and when a master becomes one', async () => {
    const master = await start()
    const id = await cachedRecord(store)
    await redis.call('REPLICAOF', '127.0.0.1', String(master.port))
    await waitUntil('it is off', async () => !recalls(store, id))
    const there = redisStore({ client: connect(master.url), prefix })
    const replicated = await savedRecord(there)
    await waitUntil('it is replicated', async () => (await findById(other, replicated)) !== undefined)
    await setTimeout(500)
    await findById(store, replicated).catch(() => {})
    expect(recalls(store, replicated)).toBe(false)
    const newcomer = keep(redisStore({ url: server.url, prefix, cache: { maximum: 1 } }), (made) =>
      made.close(),
    )
    expect((await newcomer.check()).map(({ code }) => code)).toEqual([
      'EAS_REDIS_REPLICA',
      'EAS_REDIS_TRACKING',
    ])
    await findById(newcomer, replicated)
    expect(recalls(newcomer, replicated)).toBe(false)
  })
})
