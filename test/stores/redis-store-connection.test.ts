import { Redis } from 'ioredis'
import { commit } from '../../lib/authorization/commit'
import { secureRandom } from '../../lib/protocol/credential'
import { OAuthError } from '../../lib/protocol/oauth-error'
import type { AuthorizationStore, StoredAuthorization } from '../../lib/authorization/store'
import { withDeadline } from '../../lib/stores/deadline'
import { redisStore, type RedisStore } from '../../lib/stores/redis/redis-store'
import {
  approvedRecord,
  findRecord,
  inSeconds,
  saveRecord,
  threeVersions,
  version,
} from '../../lib/testing/example-records'
import { oneMoreFailure } from '../../lib/testing/race-rules'
import { type FaultyNetwork, startFaultyNetwork } from '../support/faulty-network'
import { type RedisServer, startRedis } from '../support/redis-server'
import { type ReplyLosingProxy, startReplyLosingProxy } from '../support/stores/reply-losing-proxy'
import { waitUntil, within } from '../support/wait-until'
import { withRedis } from '../support/with-redis'

/** With what a call rejects. A client with other settings waits for 73 s, or for ever. */
const failure = (call: Promise<unknown>): Promise<unknown> =>
  within(
    'the call has rejected',
    call.then(
      () => new Error('It resolved.'),
      (reason: unknown) => reason,
    ),
    undefined,
    60,
  )

describe('redisStore and its connection', () => {
  let server: RedisServer
  let redis: Redis
  let store: RedisStore
  withRedis(
    (started) => {
      server = started.server
      redis = started.client
    },
    { own: true },
  )
  const others: RedisServer[] = []
  let network: FaultyNetwork | undefined
  afterEach(async () => {
    await store.close()
    await network?.stop()
    network = undefined
    await Promise.all(others.splice(0).map((other) => other.stop()))
  })
  async function another(options: { port?: number } = {}): Promise<RedisServer> {
    const other = await startRedis({ ...options, own: true })
    others.push(other)
    return other
  }

  const connections = async () =>
    String(await redis.client('LIST'))
      .trim()
      .split('\n').length

  it('close() leaves a client of the host alone', async () => {
    const [first, second] = threeVersions()
    store = redisStore({ client: redis })
    await saveRecord(store, first)
    await store.close()
    expect(await redis.ping()).toBe('PONG')
    expect(await saveRecord(store, second, first)).toBe(true)
  })

  it('close() ends a connection of its own, once and for all', async () => {
    const before = await connections()
    const [first, second] = threeVersions()
    store = redisStore({ url: server.url })
    await saveRecord(store, first)
    expect(await connections()).toBe(before + 1)
    await store.close()
    await waitUntil('the connection is gone', async () => (await connections()) === before)
    await expect(saveRecord(store, second, first)).rejects.toThrow('Connection is closed.')
    await expect(store.close()).resolves.toBeUndefined()
    expect(await connections()).toBe(before)
  })

  describe('when a reply is lost with its connection, and the command is sent again', () => {
    let proxy: ReplyLosingProxy
    beforeEach(async () => {
      proxy = await startReplyLosingProxy(server.port)
      store = redisStore({ url: proxy.url })
      // Opens the connection and leaves the script with Redis, so that the next reply is the one that counts.
      await saveRecord(store, threeVersions()[0])
    })
    afterEach(async () => {
      await store.close()
      await proxy.stop()
    })

    it('confirms to the creator of a record that it succeeded', async () => {
      const [first] = threeVersions()
      proxy.loseNextReply()
      expect(await saveRecord(store, first)).toBe(true)
      expect(proxy.lostReplies()).toBe(1)
      expect(await findRecord(store, first)).toEqual(first)
    })

    it('confirms to the writer of a transition that it succeeded', async () => {
      const [first, second] = threeVersions()
      await saveRecord(store, first)
      proxy.loseNextReply()
      expect(await saveRecord(store, second, first)).toBe(true)
      expect(proxy.lostReplies()).toBe(1)
      expect(await findRecord(store, first)).toEqual(second)
    })

    it('commits a change once, not twice', async () => {
      const counter = approvedRecord(inSeconds(600))
      await saveRecord(store, version(counter))
      const losing: AuthorizationStore = {
        find: async (id) => {
          const found = await store.find(id)
          proxy.loseNextReply()
          return found
        },
        save: (...words) => store.save(...words),
        remove: (id) => store.remove(id),
      }
      const count = await commit(losing, counter.id, oneMoreFailure, secureRandom)
      expect(proxy.lostReplies()).toBe(1)
      expect(count).toBe(counter.code.failures + 1)
      const found = await store.find(counter.id)
      expect(found?.authorization).toMatchObject({ code: { failures: count } })
    })
  })

  describe('when Redis is not there', () => {
    let url: string
    beforeEach(async () => {
      const gone = await startRedis({ own: true })
      await gone.stop()
      url = gone.url
    })

    it('rejects soon, at the first call and at later ones', async () => {
      store = redisStore({ url })
      for (let call = 0; call < 3; call++) {
        expect(String(await failure(findRecord(store, threeVersions()[0])))).toContain('max retries')
      }
    })

    it('is temporarily_unavailable within the deadline', async () => {
      const [first, second] = threeVersions()
      store = redisStore({ url })
      const impatient = withDeadline(store, 0.3)
      const calls = [findRecord(impatient, first), saveRecord(impatient, second), impatient.remove('an id')]
      for (const error of await Promise.all(calls.map(failure))) {
        expect(error).toBeInstanceOf(OAuthError)
        expect(error).toMatchObject({ code: 'temporarily_unavailable', reason: 'store_unavailable' })
      }
    })
  })

  it('rejects soon while Redis does not answer, and goes on when it does', async () => {
    const [first] = threeVersions()
    const slow = await another()
    store = redisStore({ url: slow.url })
    await saveRecord(store, first)
    await slow.kill('SIGSTOP')
    expect(await failure(findRecord(store, first))).toHaveProperty('message', 'Command timed out')
    const impatient = withDeadline(store, 0.3)
    expect(await failure(findRecord(impatient, first))).toMatchObject({ code: 'temporarily_unavailable' })
    await slow.kill('SIGCONT')
    expect(await findRecord(store, first)).toEqual(first)
  })

  const saves = (first: StoredAuthorization) =>
    saveRecord(store, first).then(
      (saved) => saved,
      () => false,
    )

  it('leaves a connection on which nothing comes any more, without waiting for the system to notice', async () => {
    const [first] = threeVersions()
    network = await startFaultyNetwork(server.port)
    store = redisStore({ url: network.url })
    await saveRecord(store, first)
    network.silence()
    expect(await failure(findRecord(store, first))).toBeInstanceOf(Error)
    await waitUntil('it finds again', () =>
      findRecord(store, first).then(
        () => true,
        () => false,
      ),
    )
    expect(await findRecord(store, first)).toEqual(first)
  })

  it('leaves a master that has become a replica, and finds the new one behind the same name', async () => {
    const [old, next] = await Promise.all([another(), another()])
    network = await startFaultyNetwork(old.port)
    store = redisStore({ url: network.url })
    await saveRecord(store, threeVersions()[0])
    network.leadTo(next.port)
    const client = new Redis(old.url)
    await client.call('REPLICAOF', '127.0.0.1', String(next.port))
    client.disconnect()
    const [first] = threeVersions()
    await waitUntil('it saves again', () => saves(first))
    expect(await findRecord(store, first)).toEqual(first)
  })

  it('goes on when Redis comes back, at its old place', async () => {
    const before = await another()
    store = redisStore({ url: before.url })
    await saveRecord(store, threeVersions()[0])
    await before.stop()
    const [first] = threeVersions()
    expect(await failure(saveRecord(store, first))).toBeInstanceOf(Error)
    await another({ port: before.port })
    await waitUntil('it saves again', () => saves(first))
    expect(await findRecord(store, first)).toEqual(first)
  })
})
